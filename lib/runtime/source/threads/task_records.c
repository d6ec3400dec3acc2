/* Records of tasks, which workers allocate in blocks (slabs) and reuse. */
#include "threads/task_records.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "search/search.h"
#include "threads/worker_stack.h"

/* ---- records ----------------------------------------------------------------------------------------------------- */

enum { SLAB_RECORDS = 64 };
_Static_assert(sizeof(ns_task_notes) <= NS_LINE_BYTES && offsetof(ns_noted_task, notes) == NS_LINE_BYTES,
               "a record with its notes is two lines");

static ns_thread_task *new_slab(ns_thread_worker *worker) {
    const size_t lines = ns_thread_pool_of(worker)->notes ? 2 : 1; /* cache lines of a record and its notes */
    ns_thread_task *slab = aligned_alloc(NS_LINE_BYTES, SLAB_RECORDS * lines * sizeof *slab);
    if (!slab) return NULL;
    memset(slab, 0, SLAB_RECORDS * lines * sizeof *slab);
    slab[0].parent = worker->slab; /* the first record of a slab only links the slabs */
    worker->slab = slab;
    for (size_t at = lines; at < SLAB_RECORDS * lines; at += lines) {
        slab[at].base = (ns_task){.worker = &worker->base};
        slab[at].home = &worker->base;
        slab[at].parent = at + lines < SLAB_RECORDS * lines ? &slab[at + lines] : NULL;
    }
    return &slab[lines];
}

void ns_thread_records_destroy(ns_thread_worker *worker) {
    for (ns_thread_task *slab = worker->slab, *next; slab; slab = next) {
        next = slab->parent;
        free(slab);
    }
}

bool ns_thread_records_more(ns_thread_worker *worker) {
    /* take all records that other workers have given back; acquire: sees the records as these workers left them */
    worker->free = ns_atomic_pointer_exchange(&worker->given_back, NULL, memory_order_acquire);
    for (ns_thread_task *each = worker->free; each; each = each->parent) each->base.worker = &worker->base;
    if (!worker->free) worker->free = new_slab(worker);
    return worker->free;
}

void ns_thread_record_free(ns_thread_worker *worker, ns_thread_task *record) {
    if (record->home == &worker->base) {
        record->parent = worker->free;
        worker->free = record;
        return;
    }
    ns_atomic_pointer *list = &((ns_thread_worker *)record->home)->given_back;
    void *first = ns_atomic_pointer_load(list, memory_order_relaxed); /* relaxed: checked by the swap */
    do record->parent = first;
    while (!ns_atomic_pointer_compare_exchange(list, &first, record, memory_order_release, memory_order_relaxed));
    /* release: the home sees the record as it is now. No ABA problem: only its home takes records off, all at once */
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* The arguments of ns_thread_run_long: a task that does not fit its record, or has a future. */
typedef struct {
    ns_body *body;
    ns_future *future;
    void *arguments;
    ns_access *accesses; /* accesses of the task's first segment */
    uint32_t access_count;
} long_task;
_Static_assert(sizeof(long_task) <= NS_INLINED_BYTES, "a long task fits a record");

static void free_long(const long_task *task) {
    free(task->accesses);
    free(task->arguments);
}

void ns_thread_run_long(ns_task *self, void *whole) {
    const long_task task = *(const long_task *)whole;
    for (uint32_t at = 0; at < task.access_count; at++) ns_thread_touch(self, &task.accesses[at]);
    ns_thread_enter_body(self->worker, self, task.body, task.arguments);
    ns_join(self);
    free_long(&task);
    /* release: a thread that sees the future done sees all that the task did */
    if (!task.future) return;
    ns_atomic_u32_store((ns_atomic_u32 *)(void *)&task.future->done, 1, memory_order_release);
    ns_thread_wait_ended((ns_thread_worker *)self->worker, task.future, 1);
}

static bool fill_long(ns_thread_task *made, const ns_work_order *order) {
    const size_t access_bytes = order->access_count * sizeof *order->accesses;
    void *arguments = malloc(order->bytes + 1);
    ns_access *accesses = malloc(access_bytes + 1);
    if (!arguments || !accesses) {
        free(arguments);
        free(accesses);
        return false;
    }
    if (access_bytes) memcpy(accesses, order->accesses, access_bytes);
    if (order->bytes) memcpy(arguments, order->arguments, order->bytes);
    const long_task task = {order->body, order->future, arguments, accesses, order->access_count};
    made->body = ns_thread_run_long;
    memcpy(made->inlined, &task, sizeof task);
    return true;
}

bool ns_thread_task_fill(ns_thread_task *made, const ns_work_order *order) {
    if (!ns_thread_task_is_short(order)) return fill_long(made, order);
    made->body = order->body;
    if (order->bytes) memcpy(made->inlined, order->arguments, order->bytes);
    return true;
}

ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order) {
    if (!worker->free && !ns_thread_records_more(worker)) return NULL;
    ns_thread_task *made = worker->free;
    if (!ns_thread_task_fill(made, order)) return NULL;
    worker->free = made->parent;
    made->base.whole = &made->base;
    made->parent = parent;
    made->slot = NULL;
    if (ns_thread_pool_of(worker)->notes) *ns_thread_notes_of(made) = (ns_task_notes){.row = NS_NO_ROW};
    return made;
}

void ns_thread_task_discard(ns_thread_worker *worker, ns_thread_task *task) {
    if (task->body == ns_thread_run_long) free_long((const long_task *)(const void *)task->inlined);
    ns_thread_record_free(worker, task);
}
