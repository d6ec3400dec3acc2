#include "queues/split.h"

uint64_t ns_split_publish_half(ns_atomic_u64 *ends, uint32_t top) {
    /* acquire: the thief that moved the tail has finished reading the slot, which may now be written */
    uint64_t seen = ns_atomic_u64_load(ends, memory_order_acquire);
    const uint32_t tail = ns_ends_tail(seen), split = ns_ends_split(seen), held = top - split;
    if (tail == split && held) {
        seen = ns_ends_of(tail, split + (held + UINT64_C(1)) / 2);
        /* release: a thief that sees the split sees the slots and tasks below it; a plain store suffices: split.h */
        ns_atomic_u64_store(ends, seen, memory_order_release);
    }
    return seen;
}

uint64_t ns_split_publish_all(ns_atomic_u64 *ends, uint32_t top) {
    uint64_t seen = ns_atomic_u64_load(ends, memory_order_acquire); /* acquire, release: as in publish_half */
    while (!ns_atomic_u64_compare_exchange(ends, &seen, ns_ends_of(ns_ends_tail(seen), top), memory_order_release,
                                           memory_order_acquire)) {
    }
    return ns_ends_of(ns_ends_tail(seen), top);
}

bool ns_split_take_back(ns_atomic_u64 *ends, uint64_t seen, uint32_t count) {
    const uint64_t kept = ns_ends_of(ns_ends_tail(seen), ns_ends_split(seen) - count);
    /* relaxed: no other thread has written the slots; a thief's swap that expects the old split fails */
    return ns_atomic_u64_compare_exchange(ends, &seen, kept, memory_order_relaxed, memory_order_relaxed);
}

void ns_split_set_limits(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit, uint64_t ends, uint64_t full,
                         uint64_t split) {
    const bool empty = ns_ends_tail(ends) == ns_ends_split(ends);
    /* relaxed: a thief's simultaneous request may be lost; the thief asks again */
    ns_atomic_u64_store(push_limit, empty ? 0 : full, memory_order_relaxed);
    ns_atomic_u64_store(pop_limit, split, memory_order_relaxed);
}

void ns_split_ask(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit) {
    /* relaxed: only the request itself matters. A thief that finds a request does not write the owner's cache line */
    if (ns_atomic_u64_load(push_limit, memory_order_relaxed)) ns_atomic_u64_store(push_limit, 0, memory_order_relaxed);
    if (ns_atomic_u64_load(pop_limit, memory_order_relaxed) != UINT64_MAX)
        ns_atomic_u64_store(pop_limit, UINT64_MAX, memory_order_relaxed);
}
