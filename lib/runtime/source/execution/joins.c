/* Joins of tasks with records that wait on their worker: it executes other tasks meanwhile, or its thread sleeps. */
#include "execution/dependents.h"
#include "execution/execution.h"
#include "platform/futex.h"
#include "search/search.h"

static bool is_joined(const void *context) { return ns_thread_task_is_joined(context); }

void ns_thread_join_helping(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!task->pending) return; /* no child since the last join */
    const ns_dependences *known = ns_thread_begin_join(task);
    if (!ns_thread_task_is_joined(task)) {
        ns_thread_execution_of(ns_thread_worker_of(task))->wait(self, &(ns_thread_wait){self, is_joined, task});
    }
    ns_thread_task_reset(task);
    ns_thread_end_join(task, known);
}

/* ---- joins that block -------------------------------------------------------------------------------------------- */

/* Whether all children have ended, of a task that sleeps: they have taken away what it has added. */
static bool is_balanced(const void *context) { return ns_thread_task_is_balanced(context); }

/* Sleep until the last child has ended. Where all workers do, none is left to execute the children: the last one
 * helps after all, and the run ends with an error. */
static void sleep_until_joined(ns_thread_task *task) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_atomic_u32 *left = ns_thread_task_returned(task);
    pool->execution->share(worker);
    /* relaxed: it only counts */
    if (ns_atomic_u32_fetch_add(&pool->blocked, 1, memory_order_relaxed) + 1 >= pool->team_size)
        ns_thread_end_quiescent(pool, "all workers wait in joins that block");
    if (ns_thread_is_quiescent(pool)) pool->execution->wait(&task->base, &(ns_thread_wait){NULL, is_balanced, task});
    uint32_t found;
    /* acquire: what the children did */
    while ((found = ns_atomic_u32_load(left, memory_order_acquire))) ns_futex_wait(left, found);
}

void ns_thread_join_blocking(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!task->pending) return; /* no child since the last join */
    const ns_dependences *known = ns_thread_begin_join(task);
    const uint32_t children = task->pending;
    ns_thread_worker *worker = ns_thread_worker_of(task);
    const uint64_t came = ns_ticks();
    task->pending = 0;
    /* acquire: what the children did, if all have ended */
    const uint32_t ended = ns_atomic_u32_fetch_add(ns_thread_task_returned(task), children, memory_order_acquire);
    if (ended + children) sleep_until_joined(task);
    ns_thread_count(worker, NS_PARKED_PS, ns_ticks_to_ps(ns_thread_pool_of(worker)->rate, ns_ticks() - came));
    ns_thread_end_join(task, known);
}

void ns_thread_child_ended_waking(ns_thread_worker *worker, ns_thread_task *parent) {
    ns_atomic_u32 *returned = ns_thread_task_returned(parent);
    /* acq_rel: what all children did happens before the join, and the last one hands it over */
    if (ns_atomic_u32_fetch_add(returned, UINT32_MAX, memory_order_acq_rel) != 1) return;
    /* relaxed: it only counts. The parent may be gone by now: it is not read */
    ns_atomic_u32_fetch_add(&ns_thread_pool_of(worker)->blocked, UINT32_MAX, memory_order_relaxed);
    ns_futex_wake(returned, 1);
}
