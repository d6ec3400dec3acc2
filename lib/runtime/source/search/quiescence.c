/* Detecting that no worker can find work although tasks are left, because the strategy and the joins let no worker have
 * them: the run then ends with an error instead of never.
 *
 * A worker whose searches have long been in vain looks whether it could find a task if all others did nothing. If not,
 * it announces that, with the number of searches that were begun or ended before it looked. The pool is quiescent where
 * each worker has announced so for the same number, or sleeps in a join: then no task has been taken or pushed since
 * the first of them looked. Who takes a task withdraws its announcement first.
 */
#include "search/search.h"

void ns_thread_withdraw_no_work(ns_thread_worker *worker) {
    /* seq_cst: who takes a task has not announced that there is none */
    ns_atomic_u64_store(&worker->no_work, 0, memory_order_seq_cst);
}

void ns_thread_note_search(ns_thread_pool *pool) {
    /* seq_cst: a worker that reads the new number sees what was done before, and looks anew */
    if (pool->can_be_quiescent) ns_atomic_u64_fetch_add(&pool->searches, 1, memory_order_seq_cst);
}

/* ---- whether there is work --------------------------------------------------------------------------------------- */

/* Look at the task at one end of a queue without taking it. */
typedef struct {
    const ns_thread_task *waiting;
    bool suits;
} peek;

static bool peek_at(void *context, void *task) {
    peek *self = context;
    self->suits = ns_thread_descends(self->waiting, task);
    return false;
}

/* For whom `has_tasks` asks. */
typedef struct {
    const ns_thread_pool *pool;
    const ns_thread_task *waiting; /* in a strict join, or NULL */
} work_query;

/* Whether the queue has anything that the worker may execute. */
static bool has_tasks(void *context, uint32_t level, uint32_t q) {
    const work_query *self = context;
    const ns_plan *plan = &self->pool->tables.steal;
    if (ns_task_queue_length(self->pool->queues[q]) == 0) return false;
    if (!self->waiting) return true;
    const bool attempt = (plan->level[level].flags & NS_FLAG_ATTEMPT) != 0;
    const uint8_t end = attempt ? plan->queues[q].steal_end : plan->queues[q].own_end;
    peek found = {self->waiting, false};
    ns_task_queue_take(self->pool->queues[q], false, (enum ns_queue_end)end, peek_at, &found);
    return found.suits;
}

/* Whether the worker could find a task if all others did nothing. */
static bool finds_work(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    work_query query = {pool, ns_thread_strict_join(pool, wait)};
    const bool has_own = worker->own != NS_UNKNOWN && ns_task_queue_length(pool->queues[worker->own]);
    if (!query.waiting && has_own) return true;
    if (wait->task && pool->tables.join == NS_JOIN_OWN) return false;
    ns_thread_view_queues(worker, wait);
    ns_thread_search *search = &worker->search;
    return ns_any_within_reach(&pool->tables.steal, &search->actor, &search->view, has_tasks, &query);
}

/* ---- announcements ----------------------------------------------------------------------------------------------- */

/* Whether all workers have announced with that stamp, or sleep. */
static bool have_all_announced(const ns_thread_pool *pool, uint64_t stamp) {
    /* acquire: in no other order than it was written in */
    uint32_t without_work = ns_atomic_u32_load(&pool->blocked, memory_order_acquire);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        without_work += ns_atomic_u64_load(&pool->worker[id]->no_work, memory_order_acquire) == stamp;
    }
    return without_work >= pool->team_size;
}

void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why) {
    ns_thread_pool_note(pool, NS_ERROR_DEADLOCK, why);
    ns_atomic_u32_store(&pool->quiescent, 1, memory_order_relaxed); /* relaxed: seen soon */
}

void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->can_be_quiescent) return;
    /* seq_cst: see ns_thread_note_search */
    const uint64_t stamp = ns_atomic_u64_load(&pool->searches, memory_order_seq_cst) + 1;
    const bool has_work = finds_work(worker, wait) || wait->is_over(wait->context);
    ns_atomic_u64_store(&worker->no_work, has_work ? 0 : stamp, memory_order_seq_cst);
    if (has_work || ns_thread_task_is_joined(&pool->origin) || !have_all_announced(pool, stamp)) return;
    ns_thread_end_quiescent(pool, "the strategy and the joins let no worker have them");
}
