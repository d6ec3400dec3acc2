#include <stddef.h>

#include "platform/waiting.h"
#include "sync/numa_locks.h"

enum { GRANTED, WAITS, SLEEPS }; /* values of ns_mcs_place.waits */
static const uint32_t AWAKE = UINT32_MAX;

/* Wait for the place behind `place`, which another thread is about to link. Return the place behind. */
static ns_mcs_place *await_next(ns_mcs_place *place) {
    ns_patience patience = {0};
    ns_mcs_place *next;
    /* acquire: sees the next place as it was when its thread linked it */
    while (!(next = ns_atomic_pointer_load(&place->next, memory_order_acquire))) ns_patience_rest(&patience);
    return next;
}

/* Replace `mine`, which has the lock and is on the stack, by the place inside the lock. */
static void move_in(ns_mcs *self, ns_mcs_place *mine) {
    ns_mcs_place *next = ns_atomic_pointer_load(&mine->next, memory_order_acquire); /* as above */
    /* relaxed: a thread that links its place behind the holder has seen the tail below; otherwise only holders write */
    ns_atomic_pointer_store(&self->holder.next, next, memory_order_relaxed);
    if (next) return;
    void *tail = mine;
    /* release: the next thread links its place after the store above, never before */
    if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, &self->holder, memory_order_acq_rel,
                                           memory_order_relaxed))
        return;
    ns_atomic_pointer_store(&self->holder.next, await_next(mine), memory_order_relaxed);
}

/* Wait for the lock. After `looks` looks the thread sleeps (AWAKE: never). */
static void await_turn(ns_mcs_place *mine, uint32_t looks) {
    uint32_t waits = WAITS;
    if (looks == AWAKE) {
        ns_wait_for(&mine->waits, GRANTED);
        return;
    }
    /* acquire, three times: pairs with the release by the last holder */
    for (; looks; looks--) {
        if (ns_atomic_u32_load(&mine->waits, memory_order_acquire) == GRANTED) return;
        ns_pause();
    }
    if (!ns_atomic_u32_compare_exchange(&mine->waits, &waits, SLEEPS, memory_order_acquire, memory_order_acquire))
        return;
    while (ns_atomic_u32_load(&mine->waits, memory_order_acquire) == SLEEPS) ns_futex_wait(&mine->waits, SLEEPS);
}

static void queue_up(ns_mcs *self, uint32_t looks) {
    ns_mcs_place mine;
    /* relaxed: no other thread knows the place until the swap of the tail */
    ns_atomic_pointer_store(&mine.next, NULL, memory_order_relaxed);
    ns_atomic_u32_store(&mine.waits, WAITS, memory_order_relaxed);
    /* release: other threads see the place as it is now. acquire: the lock may have become free, and the place before
     * is written below */
    ns_mcs_place *before = ns_atomic_pointer_exchange(&self->tail, &mine, memory_order_acq_rel);
    if (before) {
        ns_atomic_pointer_store(&before->next, &mine, memory_order_release); /* pairs with await_next */
        await_turn(&mine, looks);
    }
    move_in(self, &mine);
}

bool ns_mcs_try_acquire(ns_mcs *self) {
    void *tail = NULL;
    /* acquire: pairs with the release by the last holder; release: the place inside the lock is empty again */
    return ns_atomic_pointer_compare_exchange(&self->tail, &tail, &self->holder, memory_order_acq_rel,
                                              memory_order_relaxed);
}

void ns_mcs_acquire(ns_mcs *self) {
    if (!ns_mcs_try_acquire(self)) queue_up(self, AWAKE);
}

/* Let the queue forget the holder. Return the place of the next thread, which has the lock now but still waits; NULL if
 * the lock is free. */
static ns_mcs_place *leave(ns_mcs *self) {
    ns_mcs_place *next = ns_atomic_pointer_load(&self->holder.next, memory_order_acquire); /* as in await_next */
    if (!next) {
        void *tail = &self->holder;
        /* release: the next holder sees all that was done under the lock */
        if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, NULL, memory_order_release, memory_order_relaxed))
            return NULL;
        next = await_next(&self->holder);
    }
    return next;
}

/* The place of the next thread may be gone after the store to its `waits`. */
void ns_mcs_release(ns_mcs *self) {
    ns_mcs_place *next = leave(self);
    if (next) ns_atomic_u32_store(&next->waits, GRANTED, memory_order_release); /* release: as in leave */
}

bool ns_mcs_wanted(const ns_mcs *self) {
    /* relaxed: a thread that is not seen yet just comes a little later */
    return ns_atomic_pointer_load(&self->tail, memory_order_relaxed) != (const void *)&self->holder;
}

/* ---- the operations as kinds of locks: mcs, and mutex, whose waiters look several times and then sleep ----------- */

typedef struct {
    ns_numa_lock base;
    ns_mcs queue;
} mcs_lock;

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ns_mcs_acquire(&((mcs_lock *)base)->queue);
}

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    return ns_mcs_try_acquire(&((mcs_lock *)base)->queue);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ns_mcs_release(&((mcs_lock *)base)->queue);
}

const ns_numa_lock_operations ns_lock_mcs = {
    .name = "mcs", .bytes = sizeof(mcs_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};

static void acquire_mutex(ns_numa_lock *base, uint32_t node) {
    if (!try_acquire(base, node)) queue_up(&((mcs_lock *)base)->queue, base->options.spins);
}

static void release_mutex(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ns_mcs_place *next = leave(&((mcs_lock *)base)->queue);
    /* release: as in leave */
    if (next && ns_atomic_u32_exchange(&next->waits, GRANTED, memory_order_release) == SLEEPS)
        ns_futex_wake(&next->waits, 1);
}

const ns_numa_lock_operations ns_lock_mutex = {.name = "mutex",
                                               .bytes = sizeof(mcs_lock),
                                               .acquire = acquire_mutex,
                                               .try_acquire = try_acquire,
                                               .release = release_mutex};
