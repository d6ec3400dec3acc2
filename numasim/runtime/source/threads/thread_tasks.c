/* Records of tasks, and what happens at the end of one. */
#include "threads/thread_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "platform/futex.h"
#include "queues/lane.h"
#include "threads/thread_fibers.h"

/* ---- records ----------------------------------------------------------------------------------------------------- */

enum { SLAB_RECORDS = 64 };

static ns_thread_task *new_slab(ns_thread_worker *worker) {
    ns_thread_task *slab = aligned_alloc(NS_LINE_BYTES, SLAB_RECORDS * sizeof *slab);
    if (!slab) return NULL;
    memset(slab, 0, SLAB_RECORDS * sizeof *slab);
    slab[0].parent = worker->slab; /* the first only links it to the others */
    worker->slab = slab;
    for (uint32_t at = 1; at < SLAB_RECORDS; at++) {
        slab[at].base = (ns_task){.worker = &worker->base};
        slab[at].home = &worker->base;
        slab[at].parent = at + 1 < SLAB_RECORDS ? &slab[at + 1] : NULL;
    }
    return &slab[1];
}

void ns_thread_records_free(ns_thread_worker *worker) {
    for (ns_thread_task *slab = worker->slab, *next; slab; slab = next) {
        next = slab->parent;
        free(slab);
    }
}

/* Take over what has come home. */
static ns_thread_task *arrivals(ns_thread_worker *worker) {
    /* acquire: the records as those who sent them left them */
    ns_thread_task *first = ns_atomic_pointer_exchange(&worker->given_back, NULL, memory_order_acquire);
    for (ns_thread_task *each = first; each; each = each->parent) each->base.worker = &worker->base;
    return first;
}

bool ns_thread_records_more(ns_thread_worker *worker) {
    worker->free = arrivals(worker);
    if (!worker->free) worker->free = new_slab(worker);
    return worker->free;
}

/* Give back a record to its home, which is another worker. */
static void send_home(ns_thread_task *record) {
    ns_atomic_pointer *list = &((ns_thread_worker *)record->home)->given_back;
    void *first = ns_atomic_pointer_load(list, memory_order_relaxed); /* relaxed: checked by the swap */
    do record->parent = first;
    while (!ns_atomic_pointer_compare_exchange(list, &first, record, memory_order_release, memory_order_relaxed));
    /* release: the home finds the record as it is now. Only the home takes, and all at once: no ABA */
}

static void free_record(ns_thread_worker *worker, ns_thread_task *record) {
    if (record->home != &worker->base) {
        send_home(record);
    } else {
        record->parent = worker->free;
        worker->free = record;
    }
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* The arguments of a task that has more than fits its record, or that a future waits for. */
typedef struct {
    ns_body *body;
    ns_future *future;
    void *arguments;
    ns_access *accesses; /* of its first segment */
    uint32_t access_count;
} long_task;
_Static_assert(sizeof(long_task) <= NS_INLINED_BYTES, "it fits a record");

static void run_long(ns_task *self, void *whole) {
    const long_task task = *(const long_task *)whole;
    for (uint32_t at = 0; at < task.access_count; at++) ns_thread_touch(self, &task.accesses[at]);
    task.body(self, task.arguments);
    ns_join(self);
    free(task.accesses);
    free(task.arguments);
    /* release: whoever sees that the future is there sees what its task did */
    if (task.future) ns_atomic_u32_store((ns_atomic_u32 *)(void *)&task.future->done, 1, memory_order_release);
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
    made->body = run_long;
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
    return made;
}

/* A root has ended: the run, as far as one knows. */
static void note_end(ns_thread_pool *pool) {
    const uint64_t now_ps = (uint64_t)ns_monotonic_ps();
    uint64_t latest_ps = ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed); /* relaxed: checked by the swap */
    while (latest_ps < now_ps && !ns_atomic_u64_compare_exchange(&pool->ended_ps, &latest_ps, now_ps,
                                                                 memory_order_relaxed, memory_order_relaxed)) {
    } /* relaxed: whoever reads it waits for all workers first */
}

/* The last child of a parent that does not look itself has ended. */
static void resume(ns_thread_worker *worker, ns_thread_task *parent) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->detached) {
        ns_thread_fibers_keep(worker, parent);
    } else {
        /* relaxed: it only counts. The parent may be gone by now: nobody looks into it */
        ns_atomic_u32_fetch_add(&pool->blocked, UINT32_MAX, memory_order_relaxed);
        ns_futex_wake(ns_thread_task_returned(parent), 1);
    }
}

/* Tell the parent that a child has ended on `worker`. */
static void tell_parent(ns_thread_worker *worker, ns_thread_task *parent) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool is_root = parent == &pool->origin;
    if (is_root) note_end(pool);
    if (pool->balances && !is_root) {
        /* acq_rel: what all children did happens before the join, and the last one hands it over */
        const uint32_t before =
            ns_atomic_u32_fetch_add(ns_thread_task_returned(parent), UINT32_MAX, memory_order_acq_rel);
        if (before == 1) resume(worker, parent);
    } else if (!pool->detached && parent->base.worker == &worker->base) {
        parent->pending--;
    } else {
        /* release: what the child did happens before the join */
        ns_atomic_u32_fetch_add(ns_thread_task_returned(parent), 1, memory_order_release);
    }
}

void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self) {
    ns_thread_task *parent = self->parent;
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_lane_slot *slot = pool->plain ? self->slot : NULL;
    const bool is_part = pool->team && parent == &pool->origin; /* of a team: nobody has spawned it */
    worker->base.tasks += !is_part;
    free_record(worker, self);
    if (slot) ns_lane_end(slot);
    if (parent) tell_parent(worker, parent);
}
