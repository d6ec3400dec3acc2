/* The ways to execute tasks on threads, and the common part of these ways.
 *
 * - On the stack (stack_execution.c): a worker executes tasks nested on its thread's stack. A worker that waits in a
 *   join executes other tasks meanwhile, or its thread sleeps.
 * - In lanes (lane_execution.c): where a spawn is a push to the own queue and a join begins with pops from that queue.
 *   Tasks are executed nested, too, but most tasks need neither a record nor a count of children.
 * - On fibers (fiber_execution.c): where a task may go on elsewhere than where it began (spawns work-first, joins
 *   continuation), each task has a fiber of its own.
 *
 * Each way is a table of operations. A pool chooses a table when it opens (strategy_needs.c). No other code asks which
 * way it is.
 */
#ifndef NS_EXECUTION_H
#define NS_EXECUTION_H

#include "dependences/dependences.h"
#include "following/noted_tasks.h"
#include "threads/worker_stack.h"

typedef struct ns_thread_execution ns_thread_execution;
struct ns_thread_execution {
    ns_task_operations calls; /* what tasks call */
    bool in_lanes;            /* all queues are lanes */
    bool migrates;            /* a task may go on on another worker */

    /* A worker's thread begins: returns 0 or NS_ERROR_MEMORY. A worker ends, which may be the first call. Both may be
     * NULL. */
    int (*begin)(ns_thread_worker *worker);
    void (*finish)(ns_thread_worker *worker);

    /* Execute a task up to its end, or until it leaves this worker. */
    void (*execute)(ns_thread_worker *worker, ns_thread_task *task);

    /* Execute other tasks until the wait of `task` is over. */
    void (*wait)(ns_task *task, const ns_thread_wait *wait);

    /* A child with dependences can begin: put it into a queue. Returns false if the worker is to execute the child
     * at once. Without lanes. */
    bool (*release)(ns_thread_worker *worker, ns_thread_task *child, const ns_access *accesses, uint32_t count);

    /* A child of `parent`, which is no root, has ended on `worker`. */
    void (*child_ended)(ns_thread_worker *worker, ns_thread_task *parent);

    /* Take a task from `end` of queue `q`. Returns NULL if there is no task that the waiting task may execute. */
    ns_thread_task *(*take)(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                            enum ns_queue_end end);

    /* Put a task that was stolen beyond the first into the own queue; if there is no room, execute it. */
    void (*keep)(ns_thread_worker *worker, ns_thread_task *task);

    /* The worker is about to sleep: others can have all of its tasks. */
    void (*share)(ns_thread_worker *worker);
};

extern const ns_thread_execution ns_stack_execution;          /* joins help, own and strict */
extern const ns_thread_execution ns_stack_blocking_execution; /* join block */
extern const ns_thread_execution ns_lane_execution;           /* joins help and own */
extern const ns_thread_execution ns_fiber_execution;          /* joins help, own and strict */
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

/* ---- strategy_needs.c -------------------------------------------------------------------------------------------- */

/* Set what the pool needs for the strategy of its plan, the way to execute tasks among it. */
void ns_thread_find_needs(ns_thread_pool *pool);

/* ---- execution.c: common to several ways ------------------------------------------------------------------------- */

/* Execute tasks until the wait is over. */
void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Execute a task with a record on the present stack. */
void ns_thread_execute_here(ns_thread_worker *worker, ns_thread_task *task);

/* The body of a task has returned on `worker`, with all children joined: free its record and notify its parent. */
void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self);

/* Make and count a child of `self` for `order`. Returns NULL if memory was short and the order has been executed. */
ns_thread_task *ns_thread_child_create(ns_task *self, const ns_work_order *order);

/* Execute an order at once, as a part of `self`: if memory for a task is short. */
void ns_thread_execute_order(ns_task *self, const ns_work_order *order);

/* Run the body of a task, and join its children at its end. */
void ns_thread_run_body(ns_thread_task *task);

/* Execute a child as it is spawned, with a record, on the present stack. */
void ns_thread_execute_child_here(ns_thread_worker *worker, ns_thread_task *child);

/* Returns whether a spawned child waits for other tasks of the followed graph. */
static inline bool ns_thread_holds(ns_thread_worker *worker, ns_thread_task *child) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    return pool->graph.holds && ns_followed_graph_hold(&pool->graph, child, ns_thread_notes_of(child)->row);
}

/* Run a body as a part of `self`, which has a record, with children of its own. */
void ns_thread_call_part(ns_task *self, ns_body *body, void *arguments);

/* Wait for a future, and execute other tasks meanwhile. */
void ns_thread_get(ns_task *self, ns_future *future);

/* Notify a parent that may run on another worker: an atomic addition to its count. */
void ns_thread_child_ended_elsewhere(ns_thread_worker *worker, ns_thread_task *parent);

/* Joins of tasks with records that stay on their worker: execute other tasks until all children have ended; or sleep
 * until the last child, at its end, wakes the thread. */
void ns_thread_join_helping(ns_task *self);
void ns_thread_join_blocking(ns_task *self);
void ns_thread_child_ended_waking(ns_thread_worker *worker, ns_thread_task *parent);

/* ---- execution.c: children with dependences ----------------------------------------------------------------------
 *
 * A child with dependences is a task whose body is a wrapper. The wrapper runs the program's body, and then lets those
 * children begin that waited for this child. A child that waits is in no queue; the worker that lets a child begin puts
 * it into a queue. */

typedef struct ns_thread_dependent ns_thread_dependent;
struct ns_thread_dependent {
    ns_dependent base;
    uint32_t access_count;
    ns_body *body;
    void *arguments;
    const ns_access *accesses;      /* [access_count] of its first segment */
    ns_thread_task *record;         /* without lanes */
    void *group;                    /* with lanes: its group of its parent's children */
    ns_thread_dependent *next;      /* in a list of children that found no room in a queue */
    ns_thread_dependent **unplaced; /* the list for children that it lets begin and that find no room; NULL: none yet */
};

/* Make a child for `order` in the memory of `known`, with the children that it waits for in `known->before`, and an
 * entry for each of their lists in `*entries`. Returns NULL if memory is short. */
ns_thread_dependent *ns_thread_dependent_create(ns_dependences *known, const ns_work_order *order,
                                                ns_waiting **entries);

/* Let the child wait for those in `known->before`. Returns whether all of them have ended, so that it can begin. */
bool ns_thread_dependent_wait(ns_dependences *known, ns_thread_dependent *made, ns_waiting *entries);

/* If memory is short: wait for all children, and execute the order. */
void ns_thread_execute_after_all(ns_task *self, const ns_work_order *order);

/* The rest is of children with records, and not in lanes. A task with such children counts one child more until its
 * join, so that its end joins them in any case. The dependences are known, or NULL, when the join begins. */
static inline ns_dependences *ns_thread_begin_join(ns_thread_task *self) {
    ns_dependences *known = ns_dependences_of(&self->base);
    if (known) self->pending--;
    return known;
}

static inline void ns_thread_end_join(ns_thread_task *self, const ns_dependences *known) {
    if (known) ns_dependences_close(&self->base);
}

/* The body of these children. */
void ns_thread_run_dependent(ns_task *self, void *arguments);

/* Make a child of `self`. Returns the child if it can begin, else NULL. */
ns_thread_dependent *ns_thread_dependent_spawn(ns_task *self, const ns_work_order *order);

/* Execute a child that can begin and finds no room in a queue. The children that it lets begin join the same list, so
 * that chains of such children do not nest. */
void ns_thread_execute_unplaced(ns_task *self, ns_thread_dependent *unplaced);

/* ---- lane_execution.c: bodies of tasks in lanes, around bodies of the program ------------------------------------ */

void ns_lane_run_dependent(ns_task *self, void *arguments);
void ns_lane_run_kept(ns_task *self, void *arguments);

/* ---- calls.c: calls that are the same in all ways ---------------------------------------------------------------- */

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

/* If a controller is told how long the own segments of tasks take (model 4.12), tasks call this table. It measures
 * the time from one call to the next around the calls of the way to execute tasks. */
extern const ns_task_operations ns_thread_measured_calls;

/* A segment of a task begins; a segment ends, if one is under way. */
void ns_thread_segment_begins(ns_thread_task *task);
void ns_thread_segment_ends(ns_thread_task *task);

#endif
