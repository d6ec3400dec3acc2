/* How workers find tasks, and into which queues new tasks go, by the strategy of the plan: what numasim's engines
 * simulate, on real queues.
 */
#ifndef NS_SEARCH_H
#define NS_SEARCH_H

#include "policy/round.h"
#include "execution/worker_state.h"
#include "threads/worker.h"

/* ---- seek.c ------------------------------------------------------------------------------------------------------ */

/* Allocate the memory of a worker's searches. Returns 0 or NS_ERROR_MEMORY. */
int ns_thread_search_create(ns_thread_worker *worker);
void ns_thread_search_destroy(ns_thread_worker *worker);

/* Returns the next task that the worker executes; NULL if the wait is over. */
ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait);

/* ---- placing.c --------------------------------------------------------------------------------------------------- */

/* Put a new task into the queue that the strategy chooses. Returns false if no queue has room: the task is to be
 * executed at once. */
bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count);

/* Place a root that was dealt to the worker, before the worker runs. Returns false if the worker begins the root
 * itself, as the worker does with the first root for its own queue. */
bool ns_thread_deal(ns_thread_worker *worker, ns_thread_task *root);

/* ---- rounds.c ---------------------------------------------------------------------------------------------------- */

/* Probe by the steal levels, one round. Returns a task, or NULL; `*probed` tells whether any queue was probed. */
ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed);

/* Returns how long to rest after one more fruitless round, or probe; rest so long. */
int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed);
void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps);

/* Make the locks that searches take, of the plan's kind. Returns 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_thread_make_search_locks(ns_thread_pool *pool);
void ns_thread_destroy_search_locks(ns_thread_pool *pool);

/* ---- quiescence.c ------------------------------------------------------------------------------------------------ */

/* The worker is about to take a task: withdraw its announcement. */
static inline void ns_thread_withdraw_no_work(ns_thread_worker *worker) {
    /* seq_cst: no worker takes a task while its announcement stands */
    ns_atomic_u64_store(&worker->no_work, 0, memory_order_seq_cst);
}

/* A search begins or ends: earlier announcements count no longer. */
void ns_thread_note_search(ns_thread_pool *pool);

/* Announce that the worker finds no work, if it finds none. If all workers find none, the run ends with an error; it
 * ends sooner because workers then take any task that they see. */
void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* The run can only end with an error, for the reason `why`: let it end. */
void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why);

static inline bool ns_thread_is_quiescent(const ns_thread_pool *pool) {
    return ns_atomic_u32_load(&pool->quiescent, memory_order_relaxed); /* relaxed: seen soon enough */
}

/* ---- queue_tasks.c ----------------------------------------------------------------------------------------------- */

/* Look at the queues, and at all else that decisions depend on, as far as the strategy uses it. `wait` is what the
 * worker waits for while it searches, or NULL. */
void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Queue `q` has changed, or differs from its watch bits. */
void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q);

/* The worker is about to take a task from its queue, has executed a task, or begins to search. */
void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step);

/* Push a placed task into queue `q`, and a copy into each queue of `copy` that has room, by the function `push`.
 * Returns false if `q` has no room. The worker that takes one of the entries first has the task. */
bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry));

/* Returns the task of an entry that was taken; NULL if there is no entry, or another worker has the task. */
ns_thread_task *ns_thread_claim(void *entry);

/* Operations of execution.h for queues that are no lanes. */
ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end);
void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_queue_share(ns_thread_worker *worker);

/* Returns whether a task that joins strictly may execute `task`: one of its descendants. */
static inline bool ns_thread_descends(const ns_thread_task *waiting, const ns_thread_task *task) {
    while (task && task != waiting) task = task->parent;
    return task;
}

/* Returns the task in whose strict join the worker waits; NULL if it waits in none. */
static inline const ns_thread_task *ns_thread_strict_join(const ns_thread_pool *pool, const ns_thread_wait *wait) {
    return pool->file.plan.join == NS_JOIN_STRICT ? (const ns_thread_task *)wait->task : NULL;
}

#endif
