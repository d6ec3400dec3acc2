#include "sync/mcs.h"

#include <stddef.h>

#include "platform/waiting.h"

/* The place behind `place`, which is known to come. */
static ns_mcs_place *await_next(ns_mcs_place *place) {
    ns_patience patience = {0};
    ns_mcs_place *next;
    /* acquire: the next place is seen as it was when it was linked */
    while (!(next = ns_atomic_pointer_load(&place->next, memory_order_acquire))) ns_patience_rest(&patience);
    return next;
}

/* The lock is that of `mine`: let the place in the lock stand for it, so that the stack can go. */
static void move_in(ns_mcs *self, ns_mcs_place *mine) {
    ns_mcs_place *next = ns_atomic_pointer_load(&mine->next, memory_order_acquire); /* as above */
    /* relaxed: whoever links itself behind the holder has seen the tail below; else only holders write it */
    ns_atomic_pointer_store(&self->holder.next, next, memory_order_relaxed);
    if (next) return;
    void *tail = mine;
    /* release: who comes next links itself after the store above, not before */
    if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, &self->holder, memory_order_acq_rel,
                                           memory_order_relaxed))
        return;
    ns_atomic_pointer_store(&self->holder.next, await_next(mine), memory_order_relaxed);
}

static void queue_up(ns_mcs *self) {
    ns_mcs_place mine;
    /* relaxed: nobody knows the place before it is the tail */
    ns_atomic_pointer_store(&mine.next, NULL, memory_order_relaxed);
    ns_atomic_u32_store(&mine.waits, 1, memory_order_relaxed);
    /* release: the place is seen as it is now; acquire: the lock may have become free, and the place before is written
     */
    ns_mcs_place *before = ns_atomic_pointer_exchange(&self->tail, &mine, memory_order_acq_rel);
    if (before) {
        ns_atomic_pointer_store(&before->next, &mine, memory_order_release); /* pairs with await_next */
        ns_wait_for(&mine.waits, 0);
    }
    move_in(self, &mine);
}

bool ns_mcs_try_acquire(ns_mcs *self) {
    void *tail = NULL;
    /* acquire: pairs with the release by the last holder; release: the place in the lock is empty again */
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
        /* release: what was done under the lock is seen by its next holder */
        if (ns_atomic_pointer_compare_exchange(&self->tail, &tail, NULL, memory_order_release, memory_order_relaxed))
            return;
        next = await_next(&self->holder);
    }
    ns_atomic_u32_store(&next->waits, 0, memory_order_release); /* as above; the place may be gone after this */
}

bool ns_mcs_wanted(const ns_mcs *self) {
    /* relaxed: who is not seen yet just comes a little later */
    return ns_atomic_pointer_load(&self->tail, memory_order_relaxed) != (const void *)&self->holder;
}
