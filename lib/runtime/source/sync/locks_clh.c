/* The queue lock of Craig (1993) and of Magnusson, Landin and Hagersten (1994): who comes puts a place behind the last
 * one, and waits until the place before it is left; its holder leaves it with one store, whether anybody waits or not.
 *
 * A place is free again as soon as whoever came behind it has seen that it was left. In the original that one keeps it
 * for the next time. Here it gives it back to the lock, since a lock does not know its threads, which may end, and be
 * as many as they like; threads look for a free place from a point of their own on, so that each usually finds places
 * that it had before. Beyond PLACES threads the order of arrival is that of finding a place. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

enum { PLACES_LOG_2 = 6, PLACES = 1 << PLACES_LOG_2 };
enum state { FREE, TAKEN, LEFT };

typedef struct {
    NS_OWN_LINE ns_atomic_u32 state; /* enum state; who comes behind reads it */
} place;

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_pointer tail; /* the last place; NULL: nobody has come yet */
    NS_OWN_LINE place *held;            /* the holder's, and read and written by holders alone */
    place places[PLACES];
} clh_lock;

_Static_assert(offsetof(clh_lock, tail) == NS_LINE_BYTES, "who comes does not disturb what all read");
_Static_assert(sizeof(place) == NS_LINE_BYTES, "each waits on a line that only one other writes");

/* Where this thread begins to look for a free place: threads have stacks of their own, so usually not where others do.
 * The product with 2^64 over the golden ratio spreads stacks at any distance (Knuth, volume 3, section 6.4). */
static uint32_t first_place(void) {
    const char here = 0;
    return (uint32_t)(((uint64_t)(uintptr_t)&here >> 16) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - PLACES_LOG_2));
}

static place *take_place(clh_lock *self) {
    ns_patience patience = {0};
    for (uint32_t at = first_place(), seen = 1;; at++, seen++) {
        place *one = &self->places[at % PLACES];
        uint32_t state = FREE;
        /* relaxed, twice: a place hands over nothing but itself; that it is taken is seen through the tail */
        if (ns_atomic_u32_load(&one->state, memory_order_relaxed) == FREE &&
            ns_atomic_u32_compare_exchange(&one->state, &state, TAKEN, memory_order_relaxed, memory_order_relaxed))
            return one;
        if (seen % PLACES == 0) ns_patience_rest(&patience); /* until one of those that wait has the lock */
    }
}

/* The lock is that of `mine`, which is behind `before`, once that was left. */
static inline void follow(clh_lock *self, place *before, place *mine) {
    if (before) {
        ns_wait_for(&before->state, LEFT); /* acquires what the last holder did */
        /* relaxed: nobody else reads it any more, and who takes it needs no more than to know that it is free */
        ns_atomic_u32_store(&before->state, FREE, memory_order_relaxed);
    }
    self->held = mine;
}

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    clh_lock *self = (clh_lock *)base;
    place *mine = take_place(self);
    /* release: who comes next sees that the place is taken, not that it was left long ago; acquire: likewise here */
    place *before = ns_atomic_pointer_exchange(&self->tail, mine, memory_order_acq_rel);
    follow(self, before, mine);
}

/* Nobody has the lock where the last place was left. Between that look and the swap others may have had the lock, and
 * the last of them the same place again: that one, and nobody else, is waited for. */
static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    clh_lock *self = (clh_lock *)base;
    place *before = ns_atomic_pointer_load(&self->tail, memory_order_acquire); /* as above */
    /* relaxed: only says when to try */
    if (before && ns_atomic_u32_load(&before->state, memory_order_relaxed) != LEFT) return false;
    place *mine = take_place(self);
    void *tail = before;
    const bool swapped = ns_atomic_pointer_compare_exchange(&self->tail, &tail, mine, memory_order_acq_rel,
                                                            memory_order_relaxed); /* as above */
    if (swapped)
        follow(self, before, mine);
    else
        ns_atomic_u32_store(&mine->state, FREE, memory_order_relaxed); /* relaxed: as in take_place */
    return swapped;
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    /* release: what was done under the lock is seen by its next holder */
    ns_atomic_u32_store(&((clh_lock *)base)->held->state, LEFT, memory_order_release);
}

const ns_numa_lock_operations ns_lock_clh = {
    .name = "clh", .bytes = sizeof(clh_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
