#include "queues/lane.h"

#include "platform/near_memory.h"
#include "queues/split.h"

static uint32_t index_of(const ns_lane *self, const ns_lane_slot *slot) { return (uint32_t)(slot - self->slots); }

static void set_top(ns_lane *self, const ns_lane_slot *slot) {
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)slot, memory_order_relaxed); /* as in a push */
}

/* Store the split of `ends`, and set the limits at which the owner's pushes and pops take slow paths. */
static void adopt_ends(ns_lane *self, uint64_t ends) {
    self->split = ns_ends_split(ends);
    ns_split_set_limits(ns_lane_atomic(&self->owned->push_limit), ns_lane_atomic(&self->owned->pop_limit), ends,
                        (uintptr_t)(self->slots + self->capacity), (uintptr_t)(self->slots + self->split));
}

int ns_lane_create(ns_lane *self, ns_lane_owned *owned, uint32_t capacity) {
    *self = (ns_lane){.owned = owned, .capacity = capacity};
    /* The owner touches the memory first. One more slot, for a task that is written before the lane is found full. */
    self->slots = ns_near_memory_allocate((capacity + (size_t)1) * sizeof *self->slots, -1);
    if (!self->slots) return NS_ERROR_MEMORY;
    set_top(self, self->slots);
    adopt_ends(self, 0);
    return NS_OK;
}

void ns_lane_destroy(ns_lane *self) {
    if (self->slots) ns_near_memory_free(self->slots, (self->capacity + (size_t)1) * sizeof *self->slots);
    self->slots = NULL;
}

/* ---- the owner --------------------------------------------------------------------------------------------------- */

static void publish_half(ns_lane *self) {
    adopt_ends(self, ns_split_publish_half(&self->ends, index_of(self, ns_lane_top(self->owned))));
}

void ns_lane_publish(ns_lane *self) {
    adopt_ends(self, ns_split_publish_all(&self->ends, index_of(self, ns_lane_top(self->owned))));
}

bool ns_lane_push_written(ns_lane *self) {
    ns_lane_slot *slot = ns_lane_top(self->owned);
    if (index_of(self, slot) == self->capacity) return false;
    set_top(self, slot + 1);
    publish_half(self);
    return true;
}

ns_lane_slot *ns_lane_pop_slowly(ns_lane *self) {
    ns_lane_slot *slot = ns_lane_top(self->owned) - 1;
    while (index_of(self, slot) + 1 == self->split) {
        /* relaxed: no access to a slot depends on the tail */
        const uint64_t ends = ns_atomic_u64_load(&self->ends, memory_order_relaxed);
        const uint32_t left = ns_ends_split(ends) - ns_ends_tail(ends), half = (left + 1) / 2;
        if (!left) {
            adopt_ends(self, ends);
            return NULL;
        }
        if (ns_split_take_back(&self->ends, ends, half)) self->split -= half;
    }
    set_top(self, slot);
    publish_half(self);
    return slot;
}

void ns_lane_join_stolen(ns_lane *self) {
    ns_lane_slot *slot = ns_lane_top(self->owned) - 1;
    /* relaxed: an earlier load has already seen the end of the task */
    const uint64_t ended = ns_atomic_u64_load(ns_lane_atomic(&slot->ended), memory_order_relaxed);
    void *place;
    memcpy(&place, slot->arguments, sizeof place);
    if (ended > 1) memcpy(place, slot->arguments + NS_RESULT_AT, ended - 1);
    /* relaxed: only a thief of the slot's next task writes here again, after it has seen the release of the split */
    ns_atomic_u64_store(ns_lane_atomic(&slot->ended), 0, memory_order_relaxed);
    set_top(self, slot);
    const uint64_t ends = ns_ends_of(index_of(self, slot), index_of(self, slot));
    /* relaxed: no task is public. A plain store suffices: see split.h */
    ns_atomic_u64_store(&self->ends, ends, memory_order_relaxed);
    adopt_ends(self, ends);
}

bool ns_lane_has_ended(const ns_lane_slot *slot) {
    /* acquire: sees all that the task did */
    return ns_atomic_u64_load(ns_lane_atomic(&slot->ended), memory_order_acquire);
}

/* ---- thieves ----------------------------------------------------------------------------------------------------- */

ns_lane_slot *ns_lane_steal(ns_lane *self) {
    uint64_t ends =
        ns_atomic_u64_load(&self->ends, memory_order_relaxed); /* relaxed: no slot is read before the swap */
    const uint32_t tail = ns_ends_tail(ends), split = ns_ends_split(ends);
    if (tail == split) {
        if (ns_lane_length(self))
            ns_split_ask(ns_lane_atomic(&self->owned->push_limit), ns_lane_atomic(&self->owned->pop_limit));
        return NULL;
    }
    /* acquire: sees the slots below the split as the owner published them */
    if (!ns_atomic_u64_compare_exchange(&self->ends, &ends, ns_ends_of(tail + 1, split), memory_order_acquire,
                                        memory_order_relaxed))
        return NULL;
    if (tail + 1 == split)
        ns_split_ask(ns_lane_atomic(&self->owned->push_limit), ns_lane_atomic(&self->owned->pop_limit));
    return &self->slots[tail];
}

void ns_lane_copy_arguments(const ns_lane_slot *slot, char *arguments) {
    /* relaxed: the owner may write the address for a typed result meanwhile, which only the owner reads */
    const uint64_t first =
        ns_atomic_u64_load(ns_lane_atomic((const ns_lane_word *)(const void *)slot->arguments), memory_order_relaxed);
    memcpy(arguments, &first, sizeof first);
    memcpy(arguments + NS_RESULT_AT, slot->arguments + NS_RESULT_AT, NS_RESULT_BYTES);
}

void ns_lane_end(ns_lane_slot *slot, const char *arguments, uint32_t returned) {
    if (returned) memcpy(slot->arguments + NS_RESULT_AT, arguments + NS_RESULT_AT, returned);
    /* release: the join sees all that the task did; and the slot is read before the owner writes it again */
    ns_atomic_u64_store(ns_lane_atomic(&slot->ended), UINT64_C(1) + returned, memory_order_release);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

uint64_t ns_lane_length(const ns_lane *self) {
    /* relaxed: both words may change between the two loads, so the difference may be negative */
    const uint32_t tail = ns_ends_tail(ns_atomic_u64_load(&self->ends, memory_order_relaxed));
    const int64_t length = (int64_t)index_of(self, ns_lane_top(self->owned)) - (int64_t)tail;
    return length > 0 ? (uint64_t)length : 0;
}
