/* Taking tasks from queues that are no lanes: the operations that ways to execute tasks with records have in common. */
#include "execution/execution.h"
#include "search/copied_tasks.h"
#include "search/search.h"

/* Who takes in which join. */
typedef struct {
    ns_thread_worker *worker;
    const ns_thread_task *waiting;
} strict_taker;

static bool may_take(void *context, void *task) {
    const strict_taker *taker = context;
    const bool may = ns_thread_descends(taker->waiting, task);
    if (may) ns_thread_withdraw_no_work(taker->worker);
    return may;
}

ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    strict_taker taker = {worker, ns_thread_strict_join(pool, wait)};
    if (!taker.waiting && ns_task_queue_length(pool->queues[q])) ns_thread_withdraw_no_work(worker);
    void *entry = ns_task_queue_take(pool->queues[q], is_owner, end, taker.waiting ? may_take : NULL, &taker);
    ns_thread_note_queue(pool, q);
    return ns_thread_claim(entry);
}

void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!ns_task_queue_push(pool->queues[worker->own], task)) ns_thread_execute(worker, task);
    ns_thread_note_queue(pool, (uint32_t)worker->own);
}

void ns_thread_queue_share(ns_thread_worker *worker) {
    if (worker->own != NS_UNKNOWN) ns_task_queue_publish(ns_thread_pool_of(worker)->queues[worker->own]);
}
