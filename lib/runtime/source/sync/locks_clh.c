/* The CLH lock of Craig (1993) and of Magnusson, Landin and Hagersten (1994). A place is a cache line of the lock that
 * stands for a thread in the queue. A thread appends its place to the queue, and waits until the place before its own
 * is marked as left. A release marks the holder's place as left with one store, whether another thread waits or not.
 *
 * A place is free again as soon as the next thread has seen that the place was left. In the original lock the next
 * thread then keeps the place for its own next turn. Here the next thread gives the place back to the lock, because a
 * lock cannot keep a place for each of its threads, which may end and may be many. Each thread begins its search for a
 * free place at a point of its own, so that it usually finds the place that it had before. With more than PLACES
 * threads, threads get the lock in the order in which they find a place. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

enum { PLACES_LOG_2 = 6, PLACES = 1 << PLACES_LOG_2 };
enum state { FREE, TAKEN, LEFT };

typedef struct {
    NS_OWN_LINE ns_atomic_u32 state; /* enum state; read by the next thread */
} place;

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_pointer tail; /* the last place in the queue; NULL: no thread has used the lock */
    NS_OWN_LINE place *held;            /* the holder's place; only holders use this field */
    place places[PLACES];
} clh_lock;

_Static_assert(offsetof(clh_lock, tail) == NS_LINE_BYTES, "new threads do not disturb what all read");
_Static_assert(sizeof(place) == NS_LINE_BYTES, "each thread waits on a line that one other thread writes");

/* Return the index at which this thread begins its search for a free place. Threads have different stacks, so usually
 * different indices. The product with 2^64 over the golden ratio spreads the addresses of stacks (Knuth, volume 3,
 * section 6.4). */
static uint32_t first_place(void) {
    const char here = 0;
    return (uint32_t)(((uint64_t)(uintptr_t)&here >> 16) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - PLACES_LOG_2));
}

/* Find a free place, and mark the place as taken. Wait while no place is free. */
static place *take_place(clh_lock *self) {
    ns_patience patience = {0};
    for (uint32_t at = first_place(), seen = 1;; at++, seen++) {
        place *one = &self->places[at % PLACES];
        uint32_t state = FREE;
        /* relaxed, twice: the state guards no other memory; the swap of the tail publishes that the place is taken */
        if (ns_atomic_u32_load(&one->state, memory_order_relaxed) == FREE &&
            ns_atomic_u32_compare_exchange(&one->state, &state, TAKEN, memory_order_relaxed, memory_order_relaxed))
            return one;
        if (seen % PLACES == 0) ns_patience_rest(&patience); /* rest until a waiting thread gets the lock */
    }
}

/* Wait until the place `before` is left. Then the thread of `mine`, the next place, has the lock. */
static inline void follow(clh_lock *self, place *before, place *mine) {
    if (before) {
        ns_wait_for(&before->state, LEFT); /* acquires what the last holder did */
        /* relaxed: no other thread reads the place any more; a thread that takes the place needs only this word */
        ns_atomic_u32_store(&before->state, FREE, memory_order_relaxed);
    }
    self->held = mine;
}

static void acquire(ns_numa_lock *base, uint32_t node) {
    clh_lock *self = (clh_lock *)base;
    place *mine = take_place(self);
    /* release: the thread behind sees that `mine` is TAKEN, not the LEFT of an earlier use of the place. acquire: this
     * thread sees in the same way that `before` is TAKEN, or LEFT by its holder */
    place *before = ns_atomic_pointer_exchange(&self->tail, mine, memory_order_acq_rel);
    follow(self, before, mine);
}

/* Try to take the lock. The lock is free if the last place of the queue is LEFT. If other threads use the lock between
 * this check and the swap, the swap fails, unless the last of these threads has taken the same place again, `before`:
 * then this thread waits until that thread leaves the place. */
static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    clh_lock *self = (clh_lock *)base;
    place *before = ns_atomic_pointer_load(&self->tail, memory_order_acquire); /* sees the state of `before` */
    /* relaxed: the load only decides whether to try */
    if (before && ns_atomic_u32_load(&before->state, memory_order_relaxed) != LEFT) return false;
    place *mine = take_place(self);
    void *tail = before;
    const bool swapped = ns_atomic_pointer_compare_exchange(&self->tail, &tail, mine, memory_order_acq_rel,
                                                            memory_order_relaxed); /* as in acquire */
    if (swapped)
        follow(self, before, mine);
    else
        ns_atomic_u32_store(&mine->state, FREE, memory_order_relaxed); /* relaxed: as in take_place */
    return swapped;
}

static void release(ns_numa_lock *base, uint32_t node) {
    /* release: the next holder sees all that was done under the lock */
    ns_atomic_u32_store(&((clh_lock *)base)->held->state, LEFT, memory_order_release);
}

NS_DEFINE_LOCK_KIND(clh, clh_lock, acquire, try_acquire, release);
