/* How many subtrees of tasks of tier root are live in each unit, and how many such subtrees each unit awaits (model
 * 4.14; engine/reference/task_controls.py). A unit is a set of workers, such as the workers of one node.
 *
 * The root of such a subtree is a task of tier root that has no ancestor of tier root. The subtree is live from the
 * begin of its root until the root and all its descendants have finished. It counts for the unit of the worker that
 * began the root. Until the root begins, the unit in the root's label awaits the subtree. Nothing is counted if no
 * steal level has a gate. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"
#include "policy/round.h"

typedef struct {
    const int32_t *gate;  /* [workers] the unit of each worker */
    int64_t *live;        /* [units] live subtrees of each unit, as in an `ns_view` */
    int64_t *awaited;     /* [units] awaited subtrees of each unit, as in an `ns_view` */
    const int32_t *label; /* [rows] labels in force; NULL if no row has a label */
    int64_t *root;        /* [rows] the root of the subtree that each row is in, or -1 */
    int64_t *left;        /* [rows] for each root: unfinished tasks of its subtree */
    int32_t *unit;        /* [rows] for each root: the unit in which its subtree is live, or -1 */
    ns_pieces memory;
} ns_live_subtrees;

/* Begin without live subtrees, for a plan that outlives `self`. If no level is gated, all pointers are NULL. Returns
 * false if there is no memory. Release `memory` in either case. */
bool ns_live_create(ns_live_subtrees *self, const ns_full_plan *plan);

/* Use the tiers and labels of `in_force` from now on. No subtree is live now. The arrays outlive `self`. */
void ns_live_follow(ns_live_subtrees *self, const ns_graph *graph, const ns_control *in_force);

/* Begin a phase. Every subtree of the phase whose root has a label is awaited from now on. */
void ns_live_start_phase(ns_live_subtrees *self, const ns_full_plan *plan, const ns_phase *phase);

/* The unit in the label of a row, or NS_UNKNOWN. */
static inline int32_t ns_live_label(const ns_live_subtrees *self, int64_t row) {
    return self->label ? self->label[row] : NS_UNKNOWN;
}

/* The worker begins or continues the task of `row`. */
static inline void ns_live_begin(ns_live_subtrees *self, uint32_t worker, uint32_t row) {
    if (self->root[row] != row || self->unit[row] != NS_UNKNOWN) return;
    self->unit[row] = self->gate[worker];
    self->live[self->unit[row]]++;
    self->left[row] = 1;
    if (ns_live_label(self, row) != NS_UNKNOWN) self->awaited[ns_live_label(self, row)]--;
}

/* The task of `row` has been spawned or called. */
static inline void ns_live_create_task(ns_live_subtrees *self, uint32_t row) {
    const int64_t root = self->root[row];
    if (root != NS_UNKNOWN && root != row) self->left[root]++;
}

/* The task of `row` has finished. Returns whether a live subtree has ended with the task. */
static inline bool ns_live_finish(ns_live_subtrees *self, uint32_t row) {
    const int64_t root = self->root[row];
    if (root == NS_UNKNOWN || --self->left[root]) return false;
    self->live[self->unit[root]]--;
    self->unit[root] = NS_UNKNOWN;
    return true;
}
