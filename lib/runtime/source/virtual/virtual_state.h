/* The state of a run in virtual time. A row is the entry of a task in the plan's task graph, with the task's ops
 * (operations such as spawns); RUN ops stand for segments, the work between calls of the library. The simulator's
 * engine (lib/engine) decides all that workers do. Before the engine executes an op of a task, it calls
 * `ns_virtual_come_to`: the task's body, on a fiber (a stack) of its own, then runs to its next call of the library.
 * This call must be the next op of the row that is not RUN. The body's time up to this call is the time of the segments
 * in between. */
#pragma once

#include <stddef.h>

#include "api/operations.h"
#include "control/iteration_boundary.h"
#include "platform/fiber.h"
#include "record/growing.h"
#include "virtual/virtual_engine.h"

/* In a virtual_call, NS_OP_SIGNAL also stands for NS_OP_BROADCAST, and NS_VIRTUAL_GET, a wait for a future, for
 * NS_OP_WAIT or for no op of the row. */
enum { NS_VIRTUAL_GET = NS_OP_END + 1 };

/* A call of a body. */
typedef struct {
    uint32_t op;                /* an op of the graph, END if the body has returned, or NS_VIRTUAL_GET */
    uint32_t argument;          /* the synchronisation object (word) that is used */
    const ns_work_order *order; /* for a spawn or a call: what to run */
    const ns_future *future;    /* for NS_VIRTUAL_GET */
} virtual_call;

typedef struct virtual_task virtual_task;
struct virtual_task {
    ns_task base;
    virtual_task *before, *behind; /* neighbours in the list of all tasks of the pool */
    uint32_t row;                  /* the task's row */
    uint32_t end;                  /* the body has made all calls for ops before this op */
    ns_fiber *fiber;               /* the fiber of the body; NULL: the body has not begun */
    virtual_call asked;            /* the call in which the body waits */
    virtual_task *callee;          /* the task that the body is about to call */
    bool called;                   /* whether another task has called this task, which then uses the caller's fiber */
    ns_body *body;
    ns_future *future;
    void *arguments; /* `copy`; for a call, the caller's arguments */
    _Alignas(max_align_t) char copy[];
};

typedef struct {
    ns_pool base;
    ns_fields *fields;
    ns_plan_file file;
    uint64_t seed;
    ns_virtual_engine *engine;
    ns_iteration_boundary boundary;
    ns_worker *workers;
    const ns_work_order *order; /* what the roots (first tasks) of the running phase run */
    virtual_task *tasks;        /* the list of all tasks */
    virtual_task **of_row;      /* [rows] the task of each row, or NULL */
    uint32_t *depends;          /* [rows] number of predecessors; NULL if no task has predecessors */
    int64_t *compute_ps;        /* [ops] measured times of the running segments; NULL: the times in the plan */
    int64_t since_ps, taken_ps; /* CPU time when the running body resumed; CPU time that it took up to its call */
    int64_t clock_cost_ps;      /* the CPU time that reading the clock takes */
    ns_fiber *main;             /* the fiber of the caller of ns_pool_run, which also runs the engine */
    ns_growing spare;           /* of ns_fiber *: the fibers of ended tasks, for reuse */
    int error;
} virtual_pool;

static inline virtual_pool *pool_of(const virtual_task *task) { return (virtual_pool *)task->base.worker->pool; }

/* ---- bodies (virtual_bodies.c) ----------------------------------------------------------------------------------- */

/* Run the body up to its next call. This is the function `come_to` of ns_virtual_host. */
int ns_virtual_come_to(void *pool, uint32_t worker, uint32_t row, uint32_t op);

void ns_virtual_free_task(virtual_pool *pool, virtual_task *task);

extern const ns_task_operations ns_virtual_calls;
