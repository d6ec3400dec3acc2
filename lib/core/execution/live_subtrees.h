/* Counts of subtrees of tasks, for steal levels with a gate: the level is closed to a worker while too many subtrees of
 * the worker's unit (set of workers, such as those of one node) are live (model 4.14;
 * engine/reference/task_controls.py). The root of a subtree is a task of tier NS_TIER_ROOT without an ancestor of this
 * tier. The subtree is live from the begin of its root until the root and all descendants have finished, in the unit of
 * the worker that began the root. Until the root begins, the unit that the root's label names awaits the subtree. A row
 * is a task in the task graph. Without a gate in the plan nothing is counted. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"
#include "policy/round.h"

typedef struct {
    const int32_t *gate;  /* [workers] the unit of each worker */
    int64_t *live;        /* [units] live subtrees of each unit, as in an `ns_view` */
    int64_t *awaited;     /* [units] awaited subtrees of each unit, as in an `ns_view` */
    const int32_t *label; /* [rows] the unit for which each task is meant, or -1; NULL if no task is meant for a unit */
    int64_t *root;        /* [rows] the root of the subtree that each task is in, or -1 */
    int64_t *left;        /* [rows] for each root: tasks of its subtree that were created and have not finished */
    int32_t *unit;        /* [rows] for each root: the unit in which its subtree is live, or -1 */
    ns_pieces memory;
} ns_live_subtrees;

/* Initialise `self` without live subtrees. The plan must outlive `self`. Without a gate in the plan, all arrays but
 * `gate` are NULL. Returns false if memory is short. The caller releases `memory` in either case. */
bool ns_live_create(ns_live_subtrees *self, const ns_full_plan *plan);

/* Use the tiers and labels of `in_force` from now on, while no subtree is live. The arrays must outlive `self`. */
void ns_live_follow(ns_live_subtrees *self, const ns_graph *graph, const ns_control *in_force);

/* Begin a phase: each subtree of the phase whose root has a label becomes awaited. */
void ns_live_start_phase(ns_live_subtrees *self, const ns_full_plan *plan, const ns_phase *phase);

/* Return the unit for which the task of `row` is meant, or NS_UNKNOWN. */
static inline int32_t ns_live_label(const ns_live_subtrees *self, int64_t row) {
    return self->label ? self->label[row] : NS_UNKNOWN;
}

/* Whether a subtree becomes live if the task of `row` begins or continues. */
static inline bool ns_live_begins(const ns_live_subtrees *self, uint32_t row) {
    return self->root[row] == row && self->unit[row] == NS_UNKNOWN;
}

/* Whether a live subtree ends if the task of `row` finishes. */
static inline bool ns_live_ends(const ns_live_subtrees *self, uint32_t row) {
    return self->root[row] != NS_UNKNOWN && self->left[self->root[row]] == 1;
}

/* Note that the worker begins or continues the task of `row`. If the task is a root that has not begun, its subtree
 * becomes live. */
static inline void ns_live_begin(ns_live_subtrees *self, uint32_t worker, uint32_t row) {
    if (!ns_live_begins(self, row)) return;
    self->unit[row] = self->gate[worker];
    self->live[self->unit[row]]++;
    self->left[row] = 1;
    if (ns_live_label(self, row) != NS_UNKNOWN) self->awaited[ns_live_label(self, row)]--;
}

/* Note that the task of `row` has been spawned or called. */
static inline void ns_live_create_task(ns_live_subtrees *self, uint32_t row) {
    const int64_t root = self->root[row];
    if (root != NS_UNKNOWN && root != row) self->left[root]++;
}

/* Note that the task of `row` has finished. Returns whether this was the last unfinished task of a live subtree. */
static inline bool ns_live_finish(ns_live_subtrees *self, uint32_t row) {
    const int64_t root = self->root[row];
    if (root == NS_UNKNOWN || --self->left[root]) return false;
    self->live[self->unit[root]]--;
    self->unit[root] = NS_UNKNOWN;
    return true;
}
