/* What programs call in virtual time: each call is an op of the plan's graph. */
#include <stdlib.h>

#include "dependences/dependences.h"
#include "virtual/virtual.h"
#include "virtual/virtual_state.h"

/* ---- spawning and joining ---------------------------------------------------------------------------------------- */

static void spawn(ns_task *self, const ns_work_order *order) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    const uint32_t row = ns_virtual_expect(w, task, NS_OP_SPAWN);
    task->at++;
    ns_virtual_spawn(w, task, ns_virtual_new_task(w, row, order));
    ns_virtual_settle(w, task);
    ns_virtual_went_on(task);
}

/* What a child waits for is said by the plan's graph, too: the program is not another in this if it finds as many. */
static void spawn_after(ns_task *self, const ns_work_order *order) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    const virtual_pool *pool = pool_of(w);
    const uint32_t row = ns_virtual_expect(w, task, NS_OP_SPAWN);
    ns_dependences *known = ns_dependences_open(self);
    ns_dependent *made = known ? ns_arena_take(&known->arena, sizeof *made) : NULL;
    if (made) ns_dependent_create(made);
    if (!made || !ns_dependences_find(known, made, order->dependences, order->dependence_count)) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the dependences of task %u", row);
    }
    const uint32_t there = pool->graph.depends ? pool->graph.depends[row] : 0;
    if (known->before_count != there) {
        ns_virtual_fail(w, NS_ERROR_PROGRAM, "task %u waits for %u others where that of the plan's graph waits for %u",
                        row, known->before_count, there);
    }
    spawn(self, order);
}

static void join(ns_task *self) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    ns_virtual_expect(w, task, NS_OP_WAIT);
    ns_virtual_wait(w, task);
    ns_dependences_close(self);
    ns_virtual_went_on(task);
}

/* The caller is off the stack until the callee's end puts it back, wherever that is; both are on the same fiber. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    virtual_task *caller = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(caller);
    const uint32_t row = ns_virtual_expect(w, caller, NS_OP_CALL);
    if (ns_fiber_left(pool_of(w)->running) < NS_LEAST_STACK_BYTES)
        ns_virtual_fail(w, NS_ERROR_MEMORY, "the calls of task %u nest too deeply for their stack", row);
    caller->at++;
    virtual_task *callee = ns_virtual_new_task(w, row, &(ns_work_order){.body = body});
    callee->begun = true;
    callee->spawner = 0; /* nobody has spawned it */
    callee->fiber = caller->fiber;
    callee->depth = caller->depth;
    ns_virtual_enter_group(callee, caller);
    callee->spawner = 0; /* nobody has spawned it */
    w->stack.task[w->stack.count - 1] = callee;
    ns_live_subtrees *subtrees = pool_of(w)->plan->counts_live ? &pool_of(w)->live : NULL;
    if (subtrees) ns_live_create_task(subtrees, row);
    if (subtrees) ns_live_begin(subtrees, w->base.id, row);
    ns_virtual_went_on(callee);
    body(&callee->base, arguments);
    ns_virtual_end_body(callee);
    w = worker_of(callee);
    ns_virtual_forget_taker(callee);
    if (subtrees) ns_live_finish(subtrees, row);
    w->stack.task[w->stack.count - 1] = caller;
    caller->base.worker = &w->base;
    ns_virtual_drop(pool_of(w), callee);
    ns_virtual_went_on(caller);
}

/* A future is awaited by a WAIT of the graph, where there is one. */
static void get(ns_task *self, ns_future *future) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    if (ns_virtual_op_at(pool_of(w), task) == NS_OP_WAIT) ns_virtual_wait(w, task);
    if (!future->done) {
        ns_virtual_fail(worker_of(task), NS_ERROR_UNSUPPORTED,
                        "task %u awaits a future for which its graph has no wait", task->row);
    }
    ns_virtual_went_on(task);
}

/* ---- synchronisation objects ------------------------------------------------------------------------------------- */

/* Come to an op on a synchronisation object, pay what is owed, and begin it; the worker. */
static virtual_worker *use_word(virtual_task *task, enum ns_op op, uint32_t word) {
    virtual_worker *w = ns_virtual_end_segment(task);
    const uint32_t there = ns_virtual_expect(w, task, op);
    if (there != word) {
        ns_virtual_fail(w, NS_ERROR_PROGRAM, "task %u uses word %u where the plan's graph has word %u", task->row, word,
                        there);
    }
    if (w->state.owed_ps) ns_virtual_step_overhead(w, NS_RANK_PUT, 0);
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
    w->state.counters.idle_barrier_ps -= now_of(w);
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
        w->state.owed_ps += owed_ps;
    } else {
        w->state.counters.parked_ps -= now_of(w);
        ns_virtual_suspend(w);
        w->state.counters.parked_ps += now_of(w);
        ns_virtual_record(pool_of(w), NS_RANK_WAKE, w->base.id, task->row, 0);
    }
    ns_virtual_went_on(task);
}

static void signal(ns_task *self, uint32_t word, uint32_t permits) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    const bool broadcasts = ns_virtual_op_at(pool_of(w), task) == NS_OP_BROADCAST;
    w = use_word(task, broadcasts ? NS_OP_BROADCAST : NS_OP_SIGNAL, word);
    w->state.owed_ps += ns_sync_signal(pool_of(w)->sync, word, w->base.id, permits);
    ns_virtual_went_on(task);
}

/* ---- what synchronisation tells it ---------------------------------------------------------------------------- */

static void on_released(void *context, uint32_t actor, int64_t leave_ps) {
    virtual_worker *w = &((virtual_pool *)context)->workers[actor];
    w->state.counters.idle_barrier_ps += leave_ps;
    ns_virtual_schedule(w, NS_RANK_WAKE, leave_ps - now_of(w));
}

static void on_woken(void *context, uint32_t actor, int64_t delay_ps) {
    ns_virtual_schedule(&((virtual_pool *)context)->workers[actor], NS_RANK_WAKE, delay_ps);
}

static void on_expected(void *context, uint32_t actor, enum ns_rank rank, int64_t due_ps) {
    (void)actor;
    (void)rank;
    ns_virtual_require_time(context, (uint64_t)due_ps);
}

ns_sync_listener ns_virtual_listener(virtual_pool *pool) {
    return (ns_sync_listener){.context = pool, .expected = on_expected, .released = on_released, .woken = on_woken};
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

static void refuse(ns_task *self, int error, const char *sentence) {
    ns_virtual_fail((virtual_worker *)self->worker, error, "%s", sentence);
}

const ns_task_operations ns_virtual_calls = {
    .spawn = spawn,
    .spawn_after = spawn_after,
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
    .refuse = refuse,
};

void ns_virtual_begin_group(ns_task *self) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    ns_virtual_expect(w, task, NS_OP_GROUP);
    virtual_group *begun = malloc(sizeof *begun);
    if (!begun) ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for a group of task %u", task->row);
    *begun = (virtual_group){.owner = task, .around = task->innermost};
    task->innermost = begun;
    task->at++;
    ns_virtual_went_on(task);
}

void ns_virtual_end_group(ns_task *self) {
    virtual_task *task = (virtual_task *)self;
    virtual_worker *w = ns_virtual_end_segment(task);
    ns_virtual_expect(w, task, NS_OP_END_GROUP);
    virtual_group *ended = task->innermost;
    ns_virtual_wait(w, task);
    task->innermost = ended->around;
    free(ended);
    ns_virtual_went_on(task);
}
