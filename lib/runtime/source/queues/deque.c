#include "queues/deque.h"

#include <stdlib.h>

#include "numasim/runtime.h"
#include "queues/split.h"

/* Outgrown rings are freed only with the deque, because a thief may still read from an outgrown ring. */
struct ns_deque_ring {
    ns_deque_ring *outgrown;
    uint64_t mask;
    ns_atomic_pointer slots[];
};

static ns_deque_ring *ring_create(uint64_t capacity, ns_deque_ring *outgrown) {
    ns_deque_ring *made = calloc(1, sizeof *made + capacity * sizeof *made->slots);
    if (made) *made = (ns_deque_ring){.outgrown = outgrown, .mask = capacity - 1};
    return made;
}

static void use(ns_deque *self, ns_deque_ring *ring) {
    self->owned_ring = ring;
    self->slots = ring->slots;
    self->mask = ring->mask;
    /* release: a thread that loads the ring sees its slots */
    ns_atomic_pointer_store(&self->ring, ring, memory_order_release);
}

int ns_deque_create(ns_deque *self, uint32_t capacity_bits) {
    *self = (ns_deque){0};
    ns_deque_ring *ring = ring_create(UINT64_C(1) << capacity_bits, NULL);
    if (!ring) return NS_ERROR_MEMORY;
    use(self, ring);
    return NS_OK;
}

void ns_deque_destroy(ns_deque *self) {
    for (ns_deque_ring *ring = self->owned_ring, *next; ring; ring = next) {
        next = ring->outgrown;
        free(ring);
    }
    self->owned_ring = NULL;
}

/* ---- the owner --------------------------------------------------------------------------------------------------- */

/* Return the 64-bit index of the tail, which is at most 2^32 - 1 below the split. */
static uint64_t whole_tail(const ns_deque *self, uint64_t ends) {
    return self->split - (uint32_t)((uint32_t)self->split - ns_ends_tail(ends));
}

/* Store the split of `ends`, and set the limits at which the owner's pushes and pops take slow paths. */
static void adopt_ends(ns_deque *self, uint64_t ends) {
    self->split += (uint64_t)(int64_t)(int32_t)(ns_ends_split(ends) - (uint32_t)self->split);
    const uint64_t full = whole_tail(self, ends) + self->mask + 1;
    ns_split_set_limits(&self->push_limit, &self->pop_limit, ends, full, self->split);
}

static void publish_half(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own word */
    adopt_ends(self, ns_split_publish_half(&self->ends, (uint32_t)bottom));
}

void ns_deque_publish(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own word */
    adopt_ends(self, ns_split_publish_all(&self->ends, (uint32_t)bottom));
}

/* Double the capacity, and copy all tasks. Return 0 or NS_ERROR_MEMORY. */
static int grow(ns_deque *self, uint64_t tail, uint64_t bottom) {
    ns_deque_ring *ring = ring_create(2 * (self->mask + 1), self->owned_ring);
    if (!ring) return NS_ERROR_MEMORY;
    for (uint64_t at = tail; at < bottom; at++) {
        void *task = ns_atomic_pointer_load(&self->slots[at & self->mask], memory_order_relaxed); /* as in a push */
        ns_atomic_pointer_store(&ring->slots[at & ring->mask], task, memory_order_relaxed); /* released with the ring */
    }
    use(self, ring);
    return NS_OK;
}

int ns_deque_push_slowly(ns_deque *self, void *task) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own word */
    /* acquire: the thief that moved the tail has finished reading the slot, which may now be written */
    const uint64_t tail = whole_tail(self, ns_atomic_u64_load(&self->ends, memory_order_acquire));
    if (bottom - tail > self->mask) {
        const int error = grow(self, tail, bottom);
        if (error) return error;
    }
    ns_atomic_pointer_store(&self->slots[bottom & self->mask], task, memory_order_relaxed); /* as in a fast push */
    ns_atomic_u64_store(&self->bottom, bottom + 1, memory_order_relaxed);
    publish_half(self);
    return NS_OK;
}

/* Take the newest task, which is private. If no task is public, make half of the other private tasks public. */
static void *pop_private(ns_deque *self, uint64_t bottom) {
    void *task = ns_atomic_pointer_load(&self->slots[(bottom - 1) & self->mask], memory_order_relaxed);
    ns_atomic_u64_store(&self->bottom, bottom - 1, memory_order_relaxed);
    publish_half(self);
    return task;
}

/* Take the only task left, which is public, by moving the tail beyond it. Return false if a thief was faster. */
static bool take_last(ns_deque *self, uint64_t ends) {
    /* relaxed: the owner wrote the slot itself, and a thief whose swap fails reads nothing */
    const uint64_t none = ns_ends_of(ns_ends_split(ends), ns_ends_split(ends));
    return ns_atomic_u64_compare_exchange(&self->ends, &ends, none, memory_order_relaxed, memory_order_relaxed);
}

void *ns_deque_pop_slowly(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own word */
    if (bottom > self->split) return pop_private(self, bottom);
    for (;;) {
        const uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire); /* acquire: as in a slow push */
        const uint32_t left = ns_ends_split(ends) - ns_ends_tail(ends);
        /* the task at the tail never becomes private: see deque.h */
        if (left > 1 && ns_split_take_back(&self->ends, ends, left / 2)) return pop_private(self, bottom);
        if (left == 1 && take_last(self, ends)) {
            void *task = ns_atomic_pointer_load(&self->slots[(bottom - 1) & self->mask], memory_order_relaxed);
            adopt_ends(self, ns_ends_of(self->split, self->split));
            return task;
        }
        if (!left) {
            adopt_ends(self, ends);
            return NULL;
        }
    }
}

/* ---- thieves ----------------------------------------------------------------------------------------------------- */

void *ns_deque_steal(ns_deque *self) {
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire); /* acquire: sees the tasks below the split */
    const uint32_t tail = ns_ends_tail(ends), split = ns_ends_split(ends);
    if (tail == split) {
        if (ns_deque_length(self)) ns_split_ask(&self->push_limit, &self->pop_limit);
        return NULL;
    }
    /* acquire: sees the ring's mask and slots */
    const ns_deque_ring *ring = ns_atomic_pointer_load(&self->ring, memory_order_acquire);
    /* relaxed: the acquire of `ends` orders this load */
    void *task = ns_atomic_pointer_load(&ring->slots[tail & ring->mask], memory_order_relaxed);
    /* release: the slot has been read before the owner may write it again. acquire: sees what `task` points to */
    const bool taken = ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(tail + UINT64_C(1), split),
                                                      memory_order_acq_rel, memory_order_relaxed);
    if (taken && tail + 1 == split) ns_split_ask(&self->push_limit, &self->pop_limit);
    return taken ? task : NULL;
}

uint64_t ns_deque_length(const ns_deque *self) {
    /* relaxed: both words may change between the two loads, so the difference may be negative */
    const uint32_t tail = ns_ends_tail(ns_atomic_u64_load(&self->ends, memory_order_relaxed));
    const uint32_t bottom = (uint32_t)ns_atomic_u64_load(&self->bottom, memory_order_relaxed);
    const int32_t length = (int32_t)(bottom - tail);
    return length > 0 ? (uint64_t)length : 0;
}
