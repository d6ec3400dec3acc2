/* What programs call in virtual time. A body runs in lockstep with its row of the plan's graph: what lies between two
 * calls is a RUN op, each call is the op of its name; a program that does something else is not the one that the plan
 * was made for.
 */
#include <stdlib.h>

#include "cpu_clock.h"
#include "virtual/virtual_state.h"

/* ---- the graph --------------------------------------------------------------------------------------------------- */

static enum ns_op op_at(const virtual_pool *pool, const virtual_task *task) {
    const bool ended = task->at >= (uint32_t)pool->plan->graph.op_ptr.at[task->row + 1];
    return ended ? NS_OP_END : (enum ns_op)pool->plan->graph.op_code.at[task->at];
}

/* Check that the next op is `op`; its argument. */
static uint32_t expect(virtual_worker *w, const virtual_task *task, enum ns_op op) {
    const virtual_pool *pool = pool_of(w);
    const enum ns_op there = op_at(pool, task);
    if (there != op) {
        ns_virtual_fail(w, NS_ERROR_PROGRAM, "task %u comes to '%s' where the plan's graph has '%s'", task->row,
                        NS_OP_NAME[op], NS_OP_NAME[there]);
    }
    return op == NS_OP_END ? 0 : pool->plan->graph.op_arg.at[task->at];
}

void ns_virtual_went_on(virtual_task *task) {
    virtual_pool *pool = pool_of(worker_of(task));
    if (pool->base.options.costs == NS_COSTS_MEASURED) task->since_ps = ns_cpu_ps();
}

/* What the body has taken since it went on, or -1 where the plan says what its segments take. */
static int64_t measured_ps(const virtual_pool *pool, const virtual_task *task) {
    if (pool->base.options.costs != NS_COSTS_MEASURED) return -1;
    const int64_t taken_ps = ns_cpu_ps() - task->since_ps - pool->clock_cost_ps;
    return taken_ps > 0 ? taken_ps : 0;
}

static void run_segment(virtual_worker *w, virtual_task *task, int64_t compute_ps) {
    virtual_pool *pool = pool_of(w);
    const uint32_t segment = pool->plan->graph.op_arg.at[task->at];
    const ns_segment_time time = ns_pages_start(pool->pages, segment, w->base.node, compute_ps);
    w->counter[NS_WORK_LOCAL_PS] += time.local_ps;
    w->counter[NS_INFLATION_NUMA_PS] += time.total_ps - time.local_ps;
    const int64_t owed_ps = w->owed_ps + time.owed_ps;
    w->owed_ps = 0;
    w->counter[NS_OVERHEAD_PS] += owed_ps;
    ns_virtual_step(w, NS_RANK_SEG_END, owed_ps + time.total_ps);
    task->at++;
}

/* Let the work since the last call take its time; the worker that did it. */
static virtual_worker *end_segment(virtual_task *task) {
    virtual_worker *w = worker_of(task);
    virtual_pool *pool = pool_of(w);
    int64_t compute_ps = measured_ps(pool, task);
    while (op_at(pool, task) == NS_OP_RUN) {
        run_segment(w, task, compute_ps);
        if (compute_ps > 0) compute_ps = 0;
    }
    return w;
}

/* ---- spawning and joining ---------------------------------------------------------------------------------------- */

static void spawn(ns_task *self, const ns_work_order *order) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = end_segment(task);
    const uint32_t row = expect(w, task, NS_OP_SPAWN);
    task->at++;
    ns_virtual_spawn(w, task, ns_virtual_new_task(w, row, order));
    ns_virtual_went_on(task);
}

/* Join `continuation`: the task leaves the worker; its last child's worker goes on with it. */
static void detach(virtual_worker *w, virtual_task *task) {
    task->at++;
    task->waiting = true;
    w->stack.count--;
    ns_virtual_settle(w, task);
}

/* Join `block`: the worker pays what it owes and sleeps until the last child has finished. */
static void sleep_in_join(virtual_worker *w, virtual_task *task) {
    task->waiting = true;
    task->sleeper = w;
    w->blocked_until_ps = now_of(w) + w->owed_ps;
    w->counter[NS_OVERHEAD_PS] += w->owed_ps;
    w->counter[NS_PARKED_PS] -= w->blocked_until_ps;
    w->owed_ps = 0;
    ns_virtual_suspend(w);
    w->counter[NS_PARKED_PS] += now_of(w);
    ns_virtual_record(pool_of(w), NS_RANK_WAKE, w->base.id, task->row, 0);
}

/* WAIT, behind the last segment. */
static void wait_for_children(virtual_worker *w, virtual_task *task) {
    const enum ns_join_kind join = pool_of(w)->plan->join;
    while (task->pending) {
        if (join == NS_JOIN_CONTINUATION) {
            detach(w, task);
            return;
        }
        if (join == NS_JOIN_BLOCK) {
            sleep_in_join(w, task);
        } else {
            ns_virtual_search(w, task);
            ns_virtual_settle(w, task);
        }
        w = worker_of(task);
    }
    if (w->idle) ns_virtual_end_idle(w);
    task->at++;
    w->owed_ps += pool_of(w)->plan->costs.wait_ps;
}

static void join(ns_task *self) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = end_segment(task);
    expect(w, task, NS_OP_WAIT);
    wait_for_children(w, task);
    ns_virtual_went_on(task);
}

void ns_virtual_end_body(virtual_task *task) {
    virtual_worker *w = end_segment(task);
    if (op_at(pool_of(w), task) == NS_OP_WAIT) wait_for_children(w, task);
    expect(worker_of(task), task, NS_OP_END);
}

/* The caller is off the stack until the callee's end puts it back, wherever that is; both are on the same fiber. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    virtual_task *caller = (virtual_task *)self;
    virtual_worker *w = end_segment(caller);
    const uint32_t row = expect(w, caller, NS_OP_CALL);
    caller->at++;
    virtual_task *callee = ns_virtual_new_task(w, row, &(ns_work_order){.body = body});
    callee->begun = true;
    callee->fiber = caller->fiber;
    w->stack.task[w->stack.count - 1] = callee;
    ns_virtual_went_on(callee);
    body(&callee->base, arguments);
    ns_virtual_end_body(callee);
    w = worker_of(callee);
    w->stack.task[w->stack.count - 1] = caller;
    caller->base.worker = &w->base;
    ns_virtual_drop(callee);
    ns_virtual_went_on(caller);
}

/* A future is awaited by a WAIT of the graph, where there is one. */
static void get(ns_task *self, ns_future *future) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = end_segment(task);
    if (op_at(pool_of(w), task) == NS_OP_WAIT) wait_for_children(w, task);
    if (!future->done) {
        ns_virtual_fail(worker_of(task), NS_ERROR_UNSUPPORTED,
                        "task %u awaits a future for which its graph has no wait", task->row);
    }
    ns_virtual_went_on(task);
}

/* ---- shared words ------------------------------------------------------------------------------------------------ */

/* Come to an op on a shared word, pay what is owed, and begin it; the worker. */
static virtual_worker *use_word(virtual_task *task, enum ns_op op, uint32_t word) {
    virtual_worker *w = end_segment(task);
    const uint32_t there = expect(w, task, op);
    if (there != word) {
        ns_virtual_fail(w, NS_ERROR_PROGRAM, "task %u uses word %u where the plan's graph has word %u", task->row, word,
                        there);
    }
    if (w->owed_ps) ns_virtual_step_overhead(w, NS_RANK_PUT, 0);
    task->at++;
    return w;
}

static void lock(ns_task *self, uint32_t word) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = use_word(task, NS_OP_LOCK, word);
    ns_virtual_acquire(w, word);
    ns_virtual_went_on(task);
}

static void unlock(ns_task *self, uint32_t word) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = use_word(task, NS_OP_UNLOCK, word);
    ns_sync_release(pool_of(w)->sync, word, w->base.id, now_of(w));
    ns_virtual_went_on(task);
}

static int64_t add(ns_task *self, uint32_t word, int64_t value) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = use_word(task, NS_OP_ATOMIC, word);
    ns_virtual_acquire(w, word);
    ns_sync_release(pool_of(w)->sync, word, w->base.id, now_of(w));
    const int64_t before = w->base.pool->words[word].value;
    w->base.pool->words[word].value += value;
    ns_virtual_went_on(task);
    return before;
}

static void arrive(ns_task *self, uint32_t word) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = use_word(task, NS_OP_BARRIER, word);
    w->counter[NS_IDLE_BARRIER_PS] -= now_of(w);
    ns_sync_arrive(pool_of(w)->sync, word, w->base.id, now_of(w));
    ns_virtual_suspend(w);
    ns_virtual_record(pool_of(w), NS_RANK_WAKE, w->base.id, task->row, 0);
    ns_virtual_went_on(task);
}

static void await(ns_task *self, uint32_t word) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = use_word(task, NS_OP_AWAIT, word);
    int64_t owed_ps;
    if (ns_sync_await(pool_of(w)->sync, word, w->base.id, &owed_ps)) {
        w->owed_ps += owed_ps;
    } else {
        w->counter[NS_PARKED_PS] -= now_of(w);
        ns_virtual_suspend(w);
        w->counter[NS_PARKED_PS] += now_of(w);
        ns_virtual_record(pool_of(w), NS_RANK_WAKE, w->base.id, task->row, 0);
    }
    ns_virtual_went_on(task);
}

static void signal(ns_task *self, uint32_t word, uint32_t permits) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = end_segment(task);
    const bool broadcasts = op_at(pool_of(w), task) == NS_OP_BROADCAST;
    w = use_word(task, broadcasts ? NS_OP_BROADCAST : NS_OP_SIGNAL, word);
    w->owed_ps += ns_sync_signal(pool_of(w)->sync, word, w->base.id, permits);
    ns_virtual_went_on(task);
}

/* ---- what synchronisation tells it ---------------------------------------------------------------------------- */

static void on_released(void *context, uint32_t actor, int64_t leave_ps) {
    virtual_worker *w = &((virtual_pool *)context)->workers[actor];
    w->counter[NS_IDLE_BARRIER_PS] += leave_ps;
    ns_virtual_schedule(w, NS_RANK_WAKE, leave_ps - now_of(w));
}

static void on_woken(void *context, uint32_t actor, int64_t delay_ps) {
    virtual_worker *w = &((virtual_pool *)context)->workers[actor];
    const int64_t most_ps = NS_LATEST_PS - now_of(w);
    ns_virtual_schedule(w, NS_RANK_WAKE, delay_ps < most_ps ? delay_ps : most_ps);
}

ns_sync_listener ns_virtual_listener(virtual_pool *pool) {
    return (ns_sync_listener){.context = pool, .released = on_released, .woken = on_woken};
}

/* ---- what is only told ---------------------------------------------------------------------------------------------
 */

static void work(ns_task *self, int64_t picoseconds) {
    (void)self;
    (void)picoseconds; /* the plan knows what its segments take */
}

static void declare(ns_task *self, const ns_access *access) {
    (void)self;
    (void)access; /* and what they access */
}

const ns_task_operations ns_virtual_calls = {
    .spawn = spawn,
    .call = call,
    .join = join,
    .get = get,
    .work = work,
    .access = declare,
    .lock = lock,
    .unlock = unlock,
    .add = add,
    .arrive = arrive,
    .await = await,
    .signal = signal,
};
