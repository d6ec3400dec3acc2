#pragma once

#include "generated/plan_structs.h"
#include "policy/round.h"

/* ---- similarity to nodes (thesis section 5.4; model 4.5; numasim/strategy/similarity.py) ------------------------- */

/* The `count` objects of a task that have the same home and the same kind of use, with `bytes` bytes together. */
typedef struct {
    int64_t bytes, count;
    int32_t home;
    uint32_t mode; /* a mask of ns_counted */
} ns_objects;

/* A new task as dispatch sees it. `similarity` [nodes] is memory for rules that look at objects. */
typedef struct {
    uint64_t index, count; /* the number of the task, among how many */
    const ns_objects *objects;
    uint32_t object_groups;
    bool source; /* the task waits for no other task */
    bool looked; /* set by ns_place: a rule has asked where the objects are */
    int64_t *similarity;
    uint32_t tier;   /* the ns_tier that rules ask for */
    int32_t label;   /* the unit that the task is meant for, or less than zero */
    uint32_t *copy;  /* [dispatch rules] the queues that get a copy; NULL if no rule leaves copies */
    uint32_t copies; /* number of queues in `copy` */
} ns_new_task;

/* Whether the guards of `data` hold for a task that comes from a core of node `here`. If the guards look at objects,
 * `task->similarity` is filled and `*node` is the chosen node, of several the first, or NS_NOWHERE. */
bool ns_data_holds(const ns_plan *plan, const ns_data *data, ns_new_task *task, int32_t here, int32_t *node);

/* Whether any dispatch rule of the plan looks at objects. */
bool ns_looks_at_data(const ns_plan *plan);

/* ---- the interpreter of dispatch rules: where a new task goes; equal, draw for draw, to numasim/strategy/probe.py -- */

/* The queue for a new task, or NS_UNKNOWN if no rule finds room. */
int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task);

/* The rule by which a position deals round robin over all queues, or NS_UNKNOWN if the position deals otherwise. */
int32_t ns_dealing_rule(const ns_plan *plan, int32_t position);
