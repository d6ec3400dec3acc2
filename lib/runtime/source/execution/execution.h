/* The ways of executing tasks on threads, and the functions that these ways share. Each way is a table of functions,
 * from which a pool chooses when it opens (strategy_needs.c). A record is the memory of a task (task_records.h).
 *
 * - On the stack (stack_execution.c): a worker executes tasks nested on the stack of its thread. A worker that waits in
 *   a join executes other tasks, or its thread sleeps.
 * - In lanes (lane_execution.c; a lane is a stack of slots that hold tasks), if a spawn is a push to the worker's own
 *   queue and a join begins with pops from it: tasks are nested, too, but most need no record and no count of children.
 * - On fibers (fiber_execution.c), if a task may resume on another worker, because spawns begin the child and offer the
 *   parent to other workers (work-first), or a join resumes where the last child ends: each task has its own fiber. */
#pragma once

#include "dependences/dependences.h"
#include "following/noted_tasks.h"
#include "threads/worker_stack.h"

typedef struct ns_thread_execution ns_thread_execution;
struct ns_thread_execution {
    ns_task_operations calls; /* the functions that tasks call */
    bool in_lanes;            /* whether all queues are lanes */
    bool migrates;            /* whether a task may resume on another worker */

    /* `begin` is called when the worker's thread begins, and returns 0 or NS_ERROR_MEMORY. `finish` is called when the
     * worker ends, perhaps without a `begin`. Both may be NULL. */
    int (*begin)(ns_thread_worker *worker);
    void (*finish)(ns_thread_worker *worker);

    /* Execute a task until the task ends or leaves this worker. */
    void (*execute)(ns_thread_worker *worker, ns_thread_task *task);

    /* Execute other tasks until the wait of `task` is over. */
    void (*wait)(ns_task *task, const ns_thread_wait *wait);

    /* Put a task that waited for other tasks, and can begin now, into a queue. Return false if the worker must execute
     * the task at once. Not used with lanes. */
    bool (*release)(ns_thread_worker *worker, ns_thread_task *child, const ns_access *accesses, uint32_t count);

    /* Note that a child of `parent` has ended on `worker`. The child is not a root. */
    void (*child_ended)(ns_thread_worker *worker, ns_thread_task *parent);

    /* Take a task from `end` of queue `q`, whose owner is the worker if `is_owner`. Return NULL if there is no task, or
     * the task that waits (`wait`) may not execute it. */
    ns_thread_task *(*take)(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                            enum ns_queue_end end);

    /* Put a stolen task that the worker does not execute next into its own queue; if there is no room, execute it. */
    void (*keep)(ns_thread_worker *worker, ns_thread_task *task);

    /* Make all tasks of the worker available to other workers, since the worker is about to sleep. */
    void (*share)(ns_thread_worker *worker);
};

extern const ns_thread_execution ns_stack_execution;          /* for the join rules help, own and strict */
extern const ns_thread_execution ns_stack_blocking_execution; /* for the join rule block */
extern const ns_thread_execution ns_lane_execution;           /* for the join rules help and own */
extern const ns_thread_execution ns_fiber_execution;          /* for the join rules help, own and strict */
extern const ns_thread_execution ns_fiber_blocking_execution;
extern const ns_thread_execution ns_fiber_continuing_execution;

static inline const ns_thread_execution *ns_thread_execution_of(const ns_thread_worker *worker) {
    return ns_thread_pool_of(worker)->execution;
}

/* Note which worker has spawned the task that `worker` begins, for steal levels that name queues of this worker (anchor
 * `parent`). Roots count as spawned by worker 0. Not called for tasks from the worker's list `resumable`. */
static inline void ns_thread_note_spawner(ns_thread_worker *worker, const ns_thread_task *task) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool is_root = task->parent == &pool->origin;
    if (pool->asks_parents && (is_root || task->home))
        ns_actor_ran(&worker->search.actor, is_root ? 0 : (int32_t)task->home->id);
}

static inline void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->notes) ns_thread_note_begin(worker, task);
    pool->execution->execute(worker, task);
}

/* ---- strategy_needs.c -------------------------------------------------------------------------------------------- */

/* Set the flags of the pool that follow from its strategy, and the way of executing tasks. */
void ns_thread_find_needs(ns_thread_pool *pool);

/* ---- execution.c: functions that several ways of executing tasks share ------------------------------------------- */

/* Execute tasks until the wait is over. */
void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Execute a task that has a record on the present stack. */
void ns_thread_execute_here(ns_thread_worker *worker, ns_thread_task *task);

/* End a task whose body has returned on `worker` and whose children are joined: free its record, notify its parent. */
void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self);

/* Make a record for the child of `self` that `order` describes (body, arguments), and count the child. Return NULL if
 * memory is short: then the child has been executed. */
ns_thread_task *ns_thread_child_create(ns_task *self, const ns_work_order *order);

/* Execute what `order` describes at once as a part of `self`. Called if memory for a record is short. */
void ns_thread_execute_order(ns_task *self, const ns_work_order *order);

/* Run the body of a task, and join the task's children at its end. */
void ns_thread_run_body(ns_thread_task *task);

/* Return whether a spawned child waits for other tasks of the plan's graph. If so, the last of these releases it. */
static inline bool ns_thread_holds(ns_thread_worker *worker, ns_thread_task *child) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    return pool->graph.holds && ns_followed_graph_hold(&pool->graph, child, ns_thread_notes_of(child)->row);
}

/* Run a body as a part of `self`, which has a record. The body has children of its own. */
void ns_thread_call_part(ns_task *self, ns_body *body, void *arguments);

/* Wait for a future, and execute other tasks during the wait. */
void ns_thread_get(ns_task *self, ns_future *future);

/* Note that a child of `parent` has ended on `worker`, by an atomic addition to the parent's count `returned`. */
void ns_thread_child_ended_elsewhere(ns_thread_worker *worker, ns_thread_task *parent);

/* Joins of tasks that have records and stay on their worker. ns_thread_join_helping executes other tasks until all
 * children have ended. ns_thread_join_blocking sleeps until the last child calls ns_thread_child_ended_waking. */
void ns_thread_join_helping(ns_task *self);
void ns_thread_join_blocking(ns_task *self);
void ns_thread_child_ended_waking(ns_thread_worker *worker, ns_thread_task *parent);

/* ---- execution.c: children with dependences ----------------------------------------------------------------------
 *
 * A child with dependences may wait for siblings, outside of all queues. The task's body is a wrapper in the library,
 * which runs the program's body, and then puts the siblings that waited for no other child any more into queues. */

typedef struct ns_thread_dependent ns_thread_dependent;
struct ns_thread_dependent {
    ns_dependent base;
    uint32_t access_count;
    ns_body *body;
    void *arguments;
    const ns_access *accesses;      /* [access_count] accesses of the first segment */
    ns_thread_task *record;         /* without lanes: the record of the child */
    void *group;                    /* with lanes: the group of the child, in lane_execution.c */
    ns_thread_dependent *next;      /* the next child in a list of children that found no room in a queue */
    ns_thread_dependent **unplaced; /* where this child puts such children; NULL: into a list of its own */
};

/* Make a child for `order` in the memory of `known`. Set `known->before` to the children for which the new child waits,
 * and `*entries` to memory for one list entry for each of them. Return NULL if memory is short. */
ns_thread_dependent *ns_thread_dependent_create(ns_dependences *known, const ns_work_order *order,
                                                ns_waiting **entries);

/* Let the child wait for the children in `known->before`. Return true if all have ended: the child can begin. */
bool ns_thread_dependent_wait(ns_dependences *known, ns_thread_dependent *made, ns_waiting *entries);

/* Wait for all children of `self`, then execute what `order` describes. Called if memory is short. */
void ns_thread_execute_after_all(ns_task *self, const ns_work_order *order);

/* The functions below are not for lanes. A task that has children with dependences counts one child too many until its
 * join, so that the end of its body always joins. ns_thread_begin_join subtracts this child, and returns the
 * dependences of the task's children or NULL. */
static inline ns_dependences *ns_thread_begin_join(ns_thread_task *self) {
    ns_dependences *known = ns_dependences_of(&self->base);
    if (known) self->pending--;
    return known;
}

static inline void ns_thread_end_join(ns_thread_task *self, const ns_dependences *known) {
    if (known) ns_dependences_close(&self->base);
}

/* The wrapper that is the body of children with dependences. */
void ns_thread_run_dependent(ns_task *self, void *arguments);

/* Make a child with dependences of `self`. Return the child if it can begin, else NULL. */
ns_thread_dependent *ns_thread_dependent_spawn(ns_task *self, const ns_work_order *order);

/* Execute a list of children that can begin and have no room in a queue. Children that they release go to the same
 * list, so that a chain of dependences does not nest on the stack. */
void ns_thread_execute_unplaced(ns_task *self, ns_thread_dependent *unplaced);

/* ---- lane_execution.c: bodies of tasks in lanes, around bodies of the program ------------------------------------ */

void ns_lane_run_dependent(ns_task *self, void *arguments);
void ns_lane_run_kept(ns_task *self, void *arguments);

/* ---- calls.c: functions that are the same for all ways ----------------------------------------------------------- */

void ns_thread_declare_work(ns_task *self, int64_t picoseconds);
int64_t ns_thread_use(ns_task *self, enum ns_op op, uint32_t object, int64_t value);
void ns_thread_refuse(ns_task *self, int error, const char *sentence);

#define NS_THREAD_CALLS(CALL, JOIN)  \
    {.spawn = spawn,                 \
     .spawn_after = spawn_after,     \
     .call = CALL,                   \
     .join = JOIN,                   \
     .get = ns_thread_get,           \
     .work = ns_thread_declare_work, \
     .access = ns_thread_touch,      \
     .use = ns_thread_use,           \
     .refuse = ns_thread_refuse}

/* The functions that tasks call if the strategy's controller needs the times of segments (model 4.12). A segment is the
 * part of a task between two such calls. Each ends a segment, calls the function of the pool's way, and begins one. */
extern const ns_task_operations ns_thread_measured_calls;

/* Note that a segment of a task begins; that it ends, if one is running. */
void ns_thread_segment_begins(ns_thread_task *task);
void ns_thread_segment_ends(ns_thread_task *task);
