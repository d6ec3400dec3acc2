#include "queues/queues.h"

#include <stdlib.h>

#include "base/bitset.h"

enum { FIRST_ROOM = 8 };

void ns_ring_create(ns_ring *self) { *self = (ns_ring){NULL, SIZE_MAX, 0, 0}; }

bool ns_ring_grow(ns_ring *self) {
    const size_t room = self->slot ? 2 * (self->last + 1) : FIRST_ROOM;
    ns_items *slot = malloc(room * sizeof *slot);
    if (!slot) return false;
    for (size_t at = 0; at < self->size; at++) slot[at] = *ns_ring_at(self, at);
    free(self->slot);
    *self = (ns_ring){slot, room - 1, 0, self->size};
    return true;
}

void ns_ring_destroy(ns_ring *self) {
    free(self->slot);
    ns_ring_create(self);
}

#define UNBOUNDED_TASKS (INT64_C(1) << 62)

static bool make(ns_queues *self) {
    const size_t count = self->plan->queue_count;
    self->ring = calloc(count + 1, sizeof *self->ring);
    self->length = calloc(4 * count + 1, sizeof *self->length);
    self->thresholds = calloc(count + 1, sizeof *self->thresholds);
    self->watch = calloc((size_t)ns_set_words(self->plan->queue_count) * self->plan->watches + 1, sizeof *self->watch);
    return self->ring && self->length && self->thresholds && self->watch;
}

bool ns_queues_create(ns_queues *self, const ns_plan *plan, const ns_threshold_rules *rules) {
    const size_t count = plan->queue_count;
    *self = (ns_queues){.plan = plan, .watched = plan->watches != 0};
    for (uint32_t w = 0; w < plan->watches; w++) {
        self->owners_announce |= ns_watch_is_owners(&plan->watch[2 * w]);
        self->exactly |= plan->watch[2 * w] == NS_OWNER_EXACT_MARK;
    }
    for (uint32_t rule = plan->steal_levels; rule < plan->levels; rule++) {
        self->copies |= (plan->level[rule].flags & NS_FLAG_COPY) != 0;
    }
    if (!make(self)) {
        ns_queues_destroy(self);
        return false;
    }
    self->capacity = self->length + count;
    self->pushes = self->capacity + count;
    self->peak = self->pushes + count;
    for (size_t q = 0; q < count; q++) {
        const int32_t capacity = plan->queues[q].capacity;
        ns_ring_create(&self->ring[q]);
        self->capacity[q] = capacity ? capacity : UNBOUNDED_TASKS;
        self->thresholds[q] = ns_thresholds_first(rules, self->capacity[q]);
    }
    return true;
}

void ns_queues_destroy(ns_queues *self) {
    for (uint32_t q = 0; self->ring && q < self->plan->queue_count; q++) ns_ring_destroy(&self->ring[q]);
    free(self->ring);
    free(self->length);
    free(self->thresholds);
    free(self->watch);
    free(self->shared);
    *self = (ns_queues){0};
}

int64_t ns_queues_peak_sum(const ns_queues *self) {
    int64_t sum = 0;
    for (uint32_t q = 0; q < self->plan->queue_count; q++) sum += self->peak[q];
    return sum;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* The number of a free record of a shared task; UINT64_MAX where there is no memory. */
static uint64_t new_shared(ns_queues *self) {
    const uint64_t found = self->free_shared;
    if (found < self->shared_count) {
        self->free_shared = self->shared[found].task;
        return found;
    }
    if (self->shared_count == self->shared_room) {
        const uint64_t room = self->shared_room ? 2 * self->shared_room : 64;
        ns_shared *more = realloc(self->shared, room * sizeof *more);
        if (!more) return UINT64_MAX;
        self->shared = more;
        self->shared_room = room;
    }
    self->free_shared = ++self->shared_count;
    return found;
}

/* An entry has left its queue. */
static void forget_entry(ns_queues *self, uint64_t number) {
    ns_shared *shared = &self->shared[number];
    if (--shared->entries) return;
    shared->task = self->free_shared;
    self->free_shared = number;
}

bool ns_queues_push_copies(ns_queues *self, const uint32_t *queues, uint32_t count, uint64_t task) {
    const uint64_t number = new_shared(self);
    if (number == UINT64_MAX) return false;
    self->shared[number] = (ns_shared){.task = task, .entries = count};
    for (uint32_t at = 0; at < count; at++) {
        if (!ns_queues_push_task(self, queues[at], number | NS_SHARED)) return false;
    }
    return true;
}

uint64_t ns_queues_claim(ns_queues *self, uint64_t entry) {
    if (!(entry & NS_SHARED)) return entry;
    ns_shared *shared = &self->shared[entry ^ NS_SHARED];
    const uint64_t task = shared->task;
    shared->claimed = true;
    forget_entry(self, entry ^ NS_SHARED);
    return task;
}

int64_t ns_queues_sift_copies(ns_queues *self, uint32_t q, bool back, int64_t most) {
    ns_ring *ring = &self->ring[q];
    size_t seen = 0, kept = 0;
    int64_t tasks = 0, dropped = 0;
    for (; seen < ring->size && tasks < most; seen++) {
        tasks += ns_ring_at(ring, back ? ring->size - 1 - seen : seen)->count;
    }
    /* from the innermost on, those that stay move inwards, and the places at the end are given up */
    for (size_t at = seen; at-- > 0;) {
        const ns_items entry = *ns_ring_at(ring, back ? ring->size - 1 - at : at);
        if (entry.first & NS_SHARED && self->shared[entry.first ^ NS_SHARED].claimed) {
            forget_entry(self, entry.first ^ NS_SHARED);
            dropped++;
        } else {
            const size_t place = seen - 1 - kept++;
            *ns_ring_at(ring, back ? ring->size - 1 - place : place) = entry;
        }
    }
    for (int64_t at = 0; at < dropped; at++) ns_ring_drop(ring, back);
    self->entries -= dropped;
    self->length[q] -= dropped;
    self->total -= dropped;
    if (dropped && self->watched) ns_queues_mark(self, q);
    return (tasks < most ? tasks : most) - dropped;
}
