/* Test-and-set: everybody who wants the lock writes its word until it finds it free. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 held;
} tas_lock;

_Static_assert(offsetof(tas_lock, held) == NS_LINE_BYTES, "the word that is written is apart from what all read");

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    tas_lock *self = (tas_lock *)base;
    ns_patience patience = {0};
    /* acquire: pairs with the release by the last holder */
    while (ns_atomic_u32_exchange(&self->held, 1, memory_order_acquire)) ns_patience_rest(&patience);
}

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    /* acquire: as above */
    return !ns_atomic_u32_exchange(&((tas_lock *)base)->held, 1, memory_order_acquire);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    /* release: what was done under the lock is seen by its next holder */
    ns_atomic_u32_store(&((tas_lock *)base)->held, 0, memory_order_release);
}

const ns_numa_lock_operations ns_lock_tas = {
    .name = "tas", .bytes = sizeof(tas_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
