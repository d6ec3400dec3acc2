#include "queues/lane.h"

#include "platform/near_memory.h"
#include "queues/ends.h"

static uint32_t index_of(const ns_lane *self, const ns_lane_slot *slot) { return (uint32_t)(slot - self->slots); }

static void set_top(ns_lane *self, const ns_lane_slot *slot) {
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)slot, memory_order_relaxed); /* as in a push */
}

/* Set the limits to what the owner has to look up for, now that `ends` are so. */
static void set_limits(ns_lane *self, uint64_t ends) {
    const bool empty = ns_ends_tail(ends) == ns_ends_split(ends);
    const uint64_t full = (uintptr_t)(self->slots + self->capacity);
    /* relaxed: a thief that asks at the same time and is not heard asks again */
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->push_limit), empty ? 0 : full, memory_order_relaxed);
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->pop_limit), (uintptr_t)(self->slots + self->split),
                        memory_order_relaxed);
}

int ns_lane_create(ns_lane *self, ns_lane_owned *owned, uint32_t capacity) {
    *self = (ns_lane){.owned = owned, .capacity = capacity};
    self->slots = ns_near_memory_allocate(capacity * sizeof *self->slots, -1); /* its owner is the first to touch it */
    if (!self->slots) return NS_ERROR_MEMORY;
    set_top(self, self->slots);
    set_limits(self, 0);
    return NS_OK;
}

void ns_lane_destroy(ns_lane *self) {
    if (self->slots) ns_near_memory_free(self->slots, self->capacity * sizeof *self->slots);
    self->slots = NULL;
}

/* ---- the owner --------------------------------------------------------------------------------------------------- */

/* Where the public part is empty, let it have half of the private one. */
static void publish_half(ns_lane *self) {
    /* relaxed: nothing is read or written by what thieves have done to the tail */
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_relaxed);
    const uint32_t top = index_of(self, ns_lane_top(self));
    if (ns_ends_tail(ends) == ns_ends_split(ends) && top > self->split) {
        self->split += (top - self->split + 1) / 2;
        ends = ns_ends_of(ns_ends_tail(ends), self->split);
        /* release: a thief that sees the split sees the tasks below it. A plain store: see above */
        ns_atomic_u64_store(&self->ends, ends, memory_order_release);
    }
    set_limits(self, ends);
}

void ns_lane_publish(ns_lane *self) {
    uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_relaxed); /* relaxed: as in publish_half */
    self->split = index_of(self, ns_lane_top(self));
    /* release: as in publish_half */
    while (!ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(ns_ends_tail(ends), self->split),
                                           memory_order_release, memory_order_relaxed)) {
    }
    set_limits(self, ns_ends_of(ns_ends_tail(ends), self->split));
}

bool ns_lane_push_slowly(ns_lane *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_slot *slot = ns_lane_top(self);
    if (index_of(self, slot) == self->capacity) return false;
    ns_lane_fill(slot, body, arguments, bytes);
    set_top(self, slot + 1);
    publish_half(self);
    return true;
}

/* Make the upper half of the public tasks private, or the only one: whether no thief was quicker. */
static bool take_back(ns_lane *self, uint64_t ends) {
    const uint32_t half = (ns_ends_split(ends) - ns_ends_tail(ends) + 1) / 2;
    const uint64_t kept = ns_ends_of(ns_ends_tail(ends), ns_ends_split(ends) - half);
    /* relaxed: the slots are as the owner left them; a thief with the old split fails */
    const bool taken =
        ns_atomic_u64_compare_exchange(&self->ends, &ends, kept, memory_order_relaxed, memory_order_relaxed);
    if (taken) self->split -= half;
    return taken;
}

ns_lane_slot *ns_lane_pop_slowly(ns_lane *self) {
    ns_lane_slot *slot = ns_lane_top(self) - 1;
    while (index_of(self, slot) + 1 == self->split) {
        const uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_relaxed); /* relaxed: as in publish_half */
        if (ns_ends_tail(ends) != ns_ends_split(ends)) {
            take_back(self, ends);
        } else {
            set_limits(self, ends);
            return NULL;
        }
    }
    set_top(self, slot);
    publish_half(self);
    return slot;
}

void ns_lane_forget(ns_lane *self) {
    ns_lane_slot *slot = ns_lane_top(self) - 1;
    /* relaxed: only who steals the next task of this slot writes there again, and sees it by the split's release */
    ns_atomic_u64_store(ns_lane_atomic(&slot->ended), 0, memory_order_relaxed);
    set_top(self, slot);
    self->split = index_of(self, slot);
    const uint64_t ends = ns_ends_of(self->split, self->split);
    /* relaxed: nothing is public. A plain store: see above */
    ns_atomic_u64_store(&self->ends, ends, memory_order_relaxed);
    set_limits(self, ends);
}

bool ns_lane_has_ended(const ns_lane_slot *slot) {
    /* acquire: what it did */
    return ns_atomic_u64_load(ns_lane_atomic(&slot->ended), memory_order_acquire);
}

/* ---- thieves ----------------------------------------------------------------------------------------------------- */

/* Let the owner look up at its next push or pop. */
static void ask(ns_lane *self) {
    ns_atomic_u64 *push_limit = ns_lane_atomic(&self->owned->push_limit);
    ns_atomic_u64 *pop_limit = ns_lane_atomic(&self->owned->pop_limit);
    /* relaxed: nothing is said but that somebody asks; who has asked already leaves the owner's line alone */
    if (ns_atomic_u64_load(push_limit, memory_order_relaxed)) ns_atomic_u64_store(push_limit, 0, memory_order_relaxed);
    if (ns_atomic_u64_load(pop_limit, memory_order_relaxed) != UINT64_MAX)
        ns_atomic_u64_store(pop_limit, UINT64_MAX, memory_order_relaxed);
}

ns_lane_slot *ns_lane_steal(ns_lane *self) {
    uint64_t ends =
        ns_atomic_u64_load(&self->ends, memory_order_relaxed); /* relaxed: no slot is read before the swap */
    const uint32_t tail = ns_ends_tail(ends), split = ns_ends_split(ends);
    if (tail == split) {
        if (ns_lane_length(self)) ask(self);
        return NULL;
    }
    /* acquire: what is below the split, as it was when it was published */
    if (!ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(tail + 1, split), memory_order_acquire,
                                        memory_order_relaxed))
        return NULL;
    if (tail + 1 == split) ask(self);
    return &self->slots[tail];
}

void ns_lane_end(ns_lane_slot *slot) {
    /* release: what the task did is seen by who joins it; and the slot has been read before it is written again */
    ns_atomic_u64_store(ns_lane_atomic(&slot->ended), 1, memory_order_release);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

uint64_t ns_lane_length(const ns_lane *self) {
    /* relaxed: both change while one looks, which is why it may also seem negative */
    const uint32_t tail = ns_ends_tail(ns_atomic_u64_load(&self->ends, memory_order_relaxed));
    const int64_t length = (int64_t)index_of(self, ns_lane_top(self)) - (int64_t)tail;
    return length > 0 ? (uint64_t)length : 0;
}
