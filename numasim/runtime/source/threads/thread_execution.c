/* Executing tasks on the worker's stack: spawns, calls, joins, futures, words. */
#include <string.h>

#include "platform/futex.h"
#include "threads/thread_fibers.h"
#include "threads/thread_lane.h"

/* ---- joins ------------------------------------------------------------------------------------------------------- */

static bool is_joined(const void *context) { return ns_thread_task_is_joined(context); }
static bool is_balanced(const void *context) { return ns_thread_task_is_balanced(context); }

/* Execute other tasks until the wait of `task` is over. */
static void wait_in(ns_thread_task *task, const ns_thread_wait *wait) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    if (ns_thread_pool_of(worker)->detached)
        ns_thread_fibers_wait(task, wait);
    else
        ns_thread_work_until(worker, wait);
}

static void join_helping(ns_thread_task *task) {
    if (!ns_thread_task_is_joined(task)) wait_in(task, &(ns_thread_wait){&task->base, is_joined, task});
    ns_thread_task_forget(task);
}

static void join_by_continuation(ns_thread_task *task) {
    if (!ns_thread_task_is_balanced(task) && task->fiber) {
        ns_thread_fibers_detach(task); /* the last child leaves it without any */
        return;
    }
    if (!ns_thread_task_is_balanced(task)) wait_in(task, &(ns_thread_wait){&task->base, is_balanced, task});
    ns_thread_task_forget(task);
}

/* The worker will not hear thieves ask: they can have all of its tasks. */
static void share_all(ns_thread_worker *worker) {
    if (worker->own == NS_UNKNOWN) return;
    ns_task_queue *own = ns_thread_pool_of(worker)->queues[worker->own];
    ns_task_queue_publish(own);
}

/* Sleep until the last child has ended. Where all workers do, nobody is left to execute the children: the last one
 * helps after all, and the run ends with an error. */
static void sleep_until_joined(ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(ns_thread_worker_of(task));
    ns_atomic_u32 *left = ns_thread_task_returned(task);
    share_all(ns_thread_worker_of(task));
    /* relaxed: it only counts */
    if (ns_atomic_u32_fetch_add(&pool->blocked, 1, memory_order_relaxed) + 1 >= pool->base.workers) {
        ns_thread_pool_note(pool, NS_ERROR_DEADLOCK, "all workers wait in joins that block");
        ns_thread_work_until(ns_thread_worker_of(task), &(ns_thread_wait){NULL, is_balanced, task});
    }
    uint32_t found;
    /* acquire: what the children did */
    while ((found = ns_atomic_u32_load(left, memory_order_acquire))) ns_futex_wait(left, found);
}

static void join_blocking(ns_thread_task *task) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    const uint64_t came = ns_ticks();
    const uint32_t children = task->pending;
    task->pending = 0;
    /* acquire: what the children did, if all have ended */
    const uint32_t ended = ns_atomic_u32_fetch_add(ns_thread_task_returned(task), children, memory_order_acquire);
    if (ended + children) sleep_until_joined(task);
    ns_thread_count(worker, NS_PARKED_PS, ns_ticks_to_ps(ns_thread_pool_of(worker)->rate, ns_ticks() - came));
}

static void join(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    const ns_thread_pool *pool = ns_thread_pool_of(ns_thread_worker_of(task));
    if (pool->plain) {
        ns_thread_lane_join(self);
        return;
    }
    if (!task->pending) return; /* no child since the last join */
    switch (pool->tables.join) {
        case NS_JOIN_CONTINUATION: join_by_continuation(task); break;
        case NS_JOIN_BLOCK: join_blocking(task); break;
        default: join_helping(task); break;
    }
}

/* ---- execution --------------------------------------------------------------------------------------------------- */

/* Execute a task on the stack that one is on. */
static void execute_here(ns_thread_worker *worker, ns_thread_task *task) {
    /* relaxed: it is its own. NULL where there is no lane */
    const uint64_t top = ns_atomic_u64_load(ns_lane_atomic(&worker->base.lane.top), memory_order_relaxed);
    task->base.worker = &worker->base;
    task->base.top = task->base.mark = (ns_lane_slot *)(uintptr_t)top;
    if (top) task->base.whole = NULL;
    task->body(&task->base, task->inlined);
    join(&task->base);
    ns_thread_task_end(worker, task);
}

void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->asks_parents && task->home) ns_actor_ran(&worker->search.actor, (int32_t)task->home->id);
    if (!pool->detached || !ns_thread_fibers_enter(worker, task)) execute_here(worker, task);
}

void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait) {
    for (;;) {
        ns_thread_task *next = ns_thread_fibers_next(worker);
        if (!next) next = ns_thread_seek(worker, wait);
        if (!next) return;
        ns_thread_execute(worker, next);
    }
}

/* ---- futures ----------------------------------------------------------------------------------------------------- */

static bool is_done(const void *context) {
    const ns_future *future = context;
    /* acquire: what the future's task did */
    return ns_atomic_u32_load((const ns_atomic_u32 *)(const void *)&future->done, memory_order_acquire) != 0;
}

static void get(ns_task *self, ns_future *future) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!is_done(future)) wait_in(task, &(ns_thread_wait){self, is_done, future});
    if (self->mark) ns_thread_lane_look(self);
}

/* ---- spawns ------------------------------------------------------------------------------------------------------ */

/* Run a body as a part of `self` with children of its own. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    if (self->mark) {
        ns_thread_lane_call(self, body, arguments);
        return;
    }
    ns_thread_task *task = (ns_thread_task *)self;
    ns_thread_task part = {.base = *self, .parent = task, .home = task->home, .fiber = task->fiber};
    part.base.whole = &part.base;
    body(&part.base, arguments);
    join(&part.base);
    if (self->worker != part.base.worker) self->worker = part.base.worker; /* a fiber has gone on elsewhere */
}

void ns_thread_execute_order(ns_task *self, const ns_work_order *order) {
    ns_call(self, order->body, (void *)(uintptr_t)order->arguments);
    if (order->future) {
        /* release: the end of a task, as in thread_tasks.c */
        ns_atomic_u32_store((ns_atomic_u32 *)(void *)&order->future->done, 1, memory_order_release);
    }
}

/* Execute a child at once. On fibers, its parent can go on elsewhere meanwhile if it is `offered`. */
static void execute_child(ns_thread_task *parent, ns_thread_task *child, bool offered) {
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    if (!ns_thread_pool_of(worker)->detached) {
        execute_here(worker, child);
    } else if (!ns_thread_fibers_spawn(parent, child, offered)) {
        child->fiber = parent->fiber; /* as a part of it */
        child->body(&child->base, child->inlined);
        join(&child->base);
        child->fiber = NULL;
        parent->base.worker = child->base.worker;
        ns_thread_task_end(ns_thread_worker_of(parent), child);
    }
}

static void spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    if (ns_thread_pool_of(worker)->plain) {
        ns_thread_lane_spawn(self, order);
        return;
    }
    ns_thread_task *child = ns_thread_task_create(worker, parent, order);
    if (!child) {
        ns_thread_execute_order(self, order);
        return;
    }
    parent->pending++;
    child->base.worker = &worker->base;
    const bool offers = ns_thread_pool_of(worker)->tables.work_first && parent->fiber;
    if (offers || !ns_thread_place(worker, child, order->accesses, order->access_count)) {
        execute_child(parent, child, offers);
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static ns_thread_words *words_of(ns_task *self) { return ns_thread_pool_of((ns_thread_worker *)self->worker)->words; }

static ns_word_user user_of(ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    return (ns_word_user){worker->base.id, (uint32_t)worker->base.node, &worker->counters[NS_IDLE_BARRIER_PS],
                          &worker->counters[NS_PARKED_PS]};
}

static void lock_word(ns_task *self, uint32_t word) { ns_thread_words_lock(words_of(self), word, user_of(self)); }

static void unlock_word(ns_task *self, uint32_t word) { ns_thread_words_unlock(words_of(self), word, user_of(self)); }

static int64_t add(ns_task *self, uint32_t word, int64_t value) {
    return ns_thread_words_fetch_add(words_of(self), word, value, user_of(self));
}

static void arrive(ns_task *self, uint32_t word) {
    share_all((ns_thread_worker *)self->worker);
    ns_thread_words_arrive(words_of(self), word, user_of(self));
}

static void await(ns_task *self, uint32_t word) {
    share_all((ns_thread_worker *)self->worker);
    ns_thread_words_await(words_of(self), word, user_of(self));
}

static void signal_word(ns_task *self, uint32_t word, uint32_t permits) {
    ns_thread_words_signal(words_of(self), word, permits, user_of(self));
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

void ns_thread_touch(ns_task *self, const ns_access *access) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->emulation.is_on || access->pattern > NS_CHASE) return;
    int64_t *bytes = worker->search.bytes;
    memset(bytes, 0, pool->tables.steal.nodes * sizeof *bytes);
    ns_object_homes_find(pool->homes, access, worker->base.node, bytes);
#if NUMASIM_COUNTERS
    for (uint32_t home = 0; home < pool->tables.steal.nodes; home++) worker->node_bytes[home] += bytes[home];
#endif
    const enum ns_access_pattern pattern = access->pattern;
    const int64_t extra_ps = ns_emulation_access(&pool->emulation, worker->base.node, pattern, bytes);
    ns_thread_count(worker, NS_INFLATION_NUMA_PS, extra_ps);
}

/* ---- what only recordings listen to -------------------------------------------------------------------------------
 */

static void declare_work(ns_task *self, int64_t picoseconds) { (void)self, (void)picoseconds; }

const ns_operations ns_thread_mode = {
    .open = ns_thread_pool_open,
    .close = ns_thread_pool_close,
    .run = ns_thread_pool_run,
    .spawn = spawn,
    .call = call,
    .join = join,
    .get = get,
    .work = declare_work,
    .access = ns_thread_touch,
    .lock = lock_word,
    .unlock = unlock_word,
    .add = add,
    .arrive = arrive,
    .await = await,
    .signal = signal_word,
    .report = ns_thread_pool_report,
};
