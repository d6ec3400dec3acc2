#ifndef NUMASIM_POLICY_DISPATCH_H
#define NUMASIM_POLICY_DISPATCH_H

#include "generated/plan_structs.h"
#include "policy/round.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To which nodes a new task is similar (thesis section 5.4; model 4.5): equal to numasim/strategy/similarity.py. */

/* The `count` objects of a task that have one home and are used in one way, of `bytes` bytes together. */
typedef struct {
    int64_t bytes, count;
    int32_t home;
    uint32_t mode; /* a mask of ns_counted */
} ns_objects;

/* A new task, as dispatch sees it. Where a rule looks at objects, `similarity` [nodes] is memory for what it finds. */
typedef struct {
    uint64_t index, count; /* which of how many it is */
    const ns_objects *objects;
    uint32_t object_groups;
    bool source; /* it waits for no other task */
    bool looked; /* set by ns_place: whether a rule asked where the objects are */
    int64_t *similarity;
    uint32_t tier;   /* the one that rules ask for, an ns_tier */
    int32_t label;   /* the unit that it is meant for, or less than zero */
    uint32_t *copy;  /* [dispatch rules] the queues that get a copy, or NULL where no rule leaves any */
    uint32_t copies; /* how many do */
} ns_new_task;

/* Whether the guards of `data` hold for a task that comes from a core of node `here`. Where they look at its objects,
 * `task->similarity` is filled and `*node` the node chosen, the first of several, or NS_NOWHERE. */
bool ns_data_holds(const ns_plan *plan, const ns_data *data, ns_new_task *task, int32_t here, int32_t *node);

/* Whether any dispatch rule of the plan looks at objects. */
bool ns_looks_at_data(const ns_plan *plan);

/* Where a new task goes: the interpreter of dispatch rules; equal, draw for draw, to numasim/strategy/probe.py. */

/* The queue for a new task, or NS_UNKNOWN where every rule finds no room. */
int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task);

/* The rule by which a position deals round robin over all queues, or NS_UNKNOWN where it does not. */
int32_t ns_dealing_rule(const ns_plan *plan, int32_t position);

#ifdef __cplusplus
}
#endif

#endif
