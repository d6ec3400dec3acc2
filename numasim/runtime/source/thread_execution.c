/* Executing tasks on the worker's stack: spawns, calls, joins, futures, and what the end of a task sets off. */
#include <stdlib.h>

#include "threads.h"

/* ---- records ----------------------------------------------------------------------------------------------------- */

enum { SLAB_RECORDS = 64 };

/* A slab of records; its first one only links it to the worker's others. */
static ns_thread_task *new_slab(ns_thread_worker *worker) {
    ns_thread_task *slab = aligned_alloc(NS_LINE_BYTES, SLAB_RECORDS * sizeof *slab);
    if (!slab) return NULL;
    memset(slab, 0, SLAB_RECORDS * sizeof *slab);
    slab[0].next = worker->slab;
    worker->slab = slab;
    for (uint32_t at = 1; at < SLAB_RECORDS; at++) {
        ns_thread_task *record = &slab[at];
        record->base = (ns_task){ns_thread_pool_of(worker)->operations, &worker->base};
        record->home = worker;
        record->arguments = record->inlined;
        record->next = at + 1 < SLAB_RECORDS ? record + 1 : NULL;
    }
    return &slab[1];
}

/* Take over what has come home. */
static ns_thread_task *arrivals(ns_thread_worker *worker) {
    /* acquire: the records as those who sent them left them */
    ns_thread_task *first = ns_atomic_pointer_exchange(&worker->given_back, NULL, memory_order_acquire);
    for (ns_thread_task *each = first; each; each = each->next) each->base.worker = &worker->base;
    return first;
}

ns_thread_task *ns_thread_records_more(ns_thread_worker *worker) {
    worker->free = arrivals(worker);
    if (!worker->free) worker->free = new_slab(worker);
    return worker->free;
}

void ns_thread_record_send_home(ns_thread_task *self) {
    ns_atomic_pointer *list = &self->home->given_back;
    void *first = ns_atomic_pointer_load(list, memory_order_relaxed); /* relaxed: checked by the swap */
    do self->next = first;
    while (!ns_atomic_pointer_compare_exchange(list, &first, self, memory_order_release, memory_order_relaxed));
    /* release: the home finds the record as it is now. Only the home takes, and all at once: no ABA */
}

void ns_thread_task_settle(ns_thread_task *self) {
    if (self->arguments != self->inlined) {
        free(self->arguments);
        self->arguments = self->inlined;
    }
    /* release: whoever sees that the future is there sees what its task did */
    if (self->future) ns_atomic_u32_store((ns_atomic_u32 *)(void *)&self->future->done, 1, memory_order_release);
    self->future = NULL;
}

static inline void free_record(ns_thread_worker *worker, ns_thread_task *task) {
    if (task->arguments != task->inlined || task->future) ns_thread_task_settle(task);
    if (task->home != worker) {
        ns_thread_record_send_home(task);
        return;
    }
    task->next = worker->free;
    worker->free = task;
}

/* A record for a child of `parent` without arguments; NULL where memory is short. */
static inline ns_thread_task *new_record(ns_thread_worker *worker, ns_thread_task *parent, ns_body *body) {
    ns_thread_task *made = worker->free ? worker->free : ns_thread_records_more(worker);
    if (!made) return NULL;
    worker->free = made->next;
    made->body = body;
    made->parent = parent;
    return made;
}

/* ---- the end of a task ------------------------------------------------------------------------------------------- */

/* A root has ended: the run, as far as one knows. */
static void note_end(ns_thread_pool *pool) {
    const uint64_t now_ps = (uint64_t)ns_monotonic_ps();
    uint64_t latest_ps = ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed); /* relaxed: checked by the swap */
    while (latest_ps < now_ps && !ns_atomic_u64_compare_exchange(&pool->ended_ps, &latest_ps, now_ps,
                                                                 memory_order_relaxed, memory_order_relaxed)) {
    } /* relaxed: whoever reads it waits for all workers first */
}

static void tell_parent_elsewhere(const ns_thread_worker *worker, ns_thread_task *parent) {
    if (!parent->base.worker) note_end(ns_thread_pool_of(worker));
    /* release: what the child did happens before the join */
    ns_atomic_u32_fetch_add(&parent->returned, 1, memory_order_release);
}

/* Tell the parent that a child has ended on `worker`. */
static inline void tell_parent(const ns_thread_worker *worker, ns_thread_task *parent) {
    if (parent->base.worker == &worker->base)
        parent->pending--;
    else
        tell_parent_elsewhere(worker, parent);
}

static void join_help(ns_task *self);

/* Execute a task on the stack of `worker`. */
static inline void execute(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_task *parent = task->parent;
    task->body(&task->base, task->arguments);
    if (task->pending) join_help(&task->base);
    worker->counters[NS_TASKS]++;
    free_record(worker, task);
    tell_parent(worker, parent);
}

void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task) {
    task->base.worker = &worker->base;
    execute(worker, task);
}

void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait) {
    for (ns_thread_task *next; (next = ns_thread_seek(worker, wait));) ns_thread_execute(worker, next);
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

static bool is_joined(const void *context) { return ns_thread_task_is_joined(context); }

/* All children of `task` have ended: count anew. */
static inline void forget_children(ns_thread_task *task) {
    task->pending = 0;
    ns_atomic_u32_store(&task->returned, 0, memory_order_relaxed); /* relaxed: no child is left to add to it */
}

static void join_help(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!ns_thread_task_is_joined(task)) {
        ns_thread_work_until(ns_thread_worker_of(task), &(ns_thread_wait){task, is_joined, task});
    }
    forget_children(task);
}

/* The join of pools whose tasks come from the worker's own deque: the newest child is executed without further ado. */
static void join_fast(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(task);
    while (!ns_thread_task_is_joined(task)) {
        ns_thread_task *child = ns_deque_pop(worker->deque);
        if (!child) {
            join_help(self);
            return;
        }
        execute(worker, child);
    }
    forget_children(task);
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

/* Copy arguments; those of some words, as most are, without a call. */
static inline void copy_arguments(void *to, const void *from, size_t bytes) {
    switch (bytes) {
        case 8: memcpy(to, from, 8); break;
        case 16: memcpy(to, from, 16); break;
        case 24: memcpy(to, from, 24); break;
        case 32: memcpy(to, from, 32); break;
        default: memcpy(to, from, bytes);
    }
}

ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order) {
    ns_thread_task *made = new_record(worker, parent, order->body);
    if (!made) return NULL;
    if (order->bytes > NS_INLINED_BYTES) {
        void *arguments = malloc(order->bytes);
        if (!arguments) {
            free_record(worker, made);
            return NULL;
        }
        made->arguments = arguments;
    }
    if (order->bytes) copy_arguments(made->arguments, order->arguments, order->bytes);
    made->future = order->future;
    return made;
}

/* Run a body as a part of `self` with children of its own. */
static void call(ns_task *self, ns_body *body, void *arguments) {
    ns_thread_task part;
    part.base = *self;
    part.parent = NULL;
    part.home = ((const ns_thread_task *)self)->home;
    forget_children(&part);
    body(&part.base, arguments);
    if (part.pending) self->operations->join(&part.base);
}

/* Where memory for a task is short, its parent executes it. */
static void execute_order(ns_thread_task *self, const ns_work_order *order) {
    call(&self->base, order->body, (void *)(uintptr_t)order->arguments);
    if (order->future) {
        /* release: as in ns_thread_task_settle */
        ns_atomic_u32_store((ns_atomic_u32 *)(void *)&order->future->done, 1, memory_order_release);
    }
}

static void spawn_placed(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    ns_thread_task *child = ns_thread_task_create(worker, parent, order);
    if (!child) {
        execute_order(parent, order);
        return;
    }
    parent->pending++;
    if (!ns_thread_place(worker, child, order->accesses, order->access_count)) execute(worker, child);
}

static void spawn_fast(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    if (order->bytes > NS_INLINED_BYTES || order->future) {
        spawn_placed(self, order);
        return;
    }
    ns_thread_task *child = new_record(worker, parent, order->body);
    if (!child) {
        execute_order(parent, order);
        return;
    }
    copy_arguments(child->inlined, order->arguments, order->bytes);
    parent->pending++;
    if (ns_deque_push(worker->deque, child)) execute(worker, child);
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

#define COMMON                                                                                                       \
    .open = ns_thread_pool_open, .close = ns_thread_pool_close, .run = ns_thread_pool_run, .call = call, .get = get, \
    .work = work, .access = access, .lock = lock, .unlock = unlock, .add = add, .arrive = arrive, .await = await,    \
    .signal = signal, .report = ns_thread_pool_report

const ns_operations ns_thread_mode = {COMMON, .spawn = spawn_placed, .join = join_help};
const ns_operations ns_thread_fast_mode = {COMMON, .spawn = spawn_fast, .join = join_fast};
