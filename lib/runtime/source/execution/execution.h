/* The ways to execute tasks, and what they have in common.
 *
 * - On the stack (stack_execution.c): a worker executes tasks nested on its thread's stack; one that waits in a join
 *   executes others meanwhile, or its thread sleeps.
 * - In lanes (lane_execution.c): where a spawn is a push to the own queue and a join begins with pops from it, tasks
 *   are executed nested, too, but most need neither a record nor a count of children.
 * - On fibers (fiber_execution.c): where tasks go on elsewhere than where they began (spawns work-first, joins
 *   continuation), each has a fiber of its own.
 *
 * Each is a table of operations, of which pools choose one when they open: no other code asks which it is.
 */
#ifndef NS_EXECUTION_H
#define NS_EXECUTION_H

#include "following/noted_tasks.h"
#include "threads/worker_stack.h"

typedef struct ns_thread_execution ns_thread_execution;
struct ns_thread_execution {
    ns_task_operations calls; /* what tasks call */
    bool in_lanes;            /* all queues are lanes */
    bool migrates;            /* a task may go on on another worker */

    /* What a worker's thread needs, called by itself: 0 or NS_ERROR_MEMORY; and its end, which may be the first call.
     */
    int (*begin)(ns_thread_worker *worker);
    void (*finish)(ns_thread_worker *worker);

    /* Execute a task up to its end, or up to where it leaves this worker. */
    void (*execute)(ns_thread_worker *worker, ns_thread_task *task);

    /* Execute other tasks until the wait of `task`, which its worker executes, is over. */
    void (*wait)(ns_task *task, const ns_thread_wait *wait);

    /* Put a child that can begin, since those that it waited for have ended, into a queue, or see to it in another way:
     * false where the worker is to execute it at once. Without lanes. */
    bool (*release)(ns_thread_worker *worker, ns_thread_task *child, const ns_access *accesses, uint32_t count);

    /* A child of `parent`, which is no root, has ended on `worker`. */
    void (*child_ended)(ns_thread_worker *worker, ns_thread_task *parent);

    /* Take a task from queue `q` at `end`: NULL where there is none that the waiting task may execute. */
    ns_thread_task *(*take)(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                            enum ns_queue_end end);

    /* Put a task that was stolen beyond the first into the own queue; where it has no room, execute it. */
    void (*keep)(ns_thread_worker *worker, ns_thread_task *task);

    /* The worker is about to sleep: others can have all of its tasks. */
    void (*share)(ns_thread_worker *worker);
};

extern const ns_thread_execution ns_stack_execution;          /* joins help, own and strict */
extern const ns_thread_execution ns_stack_blocking_execution; /* block */
extern const ns_thread_execution ns_lane_execution;           /* help and own */
extern const ns_thread_execution ns_fiber_execution;          /* help, own and strict */
extern const ns_thread_execution ns_fiber_blocking_execution;
extern const ns_thread_execution ns_fiber_continuing_execution;

static inline const ns_thread_execution *ns_thread_execution_of(const ns_thread_worker *worker) {
    return ns_thread_pool_of(worker)->execution;
}

static inline void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->asks_parents && task->home) ns_actor_ran(&worker->search.actor, (int32_t)task->home->id);
    if (pool->notes) ns_thread_note_begin(worker, task);
    pool->execution->execute(worker, task);
}

/* ---- execution.c: what several ways do alike --------------------------------------------------------------------- */

/* Execute tasks until the wait is over. */
void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Execute a task with a record on the stack that one is on. */
void ns_thread_execute_here(ns_thread_worker *worker, ns_thread_task *task);

/* The body of a task has returned on `worker`, with all children joined: free its record and notify its parent. */
void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self);

/* A new child of `self` for `order`, which is counted; NULL where memory was short and the order has been executed. */
ns_thread_task *ns_thread_child_create(ns_task *self, const ns_work_order *order);

/* Execute what is ordered at once, as a part of `self`: where memory for a task is short. */
void ns_thread_execute_order(ns_task *self, const ns_work_order *order);

/* Let the body of a task run, and its end wait for its children. */
void ns_thread_run_body(ns_thread_task *task);

/* Execute a child as it is spawned, with a record, on the stack that one is on. */
void ns_thread_execute_child_here(ns_thread_worker *worker, ns_thread_task *child);

/* Whether a child that was spawned waits for others in the graph that is followed. */
static inline bool ns_thread_holds(ns_thread_worker *worker, ns_thread_task *child) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    return pool->graph.holds && ns_followed_graph_hold(&pool->graph, child, ns_thread_notes_of(child)->row);
}

/* Run a body as a part of `self`, which has a record, with children of its own. */
void ns_thread_call_part(ns_task *self, ns_body *body, void *arguments);

/* Wait for a future, executing other tasks. */
void ns_thread_get(ns_task *self, ns_future *future);

/* Notify a parent that may run on another worker: an atomic addition to its count. */
void ns_thread_child_ended_elsewhere(ns_thread_worker *worker, ns_thread_task *parent);

/* ---- joins.c: joins of tasks with records that wait on their worker ---------------------------------------------- */

/* Execute other tasks until all children have ended. */
void ns_thread_join_helping(ns_task *self);

/* Sleep until the last child has ended, which wakes the thread. */
void ns_thread_join_blocking(ns_task *self);
void ns_thread_child_ended_waking(ns_thread_worker *worker, ns_thread_task *parent);

/* ---- lane_execution.c: bodies of tasks in lanes, which run those of the program --------------------------------- */

void ns_lane_run_dependent(ns_task *self, void *arguments);
void ns_lane_run_kept(ns_task *self, void *arguments);

/* ---- calls.c: what tasks call that is the same in all ways ------------------------------------------------------- */

void ns_thread_declare_work(ns_task *self, int64_t picoseconds);
void ns_thread_lock(ns_task *self, uint32_t object);
void ns_thread_unlock(ns_task *self, uint32_t object);
int64_t ns_thread_add(ns_task *self, uint32_t object, int64_t value);
void ns_thread_arrive(ns_task *self, uint32_t object);
void ns_thread_await(ns_task *self, uint32_t object);
void ns_thread_signal(ns_task *self, uint32_t object, uint32_t permits);
void ns_thread_refuse(ns_task *self, int error, const char *sentence);

#define NS_THREAD_CALLS_OF_ALL                                                                               \
    .get = ns_thread_get, .work = ns_thread_declare_work, .access = ns_thread_touch, .lock = ns_thread_lock, \
    .unlock = ns_thread_unlock, .add = ns_thread_add, .arrive = ns_thread_arrive, .await = ns_thread_await,  \
    .signal = ns_thread_signal, .refuse = ns_thread_refuse

#endif
