/* Quiescence: tasks are left, but the strategy and the joins allow no worker to take them. The run then ends with an
 * error instead of running for ever.
 *
 * A worker that has searched in vain for long checks whether it could find a task if all other workers did nothing. If
 * not, the worker announces this, with a stamp: the number of begins and ends of searches (of all workers) before the
 * check, plus 1. The pool is quiescent if each worker has announced the same stamp, or sleeps without a timer, in a
 * join or because it found no task: then no task was taken or pushed after the first of these checks. A worker
 * withdraws its announcement before it takes a task, and before it falls asleep because it finds no task. */
#include "search/search.h"

void ns_thread_note_search(ns_thread_pool *pool) {
    /* seq_cst: a worker that reads the new number sees all earlier changes, and checks again */
    if (pool->can_be_quiescent) ns_atomic_u64_fetch_add(&pool->searches, 1, memory_order_seq_cst);
}

/* ---- whether there is work --------------------------------------------------------------------------------------- */

typedef struct {
    const ns_thread_pool *pool;
    const ns_thread_task *waiting; /* the task in whose strict join the worker waits, or NULL */
    bool suits;                    /* whether the join of `waiting` may execute the task that was looked at last */
} work_query;

/* Note whether the waiting task's join allows this task. Return false, so that the task stays in its queue. */
static bool peek_at(void *context, void *task) {
    work_query *self = context;
    self->suits = ns_thread_descends(self->waiting, task);
    return false;
}

/* Return whether a probe of queue `q` by the level would take a task that the worker may execute. */
static bool has_tasks(void *context, uint32_t level, uint32_t q) {
    work_query *self = context;
    const int64_t length = ns_task_queue_length(self->pool->queues[q]);
    if (ns_level_amount(&self->pool->file.plan.steal.level[level], length) == 0) return false;
    if (!self->waiting) return true;
    const bool back = ns_takes_back(&self->pool->file.plan, level, q);
    self->suits = false;
    ns_task_queue_take(self->pool->queues[q], false, back ? NS_BACK : NS_FRONT, peek_at, self);
    return self->suits;
}

bool ns_thread_finds_work(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    work_query query = {pool, ns_thread_strict_join(pool, wait), false};
    const bool has_own = worker->own != NS_UNKNOWN && ns_task_queue_length(pool->queues[worker->own]);
    if (!query.waiting && has_own) return true;
    if (wait->task && pool->file.plan.join == NS_JOIN_OWN) return false;
    ns_thread_view_queues(worker, wait);
    ns_thread_search *search = &worker->search;
    return ns_any_within_reach(&pool->file.plan.steal, &search->actor, &search->view, has_tasks, &query);
}

/* ---- announcements ----------------------------------------------------------------------------------------------- */

/* Return whether every worker sleeps or has announced this `stamp`. */
static bool have_all_announced(const ns_thread_pool *pool, uint64_t stamp) {
    /* acquire: the following loads come after this load */
    uint32_t without_work = ns_atomic_u32_load(&pool->blocked, memory_order_acquire);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        without_work += ns_atomic_u64_load(&pool->worker[id]->no_work, memory_order_acquire) == stamp;
    }
    if (pool->sleeps) without_work += ns_sleepers_asleep(pool->sleepers);
    return without_work >= pool->team_size;
}

void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why) {
    ns_thread_pool_note(pool, NS_ERROR_DEADLOCK, why);
    ns_atomic_u32_store(&pool->quiescent, 1, memory_order_relaxed); /* relaxed: workers see the store soon enough */
    if (!pool->sleeps) return;
    ns_fence(); /* a worker that announces its sleep later, and is not woken here, sees the store */
    ns_sleepers_wake_all(pool->sleepers);
}

void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->can_be_quiescent) return;
    /* seq_cst: see ns_thread_note_search */
    const uint64_t stamp = ns_atomic_u64_load(&pool->searches, memory_order_seq_cst) + 1;
    const bool has_work = ns_thread_finds_work(worker, wait) || wait->is_over(wait->context);
    ns_atomic_u64_store(&worker->no_work, has_work ? 0 : stamp, memory_order_seq_cst);
    if (has_work || ns_thread_task_is_joined(&pool->origin) || !have_all_announced(pool, stamp)) return;
    ns_thread_end_quiescent(pool, "the strategy and the joins let no worker have them");
}
