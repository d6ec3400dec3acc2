#pragma once

#include "generated/plan_structs.h"
#include "policy/round.h"

/* ---- similarity to nodes (thesis section 5.4; model 4.5; numasim/strategy/similarity.py) ------------------------- */

/* `count` objects of a task that lie on the node `home` and are used in the same way: `bytes` bytes in all. */
typedef struct {
    int64_t bytes, count;
    int32_t home;
    uint32_t mode; /* a mask of ns_counted */
} ns_objects;

/* A new task as dispatch sees it. Rules that look at objects write to `similarity` [nodes]. */
typedef struct {
    uint64_t index, count; /* the task is number `index` of `count` tasks */
    const ns_objects *objects;
    uint32_t object_groups;
    bool source; /* the task waits for no other task */
    bool looked; /* set by ns_place: a rule has asked where the objects are */
    int64_t *similarity;
    uint32_t tier;   /* the ns_tier that rules ask for */
    int32_t label;   /* the unit (set of workers) that the task is for, or negative */
    uint32_t *copy;  /* [dispatch rules] the queues that get a copy; NULL if no rule leaves copies */
    uint32_t copies; /* number of queues in `copy` */
    uint32_t first;  /* number of the first rule that is asked */
    bool spills;     /* a full queue has room if its tasks can leave it for another queue */
    bool slots;      /* a slot has room, be it full; otherwise a slot has no room, be it empty */
    uint32_t rule;   /* set by ns_place: the number of the rule that has found the queue */
} ns_new_task;

/* Whether any dispatch rule of the plan looks at the objects of tasks. */
bool ns_looks_at_data(const ns_plan *plan);

/* ---- interpreter of dispatch rules; draws the same numbers as numasim/strategy/probe.py ----------------------- */

/* Return the queue for a new task, or NS_UNKNOWN if no rule finds a queue with room. */
int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task);

/* Return the number of the rule by which the worker or producer at `position` puts its tasks into all queues in turn
 * (round robin), or NS_UNKNOWN if its tasks are put otherwise. */
int32_t ns_dealing_rule(const ns_plan *plan, int32_t position);
