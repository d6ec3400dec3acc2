#include "clock.h"

#include <stdlib.h>

#include "numasim/runtime.h"

int ns_clock_create(ns_clock *self, uint32_t events) {
    *self = (ns_clock){.capacity = events};
    self->heap = malloc(((size_t)events + 1) * sizeof *self->heap);
    return self->heap ? NS_OK : NS_ERROR_MEMORY;
}

void ns_clock_destroy(ns_clock *self) { free(self->heap); }

static bool precedes(const ns_event *a, const ns_event *b) {
    if (a->due_ps != b->due_ps) return a->due_ps < b->due_ps;
    if (a->rank != b->rank) return a->rank < b->rank;
    return a->actor < b->actor;
}

static void put(ns_clock *self, uint32_t place, ns_event *event) {
    self->heap[place] = event;
    event->place = place;
}

/* Move `event` from `place` towards the root as far as it precedes what is there. */
static uint32_t rise(ns_clock *self, uint32_t place, const ns_event *event) {
    for (; place > 1 && precedes(event, self->heap[place / 2]); place /= 2) put(self, place, self->heap[place / 2]);
    return place;
}

static uint32_t sink(ns_clock *self, uint32_t place, const ns_event *event) {
    for (uint32_t child; (child = 2 * place) <= self->count; place = child) {
        if (child < self->count && precedes(self->heap[child + 1], self->heap[child])) child++;
        if (!precedes(self->heap[child], event)) break;
        put(self, place, self->heap[child]);
    }
    return place;
}

void ns_clock_schedule(ns_clock *self, ns_event *event, enum ns_rank rank, int64_t delay_ps) {
    event->due_ps = self->now_ps + delay_ps;
    event->rank = rank;
    put(self, rise(self, ++self->count, event), event);
}

void ns_clock_cancel(ns_clock *self, ns_event *event) {
    const uint32_t place = event->place;
    ns_event *last = self->heap[self->count--];
    event->place = 0;
    if (last != event) put(self, sink(self, rise(self, place, last), last), last);
}

bool ns_clock_pass(ns_clock *self, ns_event *event) {
    if (self->heap[1] != event) return false;
    ns_clock_cancel(self, event);
    self->now_ps = event->due_ps;
    self->fired++;
    return true;
}

bool ns_clock_turn(ns_clock *self) {
    if (!self->count) return false;
    ns_event *first = self->heap[1];
    ns_clock_pass(self, first);
    first->fire(first);
    return true;
}
