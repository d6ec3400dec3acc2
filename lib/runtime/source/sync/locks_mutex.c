/* A lock for waits that may be long: who does not get it after some looks sleeps until it is released. */
#include "platform/futex.h"
#include "platform/waiting.h"
#include "sync/numa_locks.h"

enum state { FREE, HELD, HELD_AND_WANTED };

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 state; /* enum state */
} mutex_lock;

_Static_assert(offsetof(mutex_lock, state) == NS_LINE_BYTES, "the word that is written is apart from what all read");

static bool take(mutex_lock *self) {
    uint32_t found = FREE;
    /* acquire: pairs with the release by the last holder */
    return ns_atomic_u32_compare_exchange(&self->state, &found, HELD, memory_order_acquire, memory_order_relaxed);
}

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    mutex_lock *self = (mutex_lock *)base;
    if (take(self)) return;
    for (uint32_t look = 0; look < base->options.spins; look++) {
        ns_pause();
        /* relaxed: only says when to try */
        if (ns_atomic_u32_load(&self->state, memory_order_relaxed) == FREE && take(self)) return;
    }
    /* Others may sleep, too, so that who gets the lock here has to wake one when it is done. acquire: as in take() */
    while (ns_atomic_u32_exchange(&self->state, HELD_AND_WANTED, memory_order_acquire) != FREE)
        ns_futex_wait(&self->state, HELD_AND_WANTED);
}

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    return take((mutex_lock *)base);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    mutex_lock *self = (mutex_lock *)base;
    /* release: what was done under the lock is seen by its next holder */
    if (ns_atomic_u32_exchange(&self->state, FREE, memory_order_release) == HELD_AND_WANTED)
        ns_futex_wake(&self->state, 1);
}

const ns_numa_lock_operations ns_lock_mutex = {
    .name = "mutex", .bytes = sizeof(mutex_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
