#include "queues/ring.h"

#include <stdlib.h>

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
