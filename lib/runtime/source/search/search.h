/* How workers find tasks and where new ones go, by the tables of the strategy: what numasim's engines simulate, on the
 * real queues.
 */
#ifndef NS_SEARCH_H
#define NS_SEARCH_H

#include "threads/worker.h"

/* ---- seek.c ------------------------------------------------------------------------------------------------------ */

/* Memory for what `worker` remembers: 0 or NS_ERROR_MEMORY. */
int ns_thread_search_create(ns_thread_worker *worker);
void ns_thread_search_destroy(ns_thread_worker *worker);

/* The next task that the worker executes, by the strategy; NULL where the wait is over. */
ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait);

/* ---- placing.c --------------------------------------------------------------------------------------------------- */

/* Put a new task into the queue that the strategy chooses; false: none has room, it is to be executed at once. */
bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count);

/* The same for a root that the worker is dealt before it works. False: it begins the root itself, as it does the first
 * that would come into its own queue. */
bool ns_thread_deal(ns_thread_worker *worker, ns_thread_task *root);

/* ---- rounds.c ---------------------------------------------------------------------------------------------------- */

/* A round of probes by the steal levels: a task, or NULL; whether any queue was probed in `*probed`. */
ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed);

/* How long to rest after one more fruitless round, or probe; and rest. */
int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed);
void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps);

/* ---- queue_tasks.c: taking from queues that are no lanes (operations of execution.h) ------------------------------
 */

ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end);
void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_queue_share(ns_thread_worker *worker);

/* ---- quiescence.c ------------------------------------------------------------------------------------------------ */

/* The worker is about to take a task: withdraw its announcement that it finds no work. */
void ns_thread_withdraw_no_work(ns_thread_worker *worker);

/* A search begins or ends: announcements made before it count no longer. */
void ns_thread_note_search(ns_thread_pool *pool);

/* Announce that the worker finds no work, if it finds none. Where that is so for all workers, the run is to end with an
 * error, and does so soonest if all take whatever they see. */
void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* The run can only end with an error, for which this is why, and is to do so. */
void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why);

static inline bool ns_thread_is_quiescent(const ns_thread_pool *pool) {
    return ns_atomic_u32_load(&pool->quiescent, memory_order_relaxed); /* relaxed: soon enough */
}

/* ---- queue_view.c ------------------------------------------------------------------------------------------------ */

/* See the queues, and what else decisions are made from, as they are now, as far as the strategy looks at them; `wait`
 * is what the worker waits for as it searches, or NULL. */
void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Queue `q` has been changed, or found to be other than its watch bits say. */
void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q);

/* The worker comes to take a task from its queue, has executed one, or begins to search. */
void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step);

/* Whether a task that joins strictly may execute `task`: one of its descendants. */
static inline bool ns_thread_descends(const ns_thread_task *waiting, const ns_thread_task *task) {
    while (task && task != waiting) task = task->parent;
    return task;
}

/* In whose strict join the worker waits: NULL where the wait is none. */
static inline const ns_thread_task *ns_thread_strict_join(const ns_thread_pool *pool, const ns_thread_wait *wait) {
    return pool->tables.join == NS_JOIN_STRICT ? (const ns_thread_task *)wait->task : NULL;
}

#endif
