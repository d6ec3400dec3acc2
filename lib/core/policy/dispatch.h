/* Where a new task goes: the interpreter of dispatch rules; equal, draw for draw, to numasim/strategy/probe.py. */
#ifndef NUMASIM_POLICY_DISPATCH_H
#define NUMASIM_POLICY_DISPATCH_H

#include "policy/round.h"
#include "policy/similarity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The queue for a new task, or NS_UNKNOWN where every rule finds no room. */
int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task);

/* The rule by which a position deals round robin over all queues, or NS_UNKNOWN where it does not. */
int32_t ns_dealing_rule(const ns_plan *plan, int32_t position);

#ifdef __cplusplus
}
#endif

#endif
