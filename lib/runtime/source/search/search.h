/* The search for tasks, and the choice of queues for new tasks, by the strategy of the plan. numasim's engines simulate
 * the same decisions. A probe looks into one queue, and takes tasks if there are any; a level of the strategy names the
 * queues that a worker probes; a round is one pass through the levels. A find is a task that the worker gets. A wait is
 * what a worker searches for: until it is over, e.g. because the children of a task have ended, the worker executes
 * other tasks. The owner of a queue is the worker that executes tasks from it before it searches elsewhere. */
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

/* Put a new task into the queue that the strategy chooses. `accesses` [count] are the task's declared accesses. Return
 * false if no queue has room, or the worker must execute its spawned tasks at once: then the caller runs the task. */
bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count);

/* Put a root (a task at the start of a run) that the worker gets into a queue, before the workers run. Return false if
 * the worker must begin the root itself: there is no room, or it is the first root and would go to the own queue. */
bool ns_thread_deal(ns_thread_worker *worker, ns_thread_task *root);

/* ---- rounds.c ---------------------------------------------------------------------------------------------------- */

/* Make one round, up to the first find. Return the task, or NULL. Set `*probed` to whether a queue was probed. */
ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed);

/* Return the plan's cost of a probe of queue `q`, in ps. (Only in NS_MODE_PACED do workers pay such costs.) */
int64_t ns_thread_probe_ps(const ns_thread_worker *worker, uint32_t q);

/* Count one more round, or probe, without a find, and return how long to rest after it. */
int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed);

/* Rest for `wait_ps`. The worker yields its CPU if there are more workers than CPUs, for long waits, and after some
 * rounds without a find. */
void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps);

/* Rest for `wait_ps`, but not beyond the end of the run, in a loop of yields of the CPU if `yields`, else of pauses. */
void ns_thread_rest_awake(const ns_thread_pool *pool, int64_t wait_ps, bool yields);

/* Release the lock `*held`, take the lock `next`, and set `*held` to `next`. Either may be NS_NO_LOCK. If both are the
 * same, do nothing. */
void ns_thread_pass_lock(const ns_thread_worker *worker, int32_t *held, int32_t next);

/* Make the locks that searches take, of the kind in the plan. Return 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_thread_make_search_locks(ns_thread_pool *pool);
void ns_thread_destroy_search_locks(ns_thread_pool *pool);

/* ---- resting.c: only in pools whose plan has rules for workers that find no task --------------------------------- */

/* Note that the worker begins, or ends, a search. If too many workers search already, ns_thread_begin_search lets the
 * worker sleep first. */
void ns_thread_begin_search(ns_thread_worker *worker, const ns_thread_wait *wait);
void ns_thread_end_search(ns_thread_worker *worker);

/* Rest after a round, or a probe, without a find. The worker may sleep until it is woken. */
void ns_thread_rest(ns_thread_worker *worker, const ns_thread_wait *wait, bool probed);

/* Wake a sleeping worker, if the plan's rules ask for this after a push of the worker into queue `q`. `held`: the queue
 * had tasks before the push. */
void ns_thread_wake_for_task(ns_thread_worker *worker, uint32_t q, bool held);

/* Wake a sleeping worker, because a probe of queue `q` has failed: another worker has the lock of the queue. */
void ns_thread_wake_for_missed(ns_thread_worker *worker, uint32_t q);

/* Wake workers that slept only because a gate (a limit on running subtrees of tasks: noted_tasks.h) was closed to them.
 * Called when a gate may have opened. */
void ns_thread_gate_opens(ns_thread_worker *worker);

/* Note that the worker takes part in a run (ns_thread_rest_ends), or that it does not (ns_thread_sits_out). */
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

/* Withdraw the worker's announcement that there is no task for it, because the worker is about to take a task. */
static inline void ns_thread_withdraw_no_work(ns_thread_worker *worker) {
    /* seq_cst: no worker takes a task while its own announcement stands */
    ns_atomic_u64_store(&worker->no_work, 0, memory_order_seq_cst);
}

/* Note that a search begins or ends. All earlier announcements become invalid. */
void ns_thread_note_search(ns_thread_pool *pool);

/* Announce that there is no task for the worker, if this is so. When all workers have announced this, the pool is
 * quiescent: the run will end with an error. So that it can end, workers then also take tasks that the strategy or a
 * join would keep from them. */
void ns_thread_announce_no_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Return whether the worker should call ns_thread_announce_no_work before it rests for `wait_ps`: if this is more than
 * 1 ms, and after every 256 rounds without a find. */
static inline bool ns_thread_is_patient(const ns_thread_worker *worker, int64_t wait_ps) {
    return wait_ps > INT64_C(1000000000) || worker->search.fails % 256 == 0;
}

/* Return whether the worker could find a task in some round while no other worker changes anything. */
bool ns_thread_finds_work(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Make the pool quiescent: the run ends with NS_ERROR_DEADLOCK, for the reason `why`. */
void ns_thread_end_quiescent(ns_thread_pool *pool, const char *why);

static inline bool ns_thread_is_quiescent(const ns_thread_pool *pool) {
    return ns_atomic_u32_load(&pool->quiescent, memory_order_relaxed); /* relaxed: seen soon enough */
}

/* ---- queue_tasks.c ----------------------------------------------------------------------------------------------- */

/* Copy the lengths of the queues, and all other state on which the strategy's decisions depend, to the worker's view.
 * `wait` is the wait during which the worker searches, or NULL. */
void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Copy the same state to the worker's view, of the queues only the state of queue `q`. */
void ns_thread_view_queue(ns_thread_worker *worker, uint32_t q);

/* Update the watch bits of queue `q` (bits that say whether its length has passed a bound) to its present length. */
void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q);

/* Update the watch bits of the worker's own queue that change at steps of the owner (policy/thresholds.h). */
void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step);

/* Push a task into queue `q`, and a copy into each queue in `copy` [copies] that has room, by the function `push`. The
 * first worker that takes an entry of the task gets the task. Return false, without a push, if `q` has no room. */
bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry));

/* Return the task of an entry that was taken from a queue; NULL if `entry` is NULL, or another worker has taken a copy
 * of the entry before. */
ns_thread_task *ns_thread_claim(void *entry);

/* The functions `take`, `keep` and `share` of execution.h, for queues that are not lanes. */
ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end);
void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_queue_share(ns_thread_worker *worker);

/* Return whether `task` is `waiting` or a descendant of it. In a strict join `waiting` may execute no other tasks. */
static inline bool ns_thread_descends(const ns_thread_task *waiting, const ns_thread_task *task) {
    while (task && task != waiting) task = task->parent;
    return task;
}

/* Return the task in whose strict join the worker waits; NULL if there is none. */
static inline const ns_thread_task *ns_thread_strict_join(const ns_thread_pool *pool, const ns_thread_wait *wait) {
    return pool->file.plan.join == NS_JOIN_STRICT ? (const ns_thread_task *)wait->task : NULL;
}
