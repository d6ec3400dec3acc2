/* Test, then test-and-set: who waits reads a copy of the word until it is free, and only then writes it. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 held;
} ttas_lock;

_Static_assert(offsetof(ttas_lock, held) == NS_LINE_BYTES, "the word that is written is apart from what all read");

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ttas_lock *self = (ttas_lock *)base;
    /* relaxed: only says when to try; acquire: pairs with the release by the last holder */
    return !ns_atomic_u32_load(&self->held, memory_order_relaxed) &&
           !ns_atomic_u32_exchange(&self->held, 1, memory_order_acquire);
}

static void acquire(ns_numa_lock *base, uint32_t node) {
    ns_patience patience = {0};
    while (!try_acquire(base, node)) ns_patience_rest(&patience);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    /* release: what was done under the lock is seen by its next holder */
    ns_atomic_u32_store(&((ttas_lock *)base)->held, 0, memory_order_release);
}

const ns_numa_lock_operations ns_lock_ttas = {
    .name = "ttas", .bytes = sizeof(ttas_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
