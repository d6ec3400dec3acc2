/* The thread mode: starting threads, runs, and what was counted in them. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "execution/execution.h"
#include "numasim/topology.h"
#include "platform/waiting.h"
#include "threads/pool_making.h"

enum { STACK_BYTES = 64 << 20 }; /* of address space: tasks that wait execute others nested */

/* ---- a run, seen by a worker ------------------------------------------------------------------------------------- */

static bool is_run_over(const void *context) {
    const ns_thread_pool *pool = context;
    return ns_thread_task_is_joined(&pool->origin);
}

/* All have come, so that the run is not measured while some still wake. */
static void meet(ns_thread_pool *pool) {
    ns_patience patience = {0};
    ns_atomic_u32_fetch_add(&pool->present, 1, memory_order_acq_rel); /* acq_rel: all see what all did before */
    while (ns_atomic_u32_load(&pool->present, memory_order_acquire) < pool->base.workers) ns_patience_rest(&patience);
}

static void take_part(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    meet(pool);
    if (worker->base.id == 0) pool->began_ps = ns_monotonic_ps();
    ns_thread_task *root = worker->agenda;
    worker->agenda = NULL;
    if (root) ns_thread_execute(worker, root);
    ns_thread_work_until(worker, &(ns_thread_wait){NULL, is_run_over, pool});
}

/* Wait for the next run: its number; 0: there will be none. */
static uint64_t await_run(ns_thread_pool *pool, uint64_t last) {
    pthread_mutex_lock(&pool->lock);
    while (pool->epoch == last && !pool->closing) pthread_cond_wait(&pool->started, &pool->lock);
    const uint64_t next = pool->closing ? 0 : pool->epoch;
    pthread_mutex_unlock(&pool->lock);
    return next;
}

/* Leave the run; `error` is why the worker could not take part in it. */
static void leave(ns_thread_pool *pool, int error) {
    pthread_mutex_lock(&pool->lock);
    if (error) pool->error = error;
    if (--pool->active == 0) pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument) {
    ns_thread_worker *worker = argument;
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    int error = worker->cpu >= 0 ? ns_cpu_pin((uint32_t)worker->cpu) : NS_OK;
    if (!error) error = ns_thread_worker_settle(worker);
    leave(pool, error);
    for (uint64_t run = 0; (run = await_run(pool, run));) {
        take_part(worker);
        leave(pool, NS_OK);
    }
    return NULL;
}

/* ---- a run, seen by who asks for it ------------------------------------------------------------------------------ */

static int forget_roots(ns_thread_pool *pool) {
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        ns_thread_worker *worker = pool->worker[id];
        if (worker->agenda) ns_thread_task_discard(worker, worker->agenda);
        worker->agenda = NULL;
    }
    return NS_ERROR_MEMORY;
}

/* A root for each worker, or for the first; none where memory is short. The workers sleep: what is theirs can be
 * written. */
static int make_roots(ns_thread_pool *pool, const ns_work_order *order, bool team) {
    const uint32_t roots = team ? pool->base.workers : 1;
    ns_thread_task_reset(&pool->origin);
    pool->team = team;
    pool->origin.pending = roots;
    for (uint32_t id = 0; id < roots; id++) {
        ns_thread_worker *worker = pool->worker[id];
        worker->agenda = ns_thread_task_create(worker, &pool->origin, order);
        if (!worker->agenda) return forget_roots(pool);
    }
    return NS_OK;
}

static int run_pool(ns_pool *self, const ns_work_order *order, bool team) {
    ns_thread_pool *pool = (ns_thread_pool *)self;
    int error = ns_thread_sync_add(pool->sync, self->words, self->word_count);
    if (error) return ns_pool_fail(self, error, "the synchronisation objects cannot be made");
    if (pool->homes) error = ns_object_homes_add(pool->homes, self->objects, self->object_count);
    if (error) return ns_pool_fail(self, error, "there is no memory to follow the objects");
    error = make_roots(pool, order, team);
    if (error) return ns_pool_fail(self, error, "there is no memory for the first tasks");
    pthread_mutex_lock(&pool->lock);
    /* relaxed: the lock orders it */
    ns_atomic_u32_store(&pool->present, 0, memory_order_relaxed);
    ns_atomic_u32_store(&pool->blocked, 0, memory_order_relaxed);
    ns_atomic_u64_store(&pool->ended_ps, 0, memory_order_relaxed);
    pool->active = self->workers;
    pool->epoch++;
    pthread_cond_broadcast(&pool->started);
    while (pool->active) pthread_cond_wait(&pool->ended, &pool->lock);
    pool->makespan_ps += (int64_t)ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed) - pool->began_ps;
    error = pool->error;
    pthread_mutex_unlock(&pool->lock);
    return error;
}

/* ---- what was counted -------------------------------------------------------------------------------------------- */

static void report_times(const ns_thread_pool *pool, const ns_thread_worker *worker, int64_t *counters) {
    if (!NUMASIM_COUNTERS) return;
    const int64_t idle_ps = worker->search.idle_ps;
    counters[NS_IDLE_STEAL_PS] = idle_ps - counters[NS_IDLE_BACKOFF_PS];
    counters[NS_WORK_LOCAL_PS] = pool->makespan_ps - idle_ps - counters[NS_PARKED_PS] - counters[NS_IDLE_BARRIER_PS] -
                                 counters[NS_INFLATION_NUMA_PS];
}

static int report_pool(ns_pool *self, ns_report *report) {
    const ns_thread_pool *pool = (const ns_thread_pool *)self;
    const uint32_t nodes = pool->tables.steal.nodes;
    const int error = ns_report_create(report, self->workers, nodes, self->word_count);
    if (error) return error;
    report->makespan_ps = pool->makespan_ps;
    for (uint32_t id = 0; id < self->workers; id++) {
        const ns_thread_worker *worker = pool->worker[id];
        int64_t *counters = report->counters + (size_t)id * NS_COUNTERS;
        memcpy(counters, worker->counters, sizeof worker->counters);
        counters[NS_TASKS] = worker->base.tasks;
        report_times(pool, worker, counters);
        report->node[id] = worker->base.node;
        const size_t row = (size_t)worker->base.node * nodes;
        for (uint32_t node = 0; node < nodes; node++) {
            report->node_attempts[row + node] += worker->node_attempts[node];
            report->node_success[row + node] += worker->node_success[node];
            report->node_bytes[row + node] += worker->node_bytes[node];
        }
    }
    ns_thread_sync_report(pool->sync, report);
    return NS_OK;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static void close_pool(ns_pool *self) {
    ns_thread_pool *pool = (ns_thread_pool *)self;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->started);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t id = 0; id < pool->launched; id++) pthread_join(pool->worker[id]->thread, NULL);
    ns_thread_pool_free(pool);
}

/* Start the threads: 0, or why one of them did not come. */
static int start(ns_thread_pool *pool) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pool->active = pool->base.workers;
    int failed = 0;
    while (!failed && pool->launched < pool->base.workers) {
        ns_thread_worker *worker = pool->worker[pool->launched];
        failed = pthread_create(&worker->thread, &attributes, work, worker);
        pool->launched += !failed;
    }
    pthread_attr_destroy(&attributes);
    pthread_mutex_lock(&pool->lock);
    pool->active -= pool->base.workers - pool->launched;
    while (pool->active) pthread_cond_wait(&pool->ended, &pool->lock);
    const int error = failed ? NS_ERROR_THREAD : pool->error;
    pthread_mutex_unlock(&pool->lock);
    return error;
}

static int open_pool(ns_pool **made, const ns_pool_options *options, ns_fields *plan) {
    ns_thread_pool *pool = NULL;
    int error = ns_thread_pool_make(&pool, options, plan, &ns_thread_mode);
    if (!error) error = start(pool);
    *made = pool ? &pool->base : NULL;
    return error;
}

const ns_pool_operations ns_thread_mode = {
    .open = open_pool,
    .close = close_pool,
    .run = run_pool,
    .report = report_pool,
};
