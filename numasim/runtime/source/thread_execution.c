/* Executing tasks on the worker's stack: spawns, calls, joins, futures, words. */
#include "threads.h"

/* ---- joins ------------------------------------------------------------------------------------------------------- */

static bool is_joined(const void *context) { return ns_thread_task_is_joined(context); }

static void join(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!ns_thread_task_is_joined(task)) {
        ns_thread_work_until(ns_thread_worker_of(task), &(ns_thread_wait){task, is_joined, task});
    }
    ns_thread_task_forget(task);
    self->worker->top = task->mark;
}

void ns_lane_join_rest(ns_lane_task *task) { join(&task->base); }

void ns_lane_execute_other(ns_worker *worker, ns_lane_task *task) {
    ns_thread_execute((ns_thread_worker *)worker, task);
}

void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task) {
    task->base.worker = &worker->base;
    task->mark = worker->base.top;
    task->body(&task->base, task->inlined);
    if (task->pending) join(&task->base);
    ns_thread_task_end(worker, task);
}

void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait) {
    for (ns_thread_task *next; (next = ns_thread_seek(worker, wait));) ns_thread_execute(worker, next);
}

static bool is_done(const void *context) {
    const ns_future *future = context;
    /* acquire: what the future's task did */
    return ns_atomic_u32_load((const ns_atomic_u32 *)(const void *)&future->done, memory_order_acquire) != 0;
}

static void get(ns_task *self, ns_future *future) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!is_done(future)) {
        ns_thread_work_until(ns_thread_worker_of(task), &(ns_thread_wait){task, is_done, future});
    }
}

/* ---- spawns ------------------------------------------------------------------------------------------------------ */

/* Run a body as a part of `self` with children of its own. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    ns_thread_task part;
    part.base = *self;
    part.mark = self->worker->top;
    ns_thread_task_forget(&part);
    body(&part.base, arguments);
    if (part.pending) join(&part.base);
}

/* Where memory for a task is short, its parent executes it. */
static void execute_order(ns_thread_task *self, const ns_work_order *order) {
    call(&self->base, order->body, (void *)(uintptr_t)order->arguments);
    if (order->future) {
        /* release: the end of a task, as in thread_tasks.c */
        ns_atomic_u32_store((ns_atomic_u32 *)(void *)&order->future->done, 1, memory_order_release);
    }
}

static void spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    ns_thread_task *child = ns_thread_task_create(worker, parent, order);
    if (!child) {
        execute_order(parent, order);
        return;
    }
    parent->pending++;
    if (!ns_thread_place(worker, child, order->accesses, order->access_count)) ns_thread_execute(worker, child);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static ns_thread_words *words_of(ns_task *self) { return ns_thread_pool_of((ns_thread_worker *)self->worker)->words; }

static ns_word_user user_of(ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    return (ns_word_user){worker->base.id, (uint32_t)worker->base.node, &worker->counters[NS_IDLE_BARRIER_PS],
                          &worker->counters[NS_PARKED_PS]};
}

static void lock(ns_task *self, uint32_t word) { ns_thread_words_lock(words_of(self), word, user_of(self)); }

static void unlock(ns_task *self, uint32_t word) { ns_thread_words_unlock(words_of(self), word, user_of(self)); }

static int64_t add(ns_task *self, uint32_t word, int64_t value) {
    return ns_thread_words_fetch_add(words_of(self), word, value, user_of(self));
}

static void arrive(ns_task *self, uint32_t word) { ns_thread_words_arrive(words_of(self), word, user_of(self)); }

static void await(ns_task *self, uint32_t word) { ns_thread_words_await(words_of(self), word, user_of(self)); }

static void signal(ns_task *self, uint32_t word, uint32_t permits) {
    ns_thread_words_signal(words_of(self), word, permits, user_of(self));
}

/* ---- what only recordings listen to -------------------------------------------------------------------------------
 */

static void work(ns_task *self, int64_t picoseconds) { (void)self, (void)picoseconds; }

static void access(ns_task *self, const ns_access *one) { (void)self, (void)one; }

const ns_operations ns_thread_mode = {
    .open = ns_thread_pool_open,
    .close = ns_thread_pool_close,
    .run = ns_thread_pool_run,
    .spawn = spawn,
    .call = call,
    .join = join,
    .get = get,
    .work = work,
    .access = access,
    .lock = lock,
    .unlock = unlock,
    .add = add,
    .arrive = arrive,
    .await = await,
    .signal = signal,
    .report = ns_thread_pool_report,
};
