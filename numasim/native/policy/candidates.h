/* The queues of one segment that pass a level's watch at this instant. */
#ifndef NUMASIM_POLICY_CANDIDATES_H
#define NUMASIM_POLICY_CANDIDATES_H

#include <stddef.h>

#include "round.h"

typedef struct {
    const uint32_t *queue;
    uint32_t size;
    const uint8_t *bit; /* [queues]; NULL where there is no watch */
    uint8_t inverted;
} ns_candidates;

static inline ns_candidates ns_candidates_of(const ns_plan *plan, const ns_level *level, uint32_t segment,
                                             const ns_view *view) {
    uint32_t first = plan->seg[segment];
    bool watched = level->watch != NS_NONE8;
    return (ns_candidates){
        .queue = plan->queue + first,
        .size = plan->seg[segment + 1] - first,
        .bit = watched ? view->watch + (uint64_t)level->watch * plan->queue_count : NULL,
        .inverted = (level->flags & NS_FLAG_INVERT) != 0,
    };
}

/* Whether the queue at place `at` of the segment is a candidate. */
static inline bool ns_candidates_has(const ns_candidates *self, uint32_t at) {
    return !self->bit || self->bit[self->queue[at]] != self->inverted;
}

static inline uint32_t ns_candidates_count(const ns_candidates *self) {
    if (!self->bit) return self->size;
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->size; at++) count += self->bit[self->queue[at]] ^ self->inverted;
    return count;
}

/* Candidate number `nth`, from zero, of those counted. */
static inline uint32_t ns_candidates_nth(const ns_candidates *self, uint64_t nth) {
    if (!self->bit) return self->queue[nth];
    uint32_t at = 0;
    for (uint64_t left = nth + 1;; at++) {
        left -= ns_candidates_has(self, at);
        if (!left) return self->queue[at];
    }
}

/* One candidate of `count`, by a draw. */
static inline uint32_t ns_candidates_draw(const ns_candidates *self, uint32_t count, ns_stream *stream) {
    return ns_candidates_nth(self, ns_stream_below(stream, count));
}

#endif
