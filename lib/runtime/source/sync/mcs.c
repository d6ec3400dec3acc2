#include <stddef.h>

#include "platform/waiting.h"
#include "sync/numa_locks.h"

/* Wait for the place behind `place`, which another thread is about to link. Return the place behind. */
static ns_mcs_place *await_next(ns_mcs_place *place) {
    ns_patience patience = {0};
    ns_mcs_place *next;
    /* acquire: sees the next place as it was when its thread linked it */
    while (!(next = ns_atomic_pointer_load(&place->next, memory_order_acquire))) ns_patience_rest(&patience);
    return next;
}

/* Replace `mine`, the holder's place on the stack, by the place `holder` inside the lock. */
static void move_in(ns_mcs *self, ns_mcs_place *mine) {
    ns_mcs_place *next = ns_atomic_pointer_load(&mine->next, memory_order_acquire); /* as in await_next */
    /* relaxed: other threads write this word only after they see the tail that is stored below */
    ns_atomic_pointer_store(&self->holder.next, next, memory_order_relaxed);
    if (next) return;
    void *tail = mine;
    /* release: the next thread links its place after the store above, never before */
    if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, &self->holder, memory_order_acq_rel,
                                           memory_order_relaxed))
        return;
    ns_atomic_pointer_store(&self->holder.next, await_next(mine), memory_order_relaxed);
}

static void queue_up(ns_mcs *self) {
    ns_mcs_place mine;
    /* relaxed: no other thread knows the place until the swap of the tail */
    ns_atomic_pointer_store(&mine.next, NULL, memory_order_relaxed);
    ns_atomic_u32_store(&mine.waits, 1, memory_order_relaxed);
    /* release: other threads see `mine` as it is now. acquire: if the lock is free, this thread sees what the last
     * holder did; otherwise `before` can be written below */
    ns_mcs_place *before = ns_atomic_pointer_exchange(&self->tail, &mine, memory_order_acq_rel);
    if (before) {
        ns_atomic_pointer_store(&before->next, &mine, memory_order_release); /* pairs with await_next */
        ns_wait_for(&mine.waits, 0);
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
    if (!ns_mcs_try_acquire(self)) queue_up(self);
}

void ns_mcs_release(ns_mcs *self) {
    ns_mcs_place *next = ns_atomic_pointer_load(&self->holder.next, memory_order_acquire); /* as in await_next */
    if (!next) {
        void *tail = &self->holder;
        /* release: the next holder sees all that was done under the lock */
        if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, NULL, memory_order_release, memory_order_relaxed))
            return;
        next = await_next(&self->holder);
    }
    ns_atomic_u32_store(&next->waits, 0, memory_order_release); /* release: as for the tail; `next` may be freed now */
}

bool ns_mcs_wanted(const ns_mcs *self) {
    /* relaxed: a thread that is missed counts as one that comes a little later */
    return ns_atomic_pointer_load(&self->tail, memory_order_relaxed) != (const void *)&self->holder;
}

/* ---- the operations as a kind of lock ---------------------------------------------------------------------------- */

typedef struct {
    ns_numa_lock base;
    ns_mcs queue;
} mcs_lock;

static void acquire(ns_numa_lock *base, uint32_t node) { ns_mcs_acquire(&((mcs_lock *)base)->queue); }

static bool try_acquire(ns_numa_lock *base, uint32_t node) { return ns_mcs_try_acquire(&((mcs_lock *)base)->queue); }

static void release(ns_numa_lock *base, uint32_t node) { ns_mcs_release(&((mcs_lock *)base)->queue); }

NS_DEFINE_LOCK_KIND(mcs, mcs_lock, acquire, try_acquire, release);
