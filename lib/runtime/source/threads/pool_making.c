/* Making a pool of threads: the tables of its plan, its workers and its queues, each near where it is used. */
#include "threads/pool_making.h"

#include <stdlib.h>
#include <string.h>

#include "execution/dependents.h"
#include "execution/measured_calls.h"
#include "execution/strategy_needs.h"
#include "numasim/topology.h"
#include "platform/near_memory.h"
#include "policy/dispatch.h"
#include "search/search.h"
#include "threads/worker_cpus.h"

static int32_t system_node(const ns_topology *here, int32_t node) {
    return 0 <= node && (uint32_t)node < here->node_count ? (int32_t)here->node[node].id : -1;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static ns_body *const BODIES[] = {ns_thread_run_long, ns_thread_run_dependent, ns_lane_run_dependent, ns_lane_run_kept,
                                  NULL};

static void look_at_tables(ns_thread_pool *pool) {
    const ns_plan_tables *tables = &pool->tables;
    for (uint32_t id = 0; id < pool->base.workers; id++) pool->no_queues[id] = NS_NO_QUEUE;
    pool->anonymous = tables->steal;
    pool->anonymous.own = pool->no_queues;
    pool->adapts = tables->file && tables->file->plan.adaptive.stack;
    pool->copies = ns_leaves_copies(&tables->steal);
    pool->notes = pool->graph.knows_rows || pool->adapts || tables->join == NS_JOIN_LEAPFROG;
    pool->execution = ns_execution_of_strategy(tables, pool->notes);
    pool->bodies = BODIES;
    pool->base.tasks = pool->graph.boundary.controlled ? &ns_thread_measured_calls : &pool->execution->calls;
    pool->watches = ns_reads_watches(tables);
    pool->own_dispatch = ns_dispatches_to_own(&tables->steal);
    pool->sees_lengths = !pool->own_dispatch || ns_picks_by_length(&tables->steal);
    pool->asks_parents = ns_asks_for_parents(&tables->steal);
    /* In lanes owners note nothing at a push or a pop; and who joins has all that it waits for in its own lane, or it
     * is being executed. */
    pool->notes_watches = pool->watches && !pool->execution->in_lanes;
    pool->can_be_quiescent = !pool->execution->in_lanes;
}

static bool has_groups(const ns_graph *graph) {
    return graph->op_code.count && memchr(graph->op_code.at, NS_OP_GROUP, graph->op_code.count);
}

/* The strategy of the plan. */
static int read_plan(ns_thread_pool *pool) {
    int error = ns_plan_tables_read(&pool->tables, pool->plan);
    const char *problem = pool->tables.file ? pool->tables.file->reader.problem : "";
    if (error) return ns_pool_fail(&pool->base, error, "%s", problem);
    if (ns_leaves_copies(&pool->tables.steal) && pool->tables.join == NS_JOIN_STRICT) {
        return ns_pool_fail(
            &pool->base, NS_ERROR_UNSUPPORTED,
            "the plan's dispatch rules leave copies of tasks and its joins are strict: whose descendant "
            "a copy is, threads do not know when the task itself has ended");
    }
    if (pool->base.options.graph == NS_GRAPH_IS_PROGRAM && has_groups(&pool->tables.file->plan.graph)) {
        return ns_pool_fail(&pool->base, NS_ERROR_UNSUPPORTED,
                            "the plan's program waits for groups of tasks, which threads do not do");
    }
    error = ns_followed_graph_create(&pool->graph, &pool->base, pool->plan, &pool->tables.file->plan,
                                     pool->base.options.graph);
    if (error) return error;
    error = ns_search_locks_create(&pool->locks, &pool->tables.file->plan);
    if (error) return ns_pool_fail(&pool->base, error, "%s", "");
    pool->push_ps = ns_fields_integer(pool->plan, "push_ps", 0);
    pool->pop_ps = ns_fields_integer(pool->plan, "pop_ps", 0);
    return NS_OK;
}

/* The strategy where there is no plan: workers are on the nodes of their CPUs. */
static int assume_plan(ns_thread_pool *pool, const ns_topology *here) {
    const uint32_t workers = pool->base.workers;
    for (uint32_t id = 0; id < workers; id++) pool->node[id] = (int32_t)here->cpu[id % here->cpu_count].node;
    pool->node[workers] = pool->node[0];
    return ns_plan_tables_default(&pool->tables, workers, here->node_count, pool->node);
}

/* ---- workers and queues ------------------------------------------------------------------------------------------ */

static int make_workers(ns_thread_pool *pool, const ns_topology *here, const int32_t *cpu) {
    const ns_plan *plan = &pool->tables.steal;
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        ns_thread_worker *worker = ns_near_memory_allocate(sizeof *worker, system_node(here, plan->node[id]));
        if (!worker) return NS_ERROR_MEMORY;
        pool->worker[id] = worker;
        worker->base = (ns_worker){.pool = &pool->base, .id = id, .node = plan->node[id]};
        worker->cpu = cpu[id];
        worker->sync_user = (ns_sync_user){.worker = id,
                                           .node = (uint32_t)plan->node[id],
                                           .migrates = pool->execution->migrates,
                                           .barrier_ps = &worker->counters[NS_IDLE_BARRIER_PS],
                                           .parked_ps = &worker->counters[NS_PARKED_PS]};
        if (pool->adapts) ns_worker_start(&worker->order, pool->graph.plan, id);
    }
    return NS_OK;
}

/* NULL where the queues are no lanes. */
static ns_lane_owned *lane_of_owner(const ns_thread_pool *pool, uint32_t q) {
    return pool->execution->in_lanes ? &pool->worker[pool->tables.steal.queues[q].owner]->base.lane : NULL;
}

static int make_queues(ns_thread_pool *pool, const ns_topology *here) {
    const ns_plan *plan = &pool->tables.steal;
    for (uint32_t q = 0; q < plan->queue_count; q++) {
        pool->queues[q] = ns_near_memory_allocate(sizeof *pool->queues[q], system_node(here, plan->queues[q].home));
        if (!pool->queues[q]) return NS_ERROR_MEMORY;
        const int error = ns_task_queue_create(pool->queues[q], &pool->tables, q, lane_of_owner(pool, q));
        if (error) return error;
    }
    return ns_watch_board_create(&pool->board, plan);
}

int ns_thread_worker_settle(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const size_t nodes = pool->tables.steal.nodes;
    worker->node_attempts = calloc(3 * nodes, sizeof *worker->node_attempts);
    if (!worker->node_attempts) return NS_ERROR_MEMORY;
    worker->node_success = worker->node_attempts + nodes;
    worker->node_bytes = worker->node_success + nodes;
    const int error = ns_thread_search_create(worker);
    if (error) return error;
    return pool->execution->begin(worker);
}

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

static uint32_t workers_of(const ns_pool_options *options, const ns_fields *plan, const ns_topology *here) {
    const int64_t planned = plan ? ns_fields_integer(plan, "workers", 0) : 0;
    if (options->workers) return options->workers;
    return planned > 0 && planned <= NS_MOST_WORKERS ? (uint32_t)planned : here->cpu_count;
}

static int allocate(ns_thread_pool **made, uint32_t workers, const ns_pool_operations *mode) {
    ns_thread_pool *pool = aligned_alloc(NS_LINE_BYTES, sizeof *pool);
    if (!pool) return NS_ERROR_MEMORY;
    memset(pool, 0, sizeof *pool);
    *made = pool;
    pool->base.mode = mode;
    pool->base.workers = workers;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->started, NULL);
    pthread_cond_init(&pool->ended, NULL);
    pool->worker = calloc((size_t)workers + 1, sizeof *pool->worker);
    pool->node = calloc((size_t)workers + 1, sizeof *pool->node);
    pool->no_queues = calloc((size_t)workers + 1, sizeof *pool->no_queues);
    return pool->worker && pool->node && pool->no_queues ? NS_OK : NS_ERROR_MEMORY;
}

/* Where memory lies is asked by dispatch, and by those who pretend that some of it is far. */
static int follow_memory(ns_thread_pool *pool) {
    const ns_plan *plan = &pool->tables.steal;
    const bool emulated = pool->base.options.mode == NS_MODE_EMULATED;
    if (emulated) {
        ns_emulation_create(&pool->emulation, pool->plan, plan->workers, plan->nodes, plan->latency_ps, pool->rate);
    }
    if (!emulated && !ns_looks_at_data(plan)) return NS_OK;
    return ns_object_homes_create(&pool->homes, plan->nodes, emulated);
}

static int fill(ns_thread_pool *pool, const ns_topology *here) {
    if (pool->base.options.mode == NS_MODE_EMULATED && !pool->plan) {
        return ns_pool_fail(&pool->base, NS_ERROR_OPTION,
                            "the machine to be pretended is that of a plan, and there is none");
    }
    int error = pool->plan ? read_plan(pool) : assume_plan(pool, here);
    if (error) return error;
    if (pool->tables.steal.workers != pool->base.workers) {
        return ns_pool_fail(&pool->base, NS_ERROR_OPTION, "the plan is for %u workers, not for %u",
                            pool->tables.steal.workers, pool->base.workers);
    }
    look_at_tables(pool);
    int32_t *cpu = calloc((size_t)pool->base.workers + 1, sizeof *cpu);
    pool->queues = calloc((size_t)pool->tables.steal.queue_count + 1, sizeof(ns_task_queue *));
    error = cpu && pool->queues ? ns_thread_choose_cpus(pool, here, cpu) : NS_ERROR_MEMORY;
    if (!error) error = make_workers(pool, here, cpu);
    if (!error) error = make_queues(pool, here);
    const int32_t *node = pool->plan ? pool->tables.steal.node : pool->node;
    if (!error) error = follow_memory(pool);
    if (!error) error = ns_thread_sync_create(&pool->sync, pool->plan, pool->base.workers, node, pool->rate);
    free(cpu);
    return error;
}

int ns_thread_pool_make(ns_thread_pool **self, const ns_pool_options *options, ns_fields *plan,
                        const ns_pool_operations *mode) {
    ns_topology here;
    *self = NULL;
    int error = ns_topology_detect(&here);
    if (error) return error;
    error = allocate(self, workers_of(options, plan, &here), mode);
    ns_thread_pool *pool = *self;
    if (pool) pool->plan = plan;
    if (error) goto out;
    pool->base.options = *options;
    pool->rate = ns_tick_rate_of_process();
    error = fill(pool, &here);
out:
    ns_topology_destroy(&here);
    return error;
}

static void free_worker(ns_thread_worker *worker) {
    ns_thread_pool_of(worker)->execution->finish(worker);
    ns_thread_records_destroy(worker);
    ns_thread_search_destroy(worker);
    free(worker->node_attempts);
    ns_near_memory_free(worker, sizeof *worker);
}

void ns_thread_pool_free(ns_thread_pool *self) {
    for (uint32_t id = 0; self->worker && id < self->base.workers && self->worker[id]; id++)
        free_worker(self->worker[id]);
    for (uint32_t q = 0; self->queues && q < self->tables.steal.queue_count && self->queues[q]; q++) {
        ns_task_queue_destroy(self->queues[q]);
        ns_near_memory_free(self->queues[q], sizeof *self->queues[q]);
    }
    ns_thread_sync_destroy(self->sync);
    ns_search_locks_destroy(&self->locks);
    ns_object_homes_destroy(self->homes);
    ns_watch_board_destroy(&self->board);
    ns_followed_graph_destroy(&self->graph);
    ns_plan_tables_destroy(&self->tables);
    ns_fields_destroy(self->plan);
    free(self->queues);
    free(self->worker);
    free(self->node);
    free(self->no_queues);
    free(self);
}
