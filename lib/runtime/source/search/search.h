/* The search for tasks, and the choice of queues for new tasks, by the strategy of the plan: the decisions that
 * numasim's engines simulate, on real queues. */
#pragma once

#include "execution/worker_state.h"
#include "policy/round.h"
#include "threads/worker.h"

/* ---- seek.c ------------------------------------------------------------------------------------------------------ */

/* Allocate the memory for a worker's searches. Return 0 or NS_ERROR_MEMORY. */
int ns_thread_search_create(ns_thread_worker *worker);

/* Return the next task that the worker executes; NULL if the wait is over. */
ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait);

/* ---- placing.c --------------------------------------------------------------------------------------------------- */

/* Put a new task into the queue that the strategy chooses. If no queue has room, return false: the caller runs it. */
bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count);

/* Place a root (a task at the start of a run) that was dealt to the worker, before the worker runs. Return false if the
 * worker begins the root itself, as it does with the first root for its own queue. */
bool ns_thread_deal(ns_thread_worker *worker, ns_thread_task *root);

/* ---- rounds.c ---------------------------------------------------------------------------------------------------- */

/* Make one round of probes by the steal levels. Return a task, or NULL. Set `*probed`: whether a queue was probed. */
ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed);

/* Return the plan's cost of a probe of queue `q`. Only NS_MODE_PACED adds this cost to a clock: ns_thread_pay. */
int64_t ns_thread_probe_ps(const ns_thread_worker *worker, uint32_t q);

/* Return how long to rest after one more round, or probe, without a find. ns_thread_back_off rests for `wait_ps`. */
int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed);
void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps);

/* Rest for `wait_ps`, but not beyond the end of the run, by pauses, or by yields of the CPU if `yields`. */
void ns_thread_rest_awake(const ns_thread_pool *pool, int64_t wait_ps, bool yields);

/* Release the lock `*held`, and take the lock `next`. Each may be NS_NO_LOCK. If they are the same lock, keep it. */
void ns_thread_pass_lock(const ns_thread_worker *worker, int32_t *held, int32_t next);

/* Make the locks that searches take, of the kind in the plan. Return 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_thread_make_search_locks(ns_thread_pool *pool);
void ns_thread_destroy_search_locks(ns_thread_pool *pool);

/* ---- resting.c: only in pools whose plan has rules for workers that find no task --------------------------------- */

/* Note that the worker begins a search, or ends it. Before a search the worker sleeps while too many workers search. */
void ns_thread_begin_search(ns_thread_worker *worker, const ns_thread_wait *wait);
void ns_thread_end_search(ns_thread_worker *worker);

/* Rest after a round, or a probe, without a find. The worker may sleep until it is woken. */
void ns_thread_rest(ns_thread_worker *worker, const ns_thread_wait *wait, bool probed);

/* Wake sleepers by the rules for a push: the worker has pushed into queue `q`, which had tasks before if `held`. */
void ns_thread_wake_for_task(ns_thread_worker *worker, uint32_t q, bool held);

/* A probe of queue `q` has failed because another worker has the lock of the queue: wake a sleeper. */
void ns_thread_wake_for_missed(ns_thread_worker *worker, uint32_t q);

/* A gate (a limit on live subtrees: noted_tasks.h) may have opened: wake sleepers that only gates kept from tasks. */
void ns_thread_gate_opens(ns_thread_worker *worker);

/* ns_thread_rest_ends notes that the worker takes part in a run; ns_thread_sits_out notes that it does not. */
void ns_thread_rest_ends(ns_thread_worker *worker);
void ns_thread_sits_out(ns_thread_worker *worker);

/* End the run with an error if all workers sleep. The caller, which is about to sleep, counts as a sleeper. */
void ns_thread_check_sleepers(ns_thread_pool *pool);

/* Note that children of a task have ended, `count` in all, or that a future is done (`count` is 1): wake the workers
 * whose wait is over. `awaited` may be freed by now. */
static inline void ns_thread_wait_ended(const ns_thread_worker *worker, const void *awaited, uint32_t count) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (__builtin_expect(pool->sleeps, 0)) ns_sleepers_ended(pool->sleepers, awaited, count);
}

/* ---- quiescence.c ------------------------------------------------------------------------------------------------ */

/* Withdraw the worker's announcement that it finds no work, since the worker is about to take a task. */
static inline void ns_thread_withdraw_no_work(ns_thread_worker *worker) {
    /* seq_cst: no worker takes a task while its own announcement stands */
    ns_atomic_u64_store(&worker->no_work, 0, memory_order_seq_cst);
}

/* Note that a search begins or ends. All earlier announcements become invalid. */
void ns_thread_note_search(ns_thread_pool *pool);

/* If the worker finds no work, announce this. If all workers have announced this, the run will end with an error.
 * From then on a worker may also take tasks that the strategy or its join keeps from it, so that the run can end. */
void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Return whether the worker, before a wait of `wait_ps`, calls ns_thread_announce_no_work: before a wait of more than 1
 * ms, and after every 256 rounds without a find. */
static inline bool ns_thread_is_patient(const ns_thread_worker *worker, int64_t wait_ps) {
    return wait_ps > INT64_C(1000000000) || worker->search.fails % 256 == 0;
}

/* Return whether the worker could find a task if all other workers changed nothing. */
bool ns_thread_finds_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* End a run that can only end with an error, for the reason `why`. */
void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why);

static inline bool ns_thread_is_quiescent(const ns_thread_pool *pool) {
    return ns_atomic_u32_load(&pool->quiescent, memory_order_relaxed); /* relaxed: seen soon enough */
}

/* ---- queue_tasks.c ----------------------------------------------------------------------------------------------- */

/* Read the lengths of the queues and all other state on which the strategy's decisions depend. `wait` is the wait
 * during which the worker searches, or NULL. */
void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Read the state that ns_thread_view_queues reads, for queue `q` alone. */
void ns_thread_view_queue(ns_thread_worker *worker, uint32_t q);

/* Note that queue `q` has changed, or that its watch bits are wrong. */
void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q);

/* Note a step of the worker as the owner of a queue (policy/thresholds.h). */
void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step);

/* Push a task into queue `q`, and a copy into each queue in `copy` that has room, by the function `push`. Return false
 * if `q` has no room. The first worker that takes one of these entries gets the task. */
bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry));

/* Return the task of a taken entry; NULL if `entry` is NULL, or another worker has claimed the task. */
ns_thread_task *ns_thread_claim(void *entry);

/* Functions of execution.h for queues that are not lanes. */
ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end);
void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_queue_share(ns_thread_worker *worker);

/* Return whether a task in a strict join may execute `task`, which must be its descendant. */
static inline bool ns_thread_descends(const ns_thread_task *waiting, const ns_thread_task *task) {
    while (task && task != waiting) task = task->parent;
    return task;
}

/* Return the task in whose strict join the worker waits; NULL if there is none. */
static inline const ns_thread_task *ns_thread_strict_join(const ns_thread_pool *pool, const ns_thread_wait *wait) {
    return pool->file.plan.join == NS_JOIN_STRICT ? (const ns_thread_task *)wait->task : NULL;
}
