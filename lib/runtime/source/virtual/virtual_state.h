/* The state of a run in virtual time: bodies beside the simulator's engine.
 *
 * The engine (lib/engine), on the fiber of whoever runs the pool, decides all that workers do. Before it executes
 * an op of a task, it calls `ns_virtual_come_to`: the task's body, on a fiber of its own, runs on to its next call of
 * the library, which has to be the next op of its row in the plan's graph but for segments. What the body takes until
 * then is the time of those.
 */
#ifndef NS_VIRTUAL_STATE_H
#define NS_VIRTUAL_STATE_H

#include <stddef.h>

#include "api/operations.h"
#include "control/iteration_boundary.h"
#include "platform/fiber.h"
#include "virtual/virtual_engine.h"

/* Two of its calls are several ops: SIGNAL stands for BROADCAST, too, and a future is awaited by a WAIT, where there is
 * one. */
enum { NS_VIRTUAL_GET = NS_OP_END + 1 };

/* What a body calls. */
typedef struct {
    uint32_t op;                /* an op of the graph, END where the body has returned, or NS_VIRTUAL_GET */
    uint32_t argument;          /* the word */
    const ns_work_order *order; /* of a spawn or a call */
    const ns_future *future;
} virtual_call;

typedef struct virtual_task virtual_task;
struct virtual_task {
    ns_task base;
    virtual_task *before, *behind; /* among all tasks of the pool */
    uint32_t row;                  /* in the plan's graph */
    uint32_t end;                  /* its body has come to all ops up to before this one */
    ns_fiber *fiber;               /* of its body, once that has begun */
    virtual_call asked;            /* what its body waits for */
    virtual_task *callee;          /* that its body is about to call */
    bool called;                   /* by another task, on whose fiber it is */
    ns_body *body;
    ns_future *future;
    void *arguments; /* `copy`; of a call, the caller's */
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
    const ns_work_order *order; /* of the roots of the phase that runs */
    virtual_task *tasks;        /* all that there are */
    virtual_task **of_row;      /* [rows] the task of each row, or NULL */
    uint32_t *depends;          /* [rows] predecessors; NULL where no task has any */
    int64_t *compute_ps;        /* [ops] what the segments under way have computed; NULL: as planned */
    int64_t since_ps, taken_ps; /* CPU time when the running body went on; what it took then up to its next call */
    int64_t clock_cost_ps;      /* what measuring takes, of every measurement */
    ns_fiber *main;             /* the caller of ns_pool_run, and the engine */
    ns_fiber **fibers, **spare; /* [fiber_room] all fibers of tasks; those of finished ones */
    uint32_t fiber_count, spare_count, fiber_room;
    uint64_t phases_run; /* every run of one */
    int error;
} virtual_pool;

static inline virtual_pool *pool_of(const virtual_task *task) { return (virtual_pool *)task->base.worker->pool; }

/* ---- bodies (virtual_bodies.c) ----------------------------------------------------------------------------------- */

/* What `ns_virtual_host` asks for. */
int ns_virtual_come_to(void *pool, uint32_t worker, uint32_t row, uint32_t op);

/* The body of a task makes a call: returns when the engine has executed the op that it stands for. */
void ns_virtual_ask(virtual_task *task, virtual_call call);

/* The running body may not go on: the run ends. Does not return. */
_Noreturn void ns_virtual_fail(virtual_task *task, int error, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

void ns_virtual_free_task(virtual_pool *pool, virtual_task *task);

/* ---- what programs call (virtual_calls.c) ------------------------------------------------------------------------ */

extern const ns_task_operations ns_virtual_calls;

#endif
