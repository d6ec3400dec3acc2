/* Ticket lock: who comes draws a number, and waits until it is served. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 drawn; /* numbers wrap: fewer than 2^32 wait */
    NS_OWN_LINE ns_atomic_u32 served;
} ticket_lock;

_Static_assert(offsetof(ticket_lock, drawn) == NS_LINE_BYTES, "drawing does not disturb what all read");
_Static_assert(offsetof(ticket_lock, served) == 2 * NS_LINE_BYTES, "drawing does not disturb those that wait");

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ticket_lock *self = (ticket_lock *)base;
    /* relaxed: only the number counts; what the lock protects is handed over through `served` */
    ns_wait_for(&self->served, ns_atomic_u32_fetch_add(&self->drawn, 1, memory_order_relaxed));
}

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ticket_lock *self = (ticket_lock *)base;
    /* acquire: pairs with the release by the last holder; relaxed: as above */
    const uint32_t served = ns_atomic_u32_load(&self->served, memory_order_acquire);
    uint32_t drawn = served; /* where nobody has the lock, or waits */
    return ns_atomic_u32_compare_exchange(&self->drawn, &drawn, served + 1, memory_order_relaxed, memory_order_relaxed);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ticket_lock *self = (ticket_lock *)base;
    /* relaxed: only the holder writes it; release: what was done under the lock is seen by the next */
    const uint32_t mine = ns_atomic_u32_load(&self->served, memory_order_relaxed);
    ns_atomic_u32_store(&self->served, mine + 1, memory_order_release);
}

const ns_numa_lock_operations ns_lock_ticket = {
    .name = "ticket", .bytes = sizeof(ticket_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
