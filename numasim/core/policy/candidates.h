/* The queues of one segment that pass a level's watch at this instant.
 *
 * Nothing is listed: candidates are counted, and the one that is drawn is found in a second pass. Where the plan has
 * masks, both passes go by words of 64 queues.
 */
#ifndef NUMASIM_POLICY_CANDIDATES_H
#define NUMASIM_POLICY_CANDIDATES_H

#include <stddef.h>

#include "base/bitset.h"
#include "policy/masks.h"
#include "policy/round.h"

typedef struct {
    const uint32_t *queue;
    uint32_t size;
    uint32_t queue_count;
    const uint8_t *bit;   /* [queue_count]; NULL where there is no watch */
    const uint64_t *mask; /* [words]; NULL where the plan has none */
    uint8_t inverted;
} ns_candidates;

static inline ns_candidates ns_candidates_of(const ns_plan *plan, const ns_level *level, uint32_t segment,
                                             const ns_view *view) {
    uint32_t first = plan->seg[segment];
    bool watched = level->watch != NS_NONE8;
    return (ns_candidates){
        .queue = plan->queue + first,
        .size = plan->seg[segment + 1] - first,
        .queue_count = plan->queue_count,
        .bit = watched ? view->watch + (uint64_t)level->watch * plan->queue_count : NULL,
        .mask = plan->mask ? plan->mask + (uint64_t)segment * ns_mask_words(plan) : NULL,
        .inverted = (level->flags & NS_FLAG_INVERT) != 0,
    };
}

/* Whether the queue at place `at` of the segment is a candidate. */
static inline bool ns_candidates_has(const ns_candidates *self, uint32_t at) {
    return !self->bit || self->bit[self->queue[at]] != self->inverted;
}

/* Of the 64 queues from 64 `at` on, a bit for each candidate. */
static inline uint64_t ns_candidates_word(const ns_candidates *self, uint32_t at) {
    uint64_t mask = self->mask[at];
    if (!mask) return 0;
    uint32_t left = self->queue_count - 64 * at;
    uint64_t bits = ns_word_of_bytes(self->bit + 64 * at, left < 64 ? left : 64);
    return (self->inverted ? ~bits : bits) & mask;
}

static inline uint32_t ns_candidates_count_by_words(const ns_candidates *self) {
    uint32_t count = 0;
    for (uint32_t at = 0; 64 * at < self->queue_count; at++) count += ns_word_count(ns_candidates_word(self, at));
    return count;
}

static inline uint32_t ns_candidates_count(const ns_candidates *self) {
    if (!self->bit) return self->size;
    if (self->mask) return ns_candidates_count_by_words(self);
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->size; at++) count += self->bit[self->queue[at]] ^ self->inverted;
    return count;
}

static inline uint32_t ns_candidates_nth_by_words(const ns_candidates *self, uint32_t nth) {
    for (uint32_t at = 0;; at++) {
        uint64_t word = ns_candidates_word(self, at);
        uint32_t count = ns_word_count(word);
        if (nth < count) return 64 * at + ns_word_nth(word, nth);
        nth -= count;
    }
}

/* Candidate number `nth`, from zero, of those counted. */
static inline uint32_t ns_candidates_nth(const ns_candidates *self, uint32_t nth) {
    if (!self->bit) return self->queue[nth];
    if (self->mask) return ns_candidates_nth_by_words(self, nth);
    uint32_t at = 0;
    while (!ns_candidates_has(self, at) || nth--) at++;
    return self->queue[at];
}

/* One candidate of `count`, by a draw. */
static inline uint32_t ns_candidates_draw(const ns_candidates *self, uint32_t count, ns_stream *stream) {
    return ns_candidates_nth(self, (uint32_t)ns_stream_below(stream, count));
}

#endif
