/* How queues are picked along the segments of one level; inside this folder, shared by stealing and dispatch. */
#ifndef NUMASIM_POLICY_PICK_H
#define NUMASIM_POLICY_PICK_H

#include "policy/round.h"

/* One decision under way: whose, with which draws, on which state; for dispatch, task `index` of `count`. */
typedef struct {
    const ns_plan *plan;
    const ns_level *level;
    ns_actor *actor;
    ns_stream *stream;
    const ns_view *view;
    uint64_t index, count;
} ns_turn;

/* The segments of one anchor: first .. end - 1. */
typedef struct {
    uint32_t first, end;
} ns_row;

static inline ns_row ns_row_at(const ns_plan *plan, const ns_level *level, int32_t anchor) {
    const uint32_t *row = &plan->row[level->row + (uint32_t)anchor];
    return (ns_row){row[0], row[1]};
}

/* Start a walk over `row`. Field by field, for speed: a copy of a struct just built waits for its stores. */
static inline void ns_walk_start(ns_walk *self, ns_row row) {
    self->segment = row.first;
    self->end = row.end;
    self->begun = false;
}

/* The next queue of the walk: false where it is over. */
bool ns_walk_next(ns_walk *self, const ns_turn *turn, uint32_t *queue);

#endif
