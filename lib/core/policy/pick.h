/* The picks of one level or dispatch rule: the order in which queues of its segments (lists of queues: policy/round.h)
 * are probed, or tried for a new task. The candidates of a segment are its queues that pass the level's watch now:
 * those whose watch bit is set, or with NS_FLAG_INVERT cleared; without a watch all. A mask holds the queues of one
 * segment as bits: queue q is bit q % 64 of word q / 64. Masks make watches of 128 queues two to three times as fast to
 * read, and change no result. Other folders use the functions on masks only. */
#pragma once

#include <stddef.h>

#include "base/bitset.h"
#include "policy/round.h"

/* ---- masks ------------------------------------------------------------------------------------------------------- */

/* Return the number of words of a mask. */
static inline uint32_t ns_mask_words(const ns_plan *plan) { return ns_set_words(plan->queue_count); }

/* Return whether masks can be used: the plan has watches, and the queues of each segment ascend for levels that have a
 * watch and pick at random or by length. */
bool ns_masks_serve(const ns_plan *plan);

/* Write the masks of all segments to `mask` [segments][ns_mask_words]. */
void ns_masks_fill(const ns_plan *plan, uint64_t *mask);

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* The candidates of a segment. A first pass counts them, and a second pass finds the drawn one. With masks, both passes
 * handle 64 queues at a time. */
typedef struct {
    const uint32_t *queue; /* [size] all queues of the segment */
    uint32_t size;
    const uint64_t *bits;          /* [words] the bits of the level's watch; NULL if the level has no watch */
    const uint64_t *mask;          /* [words] NULL if the plan has no masks */
    uint32_t first_word, end_word; /* mask words outside of first_word to end_word - 1 are zero */
    uint8_t inverted;
} ns_candidates;

/* Return whether the level picks at random or by length. */
static inline bool ns_level_draws(const ns_level *level) {
    return level->pick == NS_PICK_RANDOM || level->pick == NS_PICK_LONGEST || level->pick == NS_PICK_SHORTEST;
}

/* Return whether a level that picks by length compares only a sample of its `count` candidates, drawn at random. */
static inline bool ns_level_samples(const ns_level *level, uint32_t count) {
    return level->sample < count && level->sample != NS_ALL16;
}

static inline ns_candidates ns_candidates_of(const ns_plan *plan, const ns_level *level, uint32_t segment,
                                             const ns_view *view) {
    uint32_t first = plan->seg[segment], size = plan->seg[segment + 1] - first;
    bool ascends = size && ns_level_draws(level);
    bool watched = level->watch != NS_NONE8;
    return (ns_candidates){
        .queue = plan->queue + first,
        .size = size,
        .bits = watched ? view->watch + (uint64_t)level->watch * ns_mask_words(plan) : NULL,
        .mask = plan->mask ? plan->mask + (uint64_t)segment * ns_mask_words(plan) : NULL,
        .first_word = ascends ? plan->queue[first] / 64 : 0,
        .end_word = ascends ? plan->queue[first + size - 1] / 64 + 1 : ns_mask_words(plan),
        .inverted = (level->flags & NS_FLAG_INVERT) != 0,
    };
}

/* Return whether the queue at position `at` of the segment is a candidate. */
static inline bool ns_candidates_has(const ns_candidates *self, uint32_t at) {
    return !self->bits || ns_set_has(self->bits, self->queue[at]) != self->inverted;
}

/* Return a word with a bit for each candidate among the queues 64 * `at` to 64 * `at` + 63. */
static inline uint64_t ns_candidates_word(const ns_candidates *self, uint32_t at) {
    return (self->inverted ? ~self->bits[at] : self->bits[at]) & self->mask[at];
}

static inline uint32_t ns_candidates_count_by_words(const ns_candidates *self) {
    uint32_t count = 0;
    for (uint32_t at = self->first_word; at < self->end_word; at++)
        count += ns_word_count(ns_candidates_word(self, at));
    return count;
}

static inline uint32_t ns_candidates_count(const ns_candidates *self) {
    if (!self->bits) return self->size;
    if (self->mask) return ns_candidates_count_by_words(self);
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->size; at++) count += ns_candidates_has(self, at);
    return count;
}

static inline uint32_t ns_candidates_nth_by_words(const ns_candidates *self, uint32_t nth) {
    for (uint32_t at = self->first_word;; at++) {
        uint64_t word = ns_candidates_word(self, at);
        uint32_t count = ns_word_count(word);
        if (nth < count) return 64 * at + ns_word_nth(word, nth);
        nth -= count;
    }
}

/* Return candidate number `nth`, from zero. */
static inline uint32_t ns_candidates_nth(const ns_candidates *self, uint32_t nth) {
    if (!self->bits) return self->queue[nth];
    if (self->mask) return ns_candidates_nth_by_words(self, nth);
    uint32_t at = 0;
    while (!ns_candidates_has(self, at) || nth--) at++;
    return self->queue[at];
}

/* Draw one of the candidates, which are `count` in all, at random. */
static inline uint32_t ns_candidates_draw(const ns_candidates *self, uint32_t count, ns_stream *stream) {
    return ns_candidates_nth(self, (uint32_t)ns_stream_below(stream, count));
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

/* The inputs of a pick: the worker that decides, its random numbers, and its view of the queues; for dispatch also the
 * new task, which is task `index` of `count` in its phase. */
typedef struct {
    const ns_plan *plan;
    const ns_level *level;
    ns_actor *actor;
    ns_stream *stream;
    const ns_view *view;
    uint64_t index, count;
} ns_turn;

/* The segments of one anchor (the worker, queue, node or unit from which a level looks): first to end - 1. */
typedef struct {
    uint32_t first, end;
} ns_row;

static inline ns_row ns_row_at(const ns_plan *plan, const ns_level *level, int32_t anchor) {
    const uint32_t *row = &plan->row[level->row + (uint32_t)anchor];
    return (ns_row){row[0], row[1]};
}

/* Start a walk over the segments of `row`. Fields are set one by one, because a copy of a struct that was written just
 * before would wait for the stores. */
static inline void ns_walk_start(ns_walk *self, ns_row row) {
    self->segment = row.first;
    self->end = row.end;
    self->begun = false;
}

/* Set `*queue` to the next queue that is picked. Returns false if the walk is over. */
bool ns_walk_next(ns_walk *self, const ns_turn *turn, uint32_t *queue);
