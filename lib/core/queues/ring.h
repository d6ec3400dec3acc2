/* A double-ended queue of tasks and ranges of items in one growing ring. */
#ifndef NUMASIM_QUEUES_RING_H
#define NUMASIM_QUEUES_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/ranges.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    ns_items *slot;
    size_t last;       /* number of the last slot: a power of two less one; SIZE_MAX where there is none */
    size_t head, size; /* the slot of the front, the number of entries */
} ns_ring;

/* An empty one without slots. */
void ns_ring_create(ns_ring *self);

/* Double the room: false where there is no memory. */
bool ns_ring_grow(ns_ring *self);
void ns_ring_destroy(ns_ring *self);

/* Entry number `at` from the front. */
static inline ns_items *ns_ring_at(const ns_ring *self, size_t at) {
    return &self->slot[(self->head + at) & self->last];
}

/* The entry at one end of a ring that is not empty. */
static inline ns_items *ns_ring_end(const ns_ring *self, bool back) {
    return ns_ring_at(self, back ? self->size - 1 : 0);
}

static inline bool ns_ring_push_back(ns_ring *self, ns_items entry) {
    if (self->size == self->last + 1 && !ns_ring_grow(self)) return false;
    *ns_ring_at(self, self->size++) = entry;
    return true;
}

/* Remove the entry at one end. */
static inline void ns_ring_drop(ns_ring *self, bool back) {
    self->size--;
    if (!back) self->head = (self->head + 1) & self->last;
}

#ifdef __cplusplus
}
#endif

#endif
