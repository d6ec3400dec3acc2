#include "virtual_queues.h"

#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

#define UNBOUNDED_TASKS (INT64_C(1) << 62)
enum { FIRST_ROOM = 8 };

int ns_virtual_queues_create(ns_virtual_queues *self, const ns_plan_tables *tables) {
    const ns_plan *plan = &tables->steal;
    const size_t count = plan->queue_count;
    *self = (ns_virtual_queues){.tables = tables};
    self->ring = calloc(count + 1, sizeof *self->ring);
    self->length = calloc(4 * count + 1, sizeof *self->length);
    self->thresholds = calloc(count + 1, sizeof *self->thresholds);
    self->watch = calloc(count * plan->watches + 1, 1);
    if (!self->ring || !self->length || !self->thresholds || !self->watch) {
        ns_virtual_queues_destroy(self);
        return NS_ERROR_MEMORY;
    }
    self->pushes = self->length + count;
    self->peak = self->pushes + count;
    self->capacity = self->peak + count;
    for (size_t q = 0; q < count; q++) {
        const int32_t capacity = plan->queues[q].capacity;
        self->capacity[q] = capacity ? capacity : UNBOUNDED_TASKS;
        self->thresholds[q] = ns_thresholds_first(&tables->thresholds, self->capacity[q]);
    }
    return NS_OK;
}

void ns_virtual_queues_destroy(ns_virtual_queues *self) {
    const uint32_t count = self->ring ? self->tables->steal.queue_count : 0;
    for (uint32_t q = 0; q < count; q++) free(self->ring[q].task);
    free(self->ring);
    free(self->length);
    free(self->thresholds);
    free(self->watch);
    *self = (ns_virtual_queues){0};
}

static void mark(ns_virtual_queues *self, uint32_t queue) {
    const ns_plan *plan = &self->tables->steal;
    if (plan->watches) ns_watch_mark(plan, self->watch, queue, self->length[queue], self->thresholds[queue]);
}

static void **place(const ns_virtual_ring *ring, int64_t at) {
    return &ring->task[(ring->first + at) & (ring->room - 1)];
}

static int grow(ns_virtual_ring *ring, int64_t length) {
    const uint32_t room = ring->room ? 2 * ring->room : FIRST_ROOM;
    void **task = malloc(room * sizeof *task);
    if (!task) return NS_ERROR_MEMORY;
    for (int64_t at = 0; at < length; at++) task[at] = *place(ring, at);
    free(ring->task);
    *ring = (ns_virtual_ring){task, room, 0};
    return NS_OK;
}

int ns_virtual_queues_push(ns_virtual_queues *self, uint32_t queue, void *task) {
    ns_virtual_ring *ring = &self->ring[queue];
    if (self->length[queue] == ring->room && grow(ring, self->length[queue])) return NS_ERROR_MEMORY;
    *place(ring, self->length[queue]++) = task;
    self->pushes[queue]++;
    if (self->length[queue] > self->peak[queue]) self->peak[queue] = self->length[queue];
    mark(self, queue);
    return NS_OK;
}

void *ns_virtual_queues_peek(const ns_virtual_queues *self, uint32_t queue, uint8_t end) {
    return *place(&self->ring[queue], end == VIRTUAL_BACK ? self->length[queue] - 1 : 0);
}

void *ns_virtual_queues_pop(ns_virtual_queues *self, uint32_t queue, uint8_t end) {
    void *task = ns_virtual_queues_peek(self, queue, end);
    self->length[queue]--;
    if (end == VIRTUAL_FRONT) self->ring[queue].first++;
    mark(self, queue);
    return task;
}

void ns_virtual_queues_set_thresholds(ns_virtual_queues *self, uint32_t queue, ns_thresholds thresholds) {
    self->thresholds[queue] = thresholds;
    mark(self, queue);
}
