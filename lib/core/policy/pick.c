#include "policy/pick.h"

#include "base/wide.h"

static bool ascends(const ns_plan *plan, uint32_t segment) {
    for (uint32_t at = plan->seg[segment] + 1; at < plan->seg[segment + 1]; at++) {
        if (plan->queue[at - 1] >= plan->queue[at]) return false;
    }
    return plan->watches > 0;
}

bool ns_masks_serve(const ns_plan *plan) {
    for (uint32_t index = 0; index < plan->levels; index++) {
        const ns_level *level = &plan->level[index];
        if (!ns_level_draws(level) || level->watch == NS_NONE8) continue;
        uint32_t end = index + 1 < plan->levels ? level[1].row : plan->rows - 1;
        for (uint32_t segment = plan->row[level->row]; segment < plan->row[end]; segment++) {
            if (!ascends(plan, segment)) return false;
        }
    }
    return plan->watches > 0;
}

void ns_masks_fill(const ns_plan *plan, uint64_t *mask) {
    uint32_t words = ns_mask_words(plan), segments = plan->row[plan->rows - 1];
    for (uint32_t segment = 0; segment < segments; segment++) {
        uint64_t *word = mask + (uint64_t)segment * words;
        for (uint32_t at = 0; at < words; at++) word[at] = 0;
        for (uint32_t at = plan->seg[segment]; at < plan->seg[segment + 1]; at++) {
            word[plan->queue[at] / 64] |= UINT64_C(1) << plan->queue[at] % 64;
        }
    }
}

/* Each function pick_... finds the next queue of a segment by the present lengths and watch bits. Sets `*queue`.
 * Returns false if the segment has no further queue. */

static bool pick_random(const ns_candidates *some, const ns_turn *turn, uint32_t *queue) {
    uint32_t count = ns_candidates_count(some);
    if (count) *queue = ns_candidates_draw(some, count, turn->stream);
    return count;
}

/* The rank of `queue`: its length, or minus its length if the longest queue is picked. The least rank is the best. */
static int64_t rank_of(const ns_turn *turn, uint32_t queue) {
    int64_t length = turn->view->length[queue];
    return turn->level->pick == NS_PICK_LONGEST ? -length : length;
}

/* Draw `sample` candidates, and return the best of them; of several best, the one that was drawn first. */
static uint32_t best_drawn(const ns_candidates *some, uint32_t count, const ns_turn *turn) {
    uint32_t best = ns_candidates_draw(some, count, turn->stream);
    for (uint32_t drawn = 1; drawn < turn->level->sample; drawn++) {
        uint32_t queue = ns_candidates_draw(some, count, turn->stream);
        if (rank_of(turn, queue) < rank_of(turn, best)) best = queue;
    }
    return best;
}

/* Return the best of all candidates; of several best, the first in the segment. There is at least one candidate. */
static uint32_t best_of_all(const ns_candidates *some, const ns_turn *turn) {
    uint32_t best = 0;
    int64_t least = INT64_MAX;
    for (uint32_t at = 0; at < some->size; at++) {
        uint32_t queue = some->queue[at];
        int64_t rank = rank_of(turn, queue);
        if (rank >= least || !ns_candidates_has(some, at)) continue;
        least = rank;
        best = queue;
    }
    return best;
}

static bool pick_by_length(const ns_candidates *some, const ns_turn *turn, uint32_t *queue) {
    uint32_t count = ns_candidates_count(some);
    if (!count) return false;
    *queue = ns_level_samples(turn->level, count) ? best_drawn(some, count, turn) : best_of_all(some, turn);
    return true;
}

static bool pick_by_index(const ns_candidates *some, const ns_turn *turn, uint32_t *queue) {
    if (!ns_candidates_count(some)) return false;
    bool block = turn->level->pick == NS_PICK_BLOCK;
    *queue = some->queue[block ? (ns_uwide)turn->index * some->size / turn->count : turn->index % some->size];
    return true;
}

static bool pick_along_ring(ns_walk *walk, const ns_candidates *some, const ns_turn *turn, uint32_t *queue) {
    while (walk->step < some->size) {
        const uint32_t at = walk->place, to_end = some->size - at;
        walk->place = walk->stride < to_end ? at + walk->stride : walk->stride - to_end;
        walk->step++;
        if (!ns_candidates_has(some, at)) continue;
        if (turn->level->pick == NS_PICK_ROUND_ROBIN) turn->actor->cursor[turn->level - turn->plan->level] = at + 1;
        *queue = some->queue[at];
        return true;
    }
    return false;
}

/* Return the position of the first queue whose number is at least that of the worker's last successful queue (of the
 * own queue before any success); 0 if there is no such queue. The queues of the segment ascend. */
static uint32_t place_after_last(const ns_candidates *some, const ns_actor *actor) {
    int64_t sought = actor->last == NS_UNKNOWN ? actor->own : actor->last;
    uint32_t low = 0, high = some->size;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (some->queue[middle] < sought) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low % some->size;
}

static uint32_t ring_start(const ns_candidates *some, const ns_turn *turn) {
    switch (turn->level->pick) {
        case NS_PICK_ROTATE:
        case NS_PICK_PERMUTATION: return (uint32_t)ns_stream_below(turn->stream, some->size);
        case NS_PICK_ROUND_ROBIN: return (uint32_t)(turn->actor->cursor[turn->level - turn->plan->level] % some->size);
        case NS_PICK_AFTER_LAST: return place_after_last(some, turn->actor);
        default: return 0;
    }
}

static uint32_t divisor(uint32_t one, uint32_t other) {
    while (other) {
        const uint32_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

/* Draw one of the numbers from 1 to `size` that have no divisor in common with `size`. */
static uint32_t coprime(uint32_t size, ns_stream *stream) {
    uint32_t count = 0, number = 0;
    for (uint32_t at = 1; at <= size; at++) count += divisor(at, size) == 1;
    for (uint64_t left = ns_stream_below(stream, count) + 1; left; left -= divisor(number, size) == 1) number++;
    return number;
}

static void begin_segment(ns_walk *self, const ns_candidates *some, const ns_turn *turn) {
    bool once = turn->level->pick == NS_PICK_CYCLIC || turn->level->pick == NS_PICK_BLOCK;
    uint32_t most = once ? 1 : turn->level->tries;
    self->begun = true;
    self->left = most < some->size ? most : some->size;
    self->place = some->size ? ring_start(some, turn) : 0;
    self->stride = some->size && turn->level->pick == NS_PICK_PERMUTATION ? coprime(some->size, turn->stream) : 1;
    self->step = 0;
}

static bool pick_next(ns_walk *self, const ns_candidates *some, const ns_turn *turn, uint32_t *queue) {
    switch (turn->level->pick) {
        case NS_PICK_RANDOM: return pick_random(some, turn, queue);
        case NS_PICK_LONGEST:
        case NS_PICK_SHORTEST: return pick_by_length(some, turn, queue);
        case NS_PICK_CYCLIC:
        case NS_PICK_BLOCK: return pick_by_index(some, turn, queue);
        default: return pick_along_ring(self, some, turn, queue);
    }
}

static void leave_segment(ns_walk *self) {
    self->segment++;
    self->begun = false;
}

/* Whether no queue of the plan passes the watch of the level. The walk then ends without drawing random numbers. */
static bool none_passes(const ns_turn *turn) {
    const ns_level *level = turn->level;
    if (level->watch == NS_NONE8 || level->flags & NS_FLAG_INVERT || !ns_level_draws(level)) return false;
    const uint32_t words = ns_mask_words(turn->plan);
    const uint64_t *bits = turn->view->watch + (uint64_t)level->watch * words;
    for (uint32_t at = 0; at < words; at++) {
        if (bits[at]) return false;
    }
    return true;
}

bool ns_walk_next(ns_walk *self, const ns_turn *turn, uint32_t *queue) {
    if (none_passes(turn)) {
        self->segment = self->end;
        self->begun = false;
    }
    for (; self->segment < self->end; leave_segment(self)) {
        ns_candidates some = ns_candidates_of(turn->plan, turn->level, self->segment, turn->view);
        if (!self->begun) begin_segment(self, &some, turn);
        if (!self->left || !pick_next(self, &some, turn, queue)) continue;
        if (!--self->left) leave_segment(self);
        return true;
    }
    return false;
}
