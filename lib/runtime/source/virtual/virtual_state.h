/* The state of a run in virtual time: the program's bodies and the simulator's engine.
 *
 * The engine (lib/engine) runs on the fiber of the pool's caller, and decides all that workers do. Before the engine
 * executes an op of a task, the engine calls `ns_virtual_come_to`. The task's body, on a fiber of its own, then runs to
 * the body's next call of the library. Apart from segments, this call must be the next op of the task's row in the
 * plan's graph. The body's time up to this call is the time of the segments in between. */
#pragma once

#include <stddef.h>

#include "api/operations.h"
#include "control/iteration_boundary.h"
#include "platform/fiber.h"
#include "record/growing.h"
#include "virtual/virtual_engine.h"

/* Two values of `op` in virtual_call stand for several ops: NS_OP_SIGNAL also for NS_OP_BROADCAST; and NS_VIRTUAL_GET,
 * a wait for a future, for NS_OP_WAIT or for no op. */
enum { NS_VIRTUAL_GET = NS_OP_END + 1 };

/* A call of a body. */
typedef struct {
    uint32_t op;                /* an op of the graph, END if the body has returned, or NS_VIRTUAL_GET */
    uint32_t argument;          /* the word (synchronisation object) */
    const ns_work_order *order; /* the order of a spawn or a call */
    const ns_future *future;
} virtual_call;

typedef struct virtual_task virtual_task;
struct virtual_task {
    ns_task base;
    virtual_task *before, *behind; /* neighbours in the list of all tasks of the pool */
    uint32_t row;                  /* the task's row in the plan's graph */
    uint32_t end;                  /* the body has reached all ops before this op */
    ns_fiber *fiber;               /* the fiber of the body, as soon as the body has begun */
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
    const ns_work_order *order; /* the order of the roots of the running phase */
    virtual_task *tasks;        /* the list of all tasks */
    virtual_task **of_row;      /* [rows] the task of each row, or NULL */
    uint32_t *depends;          /* [rows] number of predecessors; NULL if no task has predecessors */
    int64_t *compute_ps;        /* [ops] measured times of the running segments; NULL: the times in the plan */
    int64_t since_ps, taken_ps; /* CPU time at which the running body resumed; its time up to its next call */
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
