/* Pools of threads: their start, runs, reports and end. A root is a first task of a run; roots are dealt: shared out
 * among the workers. With NS_TURNS this file is compiled for workers that take turns on one thread (turns/turns.h). */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execution/execution.h"
#include "execution/worker_state.h"
#include "numasim/topology.h"
#include "platform/waiting.h"
#include "policy/ranges.h"
#include "search/search.h"

enum {
    STACK_BYTES = 64 << 20, /* address space; much, since a waiting task executes other tasks on its stack */
    SIGNAL_STACK_BYTES = 32 << 10
};

#ifdef NS_TURNS
#define THREAD_MODE ns_turns_mode
#else
#define THREAD_MODE ns_thread_mode
#endif

/* ---- what a worker does in a run --------------------------------------------------------------------------------- */

#ifndef NS_TURNS
/* Wait until all workers have come to the run, so that its measured time begins when all workers are awake. */
static void meet(const ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_patience patience = {0};
    /* acq_rel: every worker sees all that the other workers did before they came */
    ns_atomic_u32_fetch_add(&pool->present, 1, memory_order_acq_rel);
    while (ns_atomic_u32_load(&pool->present, memory_order_acquire) < pool->base.workers) ns_patience_rest(&patience);
    if (worker->base.id == 0) pool->began_ps = ns_monotonic_ps();
}
#endif

static void take_part(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool has_part = worker->base.id < pool->team_size;
#ifndef NS_TURNS
    meet(worker);
#endif
    if (pool->sleepers) has_part ? ns_thread_rest_ends(worker) : ns_thread_sits_out(worker);
    ns_thread_task *root;
    while ((root = worker->agenda)) {
        worker->agenda = root->next;
        ns_thread_note_spawner(worker, root);
        ns_thread_execute(worker, root);
    }
    const ns_thread_wait wait = {NULL, ns_thread_task_is_joined, &pool->origin, &pool->origin, &pool->origin.pending};
    if (has_part) ns_thread_work_until(worker, &wait);
}

#ifndef NS_TURNS
/* Wait for the run after run number `last`. Return its number; 0 if the pool closes. If the strategy lets workers
 * sleep, only worker 0 is told of the run, and calls the others, as in the simulator. */
static uint64_t await_run(ns_thread_worker *worker, uint64_t last) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool is_called = pool->sleeps && worker->base.id;
    const uint64_t *number = is_called ? &pool->calls : &pool->epoch;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_t *told = is_called ? &pool->called : &pool->started;
    while (*number == last && !pool->closing) pthread_cond_wait(told, &pool->lock);
    const uint64_t next = pool->closing ? 0 : pool->epoch;
    if (pool->sleeps && !is_called) {
        pool->calls = pool->epoch;
        pthread_cond_broadcast(&pool->called);
    }
    pthread_mutex_unlock(&pool->lock);
    return next;
}
#endif

/* Note that a worker has left the run, or has started. `error`: the reason why it could not start, or 0. */
static void leave(ns_thread_pool *pool, int error) {
    pthread_mutex_lock(&pool->lock);
    if (error) pool->error = error;
    if (--pool->active == 0) pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
}

#ifndef NS_TURNS
static void *work(void *argument) {
    ns_thread_worker *worker = argument;
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    char apart[SIGNAL_STACK_BYTES];
    ns_thread_stack_watch(apart, sizeof apart);
    ns_thread_stand_on(worker, ns_thread_stack_end());
    int error = worker->cpu >= 0 ? ns_cpu_pin((uint32_t)worker->cpu) : NS_OK;
    if (!error) error = ns_thread_worker_settle(worker);
    leave(pool, error);
    for (uint64_t run = 0; (run = await_run(worker, run));) {
        take_part(worker);
        leave(pool, NS_OK);
    }
    ns_thread_stack_leave();
    return NULL;
}
#else
static void work_in_turns(void *argument) {
    take_part(argument);
    leave(ns_thread_pool_of(argument), NS_OK);
}
#endif

/* ---- what the caller of a run does ------------------------------------------------------------------------------- */

/* The roots of a run: of a phase (a part of the plan's task graph), or one for each worker, or one for worker 0. */
typedef struct {
    const ns_phase *phase; /* the phase, or NULL */
    uint64_t count, free;  /* number of all roots; number of roots of the phase that wait for no other task */
} root_deal;

static root_deal deal_of(const ns_thread_pool *pool, bool team) {
    const ns_followed_graph *graph = &pool->graph;
    root_deal deal = {NULL, team ? pool->base.workers : 1, 0};
    if (graph->knows_rows) {
        deal.phase = ns_followed_phase(graph);
        deal.count = deal.phase->roots.count;
        for (uint64_t at = 0; at < deal.count; at++)
            deal.free += !graph->holds || !graph->depends[deal.phase->roots.at[at]];
    }
    return deal;
}

/* Give the root that is entry `row` of the task graph to a worker: put the root into a queue, or let the worker begin
 * it. A root that waits for other tasks is held back; the last of these tasks releases it. `*dealt` counts the other
 * roots. */
static void give_root(ns_thread_pool *pool, const root_deal *deal, uint64_t *dealt, ns_thread_task *root,
                      uint32_t row) {
    ns_followed_graph *graph = &pool->graph;
    *ns_thread_notes_of(root) = (ns_task_notes){.row = row, .at = (uint32_t)graph->plan->graph.op_ptr.at[row]};
    ns_followed_graph_root(graph, row);
    if (ns_followed_graph_hold(graph, root, row)) return;
    const enum ns_deal rule = ns_deal_of(deal->phase);
    ns_thread_worker *worker = pool->worker[ns_dealt_to(rule, (*dealt)++, deal->free, pool->base.workers)];
    root->base.worker = &worker->base;
    if (ns_begins_root(deal->phase->serial, graph->plan->graph.kind.at[row]) || !ns_thread_deal(worker, root))
        ns_thread_task_append(&worker->agenda, root);
}

/* Make the roots of a run, and give them to workers. No worker runs, so the caller may write the workers' memory.
 * Return 0; or NS_ERROR_MEMORY, without roots. */
static int make_roots(ns_thread_pool *pool, const ns_work_order *order, bool team) {
    const root_deal deal = deal_of(pool, team);
    ns_thread_task **root = calloc((size_t)deal.count + 1, sizeof(ns_thread_task *));
    uint64_t made = 0, dealt = 0;
    if (!root) return NS_ERROR_MEMORY;
    ns_thread_task_reset(&pool->origin);
    pool->team = team;
    pool->team_size = deal.phase && deal.phase->serial ? 1 : pool->base.workers;
    pool->origin.pending = (uint32_t)deal.count;
    while (made < deal.count) {
        root[made] = ns_thread_task_create(pool->worker[made % pool->base.workers], &pool->origin, order);
        if (!root[made]) break;
        made++;
    }
    const int error = made < deal.count ? NS_ERROR_MEMORY : NS_OK;
    for (uint64_t at = 0; at < made; at++) {
        if (error)
            ns_thread_task_discard((ns_thread_worker *)root[at]->home, root[at]);
        else if (deal.phase)
            give_root(pool, &deal, &dealt, root[at], (uint32_t)deal.phase->roots.at[at]);
        else
            ns_thread_task_append(&pool->worker[at]->agenda, root[at]);
    }
    free(root);
    return error;
}

/* ---- iterations -------------------------------------------------------------------------------------------------- */

/* Between two iterations of a program: give the measurements to the strategy's controller, and take over its decisions.
 * Bytes that tasks move are not measured. Return 0 or a negative error code. */
static int cross_boundary(ns_thread_pool *pool) {
    ns_iteration_boundary *boundary = &pool->graph.boundary;
    boundary->measured[0] = pool->makespan_ps;
    for (uint32_t id = 0; id < pool->base.workers; id++) boundary->busy_ps[id] = pool->worker[id]->busy_ps;
    return ns_followed_graph_cross(&pool->graph, &pool->base);
}

/* Remove the copies of tasks that are left in queues. All tasks have ended. */
static void drop_claimed(ns_thread_pool *pool) {
    for (uint32_t q = 0; pool->copies && q < pool->file.plan.steal.queue_count; q++) {
        void *entry;
        while ((entry = ns_task_queue_take(pool->queues[q], true, NS_FRONT, NULL, NULL))) ns_thread_claim(entry);
    }
}

/* Note an error if a lock is still held. Called when all tasks have ended. */
static void note_held_lock(ns_thread_pool *pool) {
    const uint32_t held = ns_thread_sync_held(pool->sync);
    char text[96];
    if (held == UINT32_MAX) return;
    snprintf(text, sizeof text, "a task has ended and holds a lock: '%s'", pool->base.words[held].name);
    ns_thread_pool_note(pool, NS_ERROR_PROGRAM, text);
}

#ifdef NS_TURNS
/* Let the workers work until the run has ended. Called under the pool's lock. The seed, which repeats the run, is added
 * to the sentence of an error. */
static void work_all(ns_thread_pool *pool) {
    pthread_mutex_unlock(&pool->lock);
    pool->began_ps = ns_monotonic_ps();
    const bool ended = ns_turns_run(pool->turns, work_in_turns, (void *const *)pool->worker);
    if (!ended) ns_thread_pool_note(pool, NS_ERROR_DEADLOCK, "all workers sleep, or wait for each other");
    pthread_mutex_lock(&pool->lock);
    if (!pool->error) return;
    char why[sizeof pool->base.problem];
    memcpy(why, pool->base.problem, sizeof why);
    ns_pool_fail(&pool->base, pool->error, "%.900s (seed %llu)", why, (unsigned long long)ns_thread_seed(pool));
}
#else
/* Let the threads work until the run has ended. Called under the pool's lock. */
static void work_all(ns_thread_pool *pool) {
    pthread_cond_broadcast(&pool->started);
    while (pool->active) pthread_cond_wait(&pool->ended, &pool->lock);
}
#endif

static int run_pool(ns_pool *self, const ns_work_order *order, bool team) {
    ns_thread_pool *pool = (ns_thread_pool *)self;
    if (pool->error) return pool->error; /* an earlier run has failed */
    int error = ns_thread_sync_add(pool->sync, self->words, self->word_count);
    if (error) return ns_pool_fail(self, error, "the synchronisation objects cannot be made");
    if (pool->homes) error = ns_object_homes_add(pool->homes, self->objects, self->object_count);
    if (error) return ns_pool_fail(self, error, "there is no memory to follow the objects");
    error = ns_followed_graph_begin(&pool->graph, self, team);
    if (error) return error;
    error = make_roots(pool, order, team);
    if (error) return ns_pool_fail(self, error, "there is no memory for the first tasks");
    pthread_mutex_lock(&pool->lock);
    /* relaxed: the pool's lock orders this store */
    ns_atomic_u32_store(&pool->present, 0, memory_order_relaxed);
    ns_atomic_u32_store(&pool->blocked, 0, memory_order_relaxed);
    ns_atomic_u32_store(&pool->idle, 0, memory_order_relaxed);
    ns_atomic_u64_store(&pool->ended_ps, 0, memory_order_relaxed);
    pool->active = self->workers;
    pool->epoch++;
    work_all(pool);
    pool->makespan_ps += (int64_t)ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed) - pool->began_ps;
    pthread_mutex_unlock(&pool->lock);
    note_held_lock(pool);
    error = pool->error;
    drop_claimed(pool);
    const bool crosses = ns_followed_graph_end(&pool->graph);
    return error || !crosses ? error : cross_boundary(pool);
}

/* ---- reports -------------------------------------------------------------------------------------------- */

static void report_times(const ns_thread_pool *pool, const ns_thread_worker *worker, int64_t *counters) {
    if (!NUMASIM_COUNTERS) return;
    const int64_t idle_ps = worker->search.idle_ps;
    counters[NS_IDLE_STEAL_PS] = idle_ps - counters[NS_IDLE_BACKOFF_PS] - counters[NS_ASLEEP_PS];
    counters[NS_WORK_LOCAL_PS] = pool->makespan_ps - idle_ps - counters[NS_PARKED_PS] - counters[NS_IDLE_BARRIER_PS] -
                                 counters[NS_INFLATION_NUMA_PS];
}

static int report_pool(ns_pool *self, ns_report *report) {
    const ns_thread_pool *pool = (const ns_thread_pool *)self;
    const uint32_t nodes = pool->file.plan.steal.nodes;
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
    pthread_cond_broadcast(&pool->called);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t id = 0; id < pool->launched; id++) pthread_join(pool->worker[id]->thread, NULL);
#ifdef NS_TURNS
    ns_turns_destroy(pool->turns);
#endif
    pthread_cond_destroy(&pool->ended);
    pthread_cond_destroy(&pool->called);
    pthread_cond_destroy(&pool->started);
    pthread_mutex_destroy(&pool->lock);
    ns_thread_pool_free(pool);
}

/* Free a pool in a forked process, which lacks the pool's threads. The pool's mutex may be in any state: leave it. */
static void abandon_pool(ns_pool *self) { ns_thread_pool_free((ns_thread_pool *)self); }

#ifdef NS_TURNS
/* Make the turns of the workers. Return 0 or NS_ERROR_MEMORY. */
static int start(ns_thread_pool *pool) {
    pool->turns = ns_turns_create(pool->base.workers, ns_thread_seed(pool), pool->base.options.mode == NS_MODE_PACED);
    int error = pool->turns ? NS_OK : NS_ERROR_MEMORY;
    for (uint32_t id = 0; id < pool->base.workers && !error; id++) {
        ns_thread_stand_on(pool->worker[id], ns_turns_stack_end(pool->turns, id));
        error = ns_thread_worker_settle(pool->worker[id]);
    }
    return error;
}
#else
/* Start the threads. Return 0, or the error of a thread that did not start. */
static int start(ns_thread_pool *pool) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setguardsize(&attributes, NS_STACK_GUARD_BYTES);
    ns_thread_stack_report();
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
#endif

static int open_pool(ns_pool **made, const ns_pool_options *options, ns_fields *plan) {
    ns_thread_pool *pool = NULL;
    int error = ns_thread_pool_make(&pool, options, plan, &THREAD_MODE);
    if (!error) error = start(pool);
    *made = pool ? &pool->base : NULL;
    return error;
}

static const ns_plan_file *file_of(const ns_pool *pool) { return &((const ns_thread_pool *)pool)->file; }

static uint32_t row_of(const ns_task *task) { return ns_thread_notes_of((const ns_thread_task *)task)->row; }

const ns_pool_operations THREAD_MODE = {
    .open = open_pool,
    .close = close_pool,
    .abandon = abandon_pool,
    .run = run_pool,
    .report = report_pool,
    .plan = file_of,
    .row = row_of,
};
