/* Dispatch: the choice of the queue for a new task, by the dispatch rules of the strategy, tried in their order. The
 * same choices, with the same random numbers, as numasim/strategy/probe.py. A rule may look at the task's objects (the
 * regions of memory that the task reads or writes). The similarity of a task to a node is the number of bytes, or of
 * objects, of the task on this node (thesis section 5.4; model 4.5; numasim/strategy/similarity.py). */
#pragma once

#include "generated/plan_structs.h"
#include "policy/round.h"

/* The `count` objects of a task that lie on node `home` and are used in mode `mode`, with `bytes` bytes in all. */
typedef struct {
    int64_t bytes, count;
    int32_t home;
    uint32_t mode; /* NS_COUNT_READS, NS_COUNT_WRITES, or both */
} ns_objects;

/* A new task. ns_place reads the fields, and writes those marked "set". */
typedef struct {
    uint64_t index, count;     /* the task is number `index` of the `count` tasks of its phase */
    const ns_objects *objects; /* [object_groups] */
    uint32_t object_groups;
    bool source;         /* the task waits for no other task */
    bool looked;         /* set: whether a rule has asked where the objects are */
    int64_t *similarity; /* [nodes] set by rules that look at objects: similarity of the task to each node */
    uint32_t tier;       /* the task's ns_tier; a rule may apply to some tiers alone */
    int32_t label;       /* the unit (set of workers) that should run the task, or negative */
    uint32_t *copy;      /* [dispatch rules] set: the queues that get a copy; NULL if no rule leaves copies */
    uint32_t copies;     /* set: number of queues in `copy` */
    uint32_t first;      /* number of the first rule that is tried */
    bool spills;   /* a full queue counts as having room if half of its tasks can move to another queue (ns_spills) */
    bool slots;    /* NS_FULL_DISPLACE queues (slots) always count as having room; if false: never */
    uint32_t rule; /* set: the number of the rule that has chosen the queue */
} ns_new_task;

/* Return whether some dispatch rule of the plan looks at the objects of tasks. */
bool ns_looks_at_data(const ns_plan *plan);

/* Return the queue for a new task, or NS_UNKNOWN if no rule finds a queue with room. */
int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task);

/* Return the index in `plan->level` of the rule by which the worker or producer at `position` puts its tasks into all
 * queues in turn (round robin), or NS_UNKNOWN if this worker or producer puts its tasks by other rules. */
int32_t ns_dealing_rule(const ns_plan *plan, int32_t position);
