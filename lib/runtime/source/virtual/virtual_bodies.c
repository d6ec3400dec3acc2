/* Bodies of tasks in virtual time. Each body runs on a fiber (a stack of its own) up to its next call of the library.
 * This call must be the next op (operation) of the task's row, its entry in the plan's task graph: a program whose
 * calls differ from the graph is refused. The simulator's engine executes the ops, and decides when bodies resume. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dependences/dependences.h"
#include "platform/ticks.h"
#include "virtual/virtual_state.h"

#define STACK_BYTES ((size_t)8 << 20) /* address space; only touched pages take memory */

/* ---- on the fibers of bodies ------------------------------------------------------------------------------------- */

static void go_on(virtual_pool *pool) {
    if (pool->compute_ps) pool->since_ps = ns_cpu_ps();
}

/* Leave the body, which makes `call`, for the engine. Return when the engine has executed the call's op. */
static void ask_engine(virtual_task *task, virtual_call call) {
    virtual_pool *pool = pool_of(task);
    if (pool->compute_ps) {
        const int64_t taken_ps = ns_cpu_ps() - pool->since_ps - pool->clock_cost_ps;
        pool->taken_ps = taken_ps > 0 ? taken_ps : 0;
    }
    task->asked = call;
    ns_fiber_switch(task->fiber, pool->main);
    go_on(pool); /* `task` may have been freed */
}

/* End the run with an error. The running body never resumes. */
__attribute__((format(printf, 3, 4))) static _Noreturn void fail(virtual_task *task, int error, const char *sentence,
                                                                 ...) {
    virtual_pool *pool = pool_of(task);
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(pool->base.problem, sizeof pool->base.problem, sentence, arguments);
    va_end(arguments);
    pool->error = error;
    ns_fiber_switch(task->fiber, pool->main);
    abort(); /* unreachable: a failed run is not resumed */
}

/* The main function of a fiber. */
static void live(void *argument) {
    virtual_task *task = argument;
    go_on(pool_of(task));
    task->body(&task->base, task->arguments);
    ask_engine(task, (virtual_call){.op = NS_OP_END});
    abort(); /* unreachable: a task that has ended is not resumed */
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static int no_memory(virtual_pool *pool, const char *what, uint32_t row) {
    return ns_pool_fail(&pool->base, NS_ERROR_MEMORY, "there is no memory for %stask %u", what, row);
}

/* Make the task of a row. `creator` spawns or calls the task; NULL: the task is a root. */
static int make_task(virtual_pool *pool, uint32_t row, const ns_work_order *order, const virtual_task *creator) {
    virtual_task *task = malloc(sizeof *task + order->bytes);
    if (!task) return no_memory(pool, "", row);
    *task = (virtual_task){
        .base = {.worker = creator ? creator->base.worker : pool->workers, .whole = &task->base},
        .behind = pool->tasks,
        .row = row,
        .end = (uint32_t)pool->file.plan.graph.op_ptr.at[row],
        .body = order->body,
        .future = order->future,
        .arguments = task->copy,
    };
    if (order->bytes) memcpy(task->arguments, order->arguments, order->bytes);
    if (pool->tasks) pool->tasks->before = task;
    pool->tasks = pool->of_row[row] = task;
    return NS_OK;
}

void ns_virtual_free_task(virtual_pool *pool, virtual_task *task) {
    *(task->before ? &task->before->behind : &pool->tasks) = task->behind;
    if (task->behind) task->behind->before = task->before;
    pool->of_row[task->row] = NULL;
    ns_dependences_close(&task->base);
    if (!task->called) ns_fiber_destroy(task->fiber);
    free(task);
}

/* Return a fiber that runs `task`; NULL if memory is short. */
static ns_fiber *fiber_for(virtual_pool *pool, virtual_task *task) {
    ns_fiber *fiber = NULL;
    if (!pool->spare.count) return ns_fiber_create(&fiber, STACK_BYTES, live, task) ? NULL : fiber;
    fiber = ((ns_fiber **)pool->spare.entries)[--pool->spare.count];
    ns_fiber_reuse(fiber, live, task);
    return fiber;
}

static void end_task(virtual_pool *pool, virtual_task *task) {
    if (task->future) task->future->done = 1;
    ns_fiber **spare = task->called ? NULL : ns_growing_add(&pool->spare, sizeof *spare);
    if (spare) {
        *spare = task->fiber;
        task->fiber = NULL;
    }
    ns_virtual_free_task(pool, task);
}

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static uint32_t end_of(const virtual_pool *pool, const virtual_task *task) {
    return (uint32_t)pool->file.plan.graph.op_ptr.at[task->row + 1];
}

static enum ns_op op_at(const virtual_pool *pool, const virtual_task *task, uint32_t op) {
    return op >= end_of(pool, task) ? NS_OP_END : (enum ns_op)pool->file.plan.graph.op_code.at[op];
}

static int differs(virtual_pool *pool, const virtual_task *task, uint32_t op) {
    return ns_pool_fail(&pool->base, NS_ERROR_PROGRAM, "task %u comes to '%s' where the plan's graph has '%s'",
                        task->row, NS_OP_WORD[task->asked.op], NS_OP_WORD[op_at(pool, task, op)]);
}

/* Check that a child waits for as many siblings as its row in the graph has predecessors. */
static int check_dependences(virtual_pool *pool, virtual_task *parent, uint32_t row, const ns_work_order *order) {
    ns_dependences *known = ns_dependences_open(&parent->base);
    ns_dependent *made = known ? ns_arena_take(&known->arena, sizeof *made) : NULL;
    if (made) ns_dependent_create(made);
    if (!made || !ns_dependences_find(known, made, order->dependences, order->dependence_count))
        return no_memory(pool, "the dependences of ", row);
    const uint32_t there = pool->depends ? pool->depends[row] : 0;
    if (known->before.count == there) return NS_OK;
    return ns_pool_fail(&pool->base, NS_ERROR_PROGRAM,
                        "task %u waits for %u others; in the plan's graph the task waits for %u", row,
                        (uint32_t)known->before.count, there);
}

static int create(virtual_pool *pool, virtual_task *task, uint32_t row) {
    const virtual_call *call = &task->asked;
    int error = NS_OK;
    if (call->order->dependence_count) error = check_dependences(pool, task, row, call->order);
    if (!error) error = make_task(pool, row, call->order, task);
    if (error || call->op != NS_OP_CALL) return error;
    task->callee = pool->of_row[row];
    task->callee->called = true;
    task->callee->fiber = task->fiber;
    return NS_OK;
}

static int use_word(virtual_pool *pool, const virtual_task *task, uint32_t there) {
    if (task->asked.argument == there) return NS_OK;
    return ns_pool_fail(&pool->base, NS_ERROR_PROGRAM, "task %u uses word %u where the plan's graph has word %u",
                        task->row, task->asked.argument, there);
}

/* Compare the call that the body has made with `op`, the next op of its row that is not RUN. */
static int match(virtual_pool *pool, virtual_task *task, uint32_t op) {
    const enum ns_op there = op_at(pool, task, op);
    const uint32_t argument = there == NS_OP_END ? 0 : pool->file.plan.graph.op_arg.at[op];
    task->end = op + 1;
    switch (task->asked.op) {
        case NS_VIRTUAL_GET:
            if (there != NS_OP_WAIT) task->end = op; /* the body resumes here; its future must be done by then */
            return NS_OK;
        case NS_OP_END:
            if (there == NS_OP_WAIT) task->end = ++op + 1; /* the end of the body joins the remaining children */
            return op_at(pool, task, op) == NS_OP_END ? NS_OK : differs(pool, task, op);
        case NS_OP_SPAWN:
        case NS_OP_CALL: return there == task->asked.op ? create(pool, task, argument) : differs(pool, task, op);
        case NS_OP_SIGNAL:
            if (there == NS_OP_BROADCAST) return use_word(pool, task, argument);
            return there == NS_OP_SIGNAL ? use_word(pool, task, argument) : differs(pool, task, op);
        case NS_OP_WAIT:
            if (there == NS_OP_WAIT) ns_dependences_close(&task->base);
            return there == NS_OP_WAIT ? NS_OK : differs(pool, task, op);
        default: return there == task->asked.op ? use_word(pool, task, argument) : differs(pool, task, op);
    }
}

/* Let the body, whose next op is `op`, run to its next call. Store its time for the RUN ops in between. */
static int run_on(virtual_pool *pool, virtual_task *task, uint32_t op) {
    if (task->asked.future && !task->asked.future->done) {
        return ns_pool_fail(&pool->base, NS_ERROR_UNSUPPORTED,
                            "task %u awaits a future for which its graph has no wait", task->row);
    }
    if (!task->fiber) task->fiber = fiber_for(pool, task);
    if (!task->fiber) return no_memory(pool, "the stack of ", task->row);
    ns_fiber_switch(pool->main, task->fiber);
    if (pool->error) return pool->error;
    for (; op_at(pool, task, op) == NS_OP_RUN; op++) {
        if (!pool->compute_ps) continue;
        pool->compute_ps[op] = pool->taken_ps;
        pool->taken_ps = 0;
    }
    return match(pool, task, op);
}

int ns_virtual_come_to(void *whole, uint32_t worker, uint32_t row, uint32_t op) {
    virtual_pool *pool = whole;
    int error = pool->of_row[row] ? NS_OK : make_task(pool, row, pool->order, NULL);
    virtual_task *task = pool->of_row[row];
    if (!error) task->base.worker = &pool->workers[worker];
    while (!error && task->end <= op) error = run_on(pool, task, op);
    if (!error && op == end_of(pool, task)) end_task(pool, task);
    return error;
}

/* ---- calls of programs: each is an op of the plan's graph -------------------------------------------------------- */

static void spawn(ns_task *self, const ns_work_order *order) {
    ask_engine((virtual_task *)self, (virtual_call){.op = NS_OP_SPAWN, .order = order});
}

static void join(ns_task *self) { ask_engine((virtual_task *)self, (virtual_call){.op = NS_OP_WAIT}); }

/* Run a call: the callee uses the fiber of its caller. The callee is freed when its end has been executed. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    virtual_task *caller = (virtual_task *)self;
    if (ns_fiber_left(caller->fiber) < NS_LEAST_STACK_BYTES) {
        fail(caller, NS_ERROR_MEMORY, "the calls of task %u nest too deeply for their stack", caller->row);
    }
    ask_engine(caller, (virtual_call){.op = NS_OP_CALL, .order = &(ns_work_order){.body = body}});
    virtual_task *callee = caller->callee;
    body(&callee->base, arguments);
    ask_engine(callee, (virtual_call){.op = NS_OP_END});
}

static void get(ns_task *self, ns_future *future) {
    ask_engine((virtual_task *)self, (virtual_call){.op = NS_VIRTUAL_GET, .future = future});
}

static void ask(ns_task *self, uint32_t op, uint32_t argument) {
    ask_engine((virtual_task *)self, (virtual_call){.op = op, .argument = argument});
}

/* Use a word: the body resumes when the engine has executed `op`. The graph says how many tasks a signal lets pass. */
static int64_t use(ns_task *self, enum ns_op op, uint32_t word, int64_t value) {
    ask(self, op == NS_OP_BROADCAST ? NS_OP_SIGNAL : op, word);
    if (op != NS_OP_ATOMIC) return 0;
    ns_word *counter = &self->worker->pool->words[word];
    const int64_t before = counter->value;
    counter->value += value;
    return before;
}

static void work(ns_task *self, int64_t picoseconds) {} /* the plan has the times of segments */

static void declare(ns_task *self, const ns_access *access) {} /* the plan has the accesses of segments */

static void refuse(ns_task *self, int error, const char *sentence) {
    fail((virtual_task *)self, error, "%s", sentence);
}

const ns_task_operations ns_virtual_calls = {NS_MODE_CALLS(spawn), .op = ask};
