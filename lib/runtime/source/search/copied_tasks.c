#include "search/copied_tasks.h"

#include <stdlib.h>

enum { IS_TICKET = 1 }; /* records of tasks are whole lines */

typedef struct {
    ns_thread_task *task;
    ns_atomic_u32 claimed, entries;
} ticket;

static void drop(ticket *self) {
    /* acq_rel: who frees it comes behind all who have looked at it */
    if (ns_atomic_u32_fetch_add(&self->entries, UINT32_MAX, memory_order_acq_rel) == 1) free(self);
}

ns_thread_task *ns_thread_claim(void *entry) {
    if (!((uintptr_t)entry & IS_TICKET)) return entry;
    ticket *of = (ticket *)((uintptr_t)entry - IS_TICKET);
    /* acq_rel: one of them is the first. What the task is, its queue has handed over */
    ns_thread_task *task = ns_atomic_u32_exchange(&of->claimed, 1, memory_order_acq_rel) ? NULL : of->task;
    drop(of);
    return task;
}

bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry)) {
    ticket *made = copies ? malloc(sizeof *made) : NULL;
    if (!made) return push(worker, q, task); /* where memory is short, there is no copy */
    made->task = task;
    /* relaxed: the queues hand it over */
    ns_atomic_u32_store(&made->claimed, 0, memory_order_relaxed);
    ns_atomic_u32_store(&made->entries, copies + 1, memory_order_relaxed);
    void *entry = (void *)((uintptr_t)made + IS_TICKET);
    if (!push(worker, q, entry)) {
        free(made);
        return false;
    }
    for (uint32_t at = 0; at < copies; at++) {
        if (!push(worker, copy[at], entry)) drop(made);
    }
    return true;
}
