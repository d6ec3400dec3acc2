#include "queues/queues.h"

#include <stdlib.h>

#include "base/bitset.h"

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
    *self = (ns_queues){0};
}

int64_t ns_queues_peak_sum(const ns_queues *self) {
    int64_t sum = 0;
    for (uint32_t q = 0; q < self->plan->queue_count; q++) sum += self->peak[q];
    return sum;
}
