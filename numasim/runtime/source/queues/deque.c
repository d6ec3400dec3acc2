#include "queues/deque.h"

#include <stdlib.h>

#include "numasim/runtime.h"
#include "queues/ends.h"

/* Rings that were outgrown stay until the end: a thief may be about to read from them. */
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
    /* release: whoever finds the ring finds what was copied into it */
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

/* The tail with all bits: it is at most 2^32 - 1 below the bottom. */
static uint64_t whole_tail(const ns_deque *self, uint64_t ends) {
    return self->split - (uint32_t)((uint32_t)self->split - ns_ends_tail(ends));
}

/* Set the limits to what the owner has to look up for, now that `ends` are so. */
static void set_limits(ns_deque *self, uint64_t ends) {
    const bool empty = ns_ends_tail(ends) == ns_ends_split(ends);
    const uint64_t full = whole_tail(self, ends) + self->mask + 1;
    /* relaxed: a thief that asks at the same time and is not heard asks again */
    ns_atomic_u64_store(&self->push_limit, empty ? 0 : full, memory_order_relaxed);
    ns_atomic_u64_store(&self->pop_limit, self->split, memory_order_relaxed);
}

/* Where the public part is empty, let it have half of the private one. */
static void publish_half(ns_deque *self) {
    /* acquire: as in a push, for the slots that the limits allow to write */
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire);
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own */
    if (ns_ends_tail(ends) == ns_ends_split(ends) && bottom > self->split) {
        self->split += (bottom - self->split + 1) / 2;
        ends = ns_ends_of(ns_ends_tail(ends), self->split);
        /* release: a thief that sees the split sees slots, ring and tasks below it. A plain store: see above */
        ns_atomic_u64_store(&self->ends, ends, memory_order_release);
    }
    set_limits(self, ends);
}

void ns_deque_publish(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own */
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire);           /* acquire: as in publish_half */
    self->split = bottom;
    /* release: as in publish_half */
    while (!ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(ns_ends_tail(ends), bottom),
                                           memory_order_release, memory_order_acquire)) {
    }
    set_limits(self, ns_ends_of(ns_ends_tail(ends), bottom));
}

/* Twice the room, with all tasks from `tail` on. */
static int grow(ns_deque *self, uint64_t tail, uint64_t bottom) {
    ns_deque_ring *ring = ring_create(2 * (self->mask + 1), self->owned_ring);
    if (!ring) return NS_ERROR_MEMORY;
    for (uint64_t at = tail; at < bottom; at++) {
        void *task = ns_atomic_pointer_load(&self->slots[at & self->mask], memory_order_relaxed); /* the owner's own */
        ns_atomic_pointer_store(&ring->slots[at & ring->mask], task, memory_order_relaxed); /* released with the ring */
    }
    use(self, ring);
    return NS_OK;
}

int ns_deque_push_slowly(ns_deque *self, void *task) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own */
    /* acquire: who moved the tail had read its slot before, which may be written now */
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

/* Take the last private task; thieves have asked for the others. */
static void *pop_private(ns_deque *self, uint64_t bottom) {
    void *task = ns_atomic_pointer_load(&self->slots[(bottom - 1) & self->mask], memory_order_relaxed);
    ns_atomic_u64_store(&self->bottom, bottom - 1, memory_order_relaxed);
    publish_half(self);
    return task;
}

/* Take the last public task: no thief has it if the tail can be moved beyond it. */
static bool take_last(ns_deque *self, uint64_t ends) {
    /* relaxed: the slot is the owner's own; thieves that fail here read nothing that this one wrote */
    const uint64_t none = ns_ends_of(ns_ends_split(ends), ns_ends_split(ends));
    return ns_atomic_u64_compare_exchange(&self->ends, &ends, none, memory_order_relaxed, memory_order_relaxed);
}

/* Make half of the public tasks private, the tail's one never. */
static bool take_half(ns_deque *self, uint64_t ends) {
    const uint32_t half = (ns_ends_split(ends) - ns_ends_tail(ends)) / 2;
    /* relaxed: as in take_last; a thief with the old split fails */
    const bool taken =
        ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(ns_ends_tail(ends), ns_ends_split(ends) - half),
                                       memory_order_relaxed, memory_order_relaxed);
    if (taken) self->split -= half;
    return taken;
}

void *ns_deque_pop_slowly(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: the owner's own */
    if (bottom > self->split) return pop_private(self, bottom);
    for (;;) {
        const uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire); /* acquire: as in publish_half */
        const uint32_t left = ns_ends_split(ends) - ns_ends_tail(ends);
        if (left > 1 && take_half(self, ends)) return pop_private(self, bottom);
        if (left == 1 && take_last(self, ends)) {
            void *task = ns_atomic_pointer_load(&self->slots[(bottom - 1) & self->mask], memory_order_relaxed);
            set_limits(self, ns_ends_of(self->split, self->split));
            return task;
        }
        if (!left) {
            set_limits(self, ends);
            return NULL;
        }
    }
}

/* ---- thieves ----------------------------------------------------------------------------------------------------- */

/* Let the owner look up at its next push or pop. */
static void ask(ns_deque *self) {
    /* relaxed: nothing is said but that somebody asks */
    ns_atomic_u64_store(&self->push_limit, 0, memory_order_relaxed);
    ns_atomic_u64_store(&self->pop_limit, UINT64_MAX, memory_order_relaxed);
}

void *ns_deque_steal(ns_deque *self) {
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_acquire); /* acquire: what is below the split */
    const uint32_t tail = ns_ends_tail(ends), split = ns_ends_split(ends);
    if (tail == split) {
        if (ns_deque_length(self)) ask(self);
        return NULL;
    }
    /* acquire: the ring's mask and slots */
    const ns_deque_ring *ring = ns_atomic_pointer_load(&self->ring, memory_order_acquire);
    void *task = ns_atomic_pointer_load(&ring->slots[tail & ring->mask], memory_order_relaxed); /* by the split's */
    /* release: the slot was read before its place may be written again. acquire: as with the load, for `task` */
    const bool taken = ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(tail + UINT64_C(1), split),
                                                      memory_order_acq_rel, memory_order_relaxed);
    if (taken && tail + 1 == split) ask(self);
    return taken ? task : NULL;
}

uint64_t ns_deque_length(const ns_deque *self) {
    /* relaxed: both change while one looks, which is why it may also seem negative */
    const uint32_t tail = ns_ends_tail(ns_atomic_u64_load(&self->ends, memory_order_relaxed));
    const uint32_t bottom = (uint32_t)ns_atomic_u64_load(&self->bottom, memory_order_relaxed);
    const int32_t length = (int32_t)(bottom - tail);
    return length > 0 ? (uint64_t)length : 0;
}
