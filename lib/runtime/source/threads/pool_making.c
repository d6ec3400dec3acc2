/* Making a pool of threads: its plan, its workers and its queues, each worker and queue in memory of its own node. */
#include <stdlib.h>
#include <string.h>

#include "execution/execution.h"
#include "numasim/topology.h"
#include "platform/near_memory.h"
#include "policy/dispatch.h"
#include "search/search.h"

/* Return the system's number of node number `node`, or -1. */
static int32_t system_node(const ns_topology *here, int32_t node) {
    return 0 <= node && (uint32_t)node < here->node_count ? (int32_t)here->node[node].id : -1;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

static int read_plan(ns_thread_pool *pool) {
    ns_plan_file *file = &pool->file;
    int error = ns_plan_file_read(file, pool->fields);
    if (!error && !ns_plan_file_is_for_threads(file)) error = NS_ERROR_FIELD;
    if (error) return ns_pool_fail(&pool->base, error, "%s", file->reader.problem);
    const ns_u8s ops = file->plan.graph.op_code;
    if (pool->base.options.graph == NS_GRAPH_IS_PROGRAM && ops.count && memchr(ops.at, NS_OP_GROUP, ops.count)) {
        return ns_pool_fail(&pool->base, NS_ERROR_UNSUPPORTED,
                            "the plan's program waits for groups of tasks, which threads cannot do");
    }
    error = ns_followed_graph_create(&pool->graph, &pool->base, pool->fields, &file->plan, pool->base.options.graph);
    if (error) return error;
    error = ns_thread_make_search_locks(pool);
    return error ? ns_pool_fail(&pool->base, error, "%s", "") : NS_OK;
}

/* Make the default plan, with each worker on the node of its CPU. */
static int assume_plan(ns_thread_pool *pool, const ns_topology *here) {
    const uint32_t workers = pool->base.workers;
    for (uint32_t id = 0; id < workers; id++) pool->node[id] = (int32_t)here->cpu[id % here->cpu_count].node;
    pool->node[workers] = pool->node[0];
    return ns_plan_file_default(&pool->file, workers, here->node_count, pool->node);
}

/* Set all fields of the pool that follow from its plan. Return 0 or NS_ERROR_UNSUPPORTED. */
static int find_needs(ns_thread_pool *pool) {
    const ns_full_plan *plan = &pool->file.plan;
    for (uint32_t id = 0; id < pool->base.workers; id++) pool->no_queues[id] = NS_NO_QUEUE;
    pool->anonymous = plan->steal;
    pool->anonymous.own = pool->no_queues;
    ns_thread_find_needs(pool);
    if (!pool->copies || plan->join != NS_JOIN_STRICT) return NS_OK;
    return ns_pool_fail(&pool->base, NS_ERROR_UNSUPPORTED,
                        "the plan's dispatch rules put copies of tasks into queues, and its joins are strict: for a "
                        "copy of a task that has ended, threads cannot tell whose descendant the task was");
}

/* ---- CPUs -------------------------------------------------------------------------------------------------------- */

/* Compare CPUs by the order in which plans number hardware threads: the first threads of all cores, node by node, then
 * the second threads (numasim/machine/topology.py). */
static int by_thread(const void *one, const void *other) {
    const ns_cpu *a = one, *b = other;
    if (a->sibling != b->sibling) return a->sibling < b->sibling ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Set `cpu` [workers] to the system's CPUs for the plan's hardware threads `thread` [workers], if this system has all
 * of them. Return 0 or NS_ERROR_MEMORY. */
static int find_planned_cpus(const int32_t *thread, uint32_t workers, const ns_topology *here, int32_t *cpu) {
    for (uint32_t id = 0; id < workers; id++) {
        if (thread[id] < 0 || (uint32_t)thread[id] >= here->cpu_count) return NS_OK;
    }
    ns_cpu *ordered = malloc(here->cpu_count * sizeof *ordered);
    if (!ordered) return NS_ERROR_MEMORY;
    memcpy(ordered, here->cpu, here->cpu_count * sizeof *ordered);
    qsort(ordered, here->cpu_count, sizeof *ordered, by_thread);
    for (uint32_t id = 0; id < workers; id++) cpu[id] = (int32_t)ordered[thread[id]].id;
    free(ordered);
    return NS_OK;
}

/* Choose cpu[i], the CPU of worker i, and note whether there are more workers than CPUs: then no worker has a CPU (-1).
 * In NS_MODE_NATIVE, worker i gets the CPU for its hardware thread in the plan, if this system has all of these; else
 * the i-th CPU that the process may use. Return 0, NS_ERROR_MEMORY or NS_ERROR_FIELD. */
static int choose_cpus(ns_thread_pool *pool, const ns_topology *here, int32_t *cpu) {
    uint64_t count = 0;
    const uint32_t workers = pool->base.workers;
    pool->crowded = workers > here->cpu_count;
    for (uint32_t id = 0; id < workers; id++) cpu[id] = pool->crowded ? -1 : (int32_t)here->cpu[id].id;
    if (!pool->fields || pool->crowded || pool->base.options.mode != NS_MODE_NATIVE) return NS_OK;
    const int32_t *thread = ns_fields_array(pool->fields, "thread", NS_FIELD_I32, &count);
    if (!thread) return NS_OK;
    if (count == workers) return find_planned_cpus(thread, workers, here, cpu);
    return ns_pool_fail(&pool->base, NS_ERROR_FIELD, "thread has %llu entries for %u workers",
                        (unsigned long long)count, workers);
}

/* ---- workers and queues ------------------------------------------------------------------------------------------ */

static int make_workers(ns_thread_pool *pool, const ns_topology *here, const int32_t *cpu) {
    const ns_plan *plan = &pool->file.plan.steal;
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

static int make_queues(ns_thread_pool *pool, const ns_topology *here) {
    const ns_plan *plan = &pool->file.plan.steal;
    for (uint32_t q = 0; q < plan->queue_count; q++) {
        pool->queues[q] = ns_near_memory_allocate(sizeof *pool->queues[q], system_node(here, plan->queues[q].home));
        if (!pool->queues[q]) return NS_ERROR_MEMORY;
        ns_lane_owned *lane = pool->execution->in_lanes ? &pool->worker[plan->queues[q].owner]->base.lane : NULL;
        const int error = ns_task_queue_create(pool->queues[q], &pool->file.plan, q, lane);
        if (error) return error;
    }
    return ns_watch_board_create(&pool->board, plan, &pool->base.memory);
}

int ns_thread_worker_settle(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const size_t nodes = pool->file.plan.steal.nodes;
    worker->node_attempts = ns_pieces_take(&worker->memory, nodes, sizeof *worker->node_attempts);
    worker->node_success = ns_pieces_take(&worker->memory, nodes, sizeof *worker->node_success);
    worker->node_bytes = ns_pieces_take(&worker->memory, nodes, sizeof *worker->node_bytes);
    const int error = ns_thread_search_create(worker);
    if (error) return error;
    return pool->execution->begin ? pool->execution->begin(worker) : NS_OK;
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
    pthread_cond_init(&pool->called, NULL);
    pthread_cond_init(&pool->ended, NULL);
    pool->worker = ns_pieces_take(&pool->base.memory, workers, sizeof *pool->worker);
    pool->node = ns_pieces_take(&pool->base.memory, (uint64_t)workers + 1, sizeof *pool->node);
    pool->no_queues = ns_pieces_take(&pool->base.memory, workers, sizeof *pool->no_queues);
    return pool->base.memory.is_short ? NS_ERROR_MEMORY : NS_OK;
}

/* Make pool->homes, the nodes of objects' memory, if dispatch uses them or the machine is emulated. */
static int follow_memory(ns_thread_pool *pool) {
    const ns_plan *plan = &pool->file.plan.steal;
    const bool emulated = pool->base.options.mode == NS_MODE_EMULATED;
    if (emulated) pool->emulation = (ns_emulation){&pool->file.plan, pool->rate};
    if (!emulated && !ns_looks_at_data(plan)) return NS_OK;
    return ns_object_homes_create(&pool->homes, plan->nodes, emulated);
}

static int fill(ns_thread_pool *pool, const ns_topology *here) {
    if (pool->base.options.mode == NS_MODE_EMULATED && !pool->fields) {
        return ns_pool_fail(&pool->base, NS_ERROR_OPTION,
                            "the machine to be emulated is the machine of a plan, and there is no plan");
    }
    int error = pool->fields ? read_plan(pool) : assume_plan(pool, here);
    if (error) return error;
    if (pool->file.plan.steal.workers != pool->base.workers) {
        return ns_pool_fail(&pool->base, NS_ERROR_OPTION, "the plan is for %u workers, not for %u",
                            pool->file.plan.steal.workers, pool->base.workers);
    }
    error = find_needs(pool);
    if (error) return error;
    int32_t *cpu = ns_pieces_take(&pool->base.memory, pool->base.workers, sizeof *cpu);
    pool->queues = ns_pieces_take(&pool->base.memory, pool->file.plan.steal.queue_count, sizeof(ns_task_queue *));
    error = cpu && pool->queues ? choose_cpus(pool, here, cpu) : NS_ERROR_MEMORY;
    if (!error) error = make_workers(pool, here, cpu);
    if (!error) error = make_queues(pool, here);
    if (!error && pool->file.plan.idle.given)
        error = ns_sleepers_create(&pool->sleepers, &pool->file.plan.idle, pool->base.workers);
    if (!error) error = follow_memory(pool);
    if (!error)
        error = ns_thread_sync_create(&pool->sync, pool->fields ? &pool->file.plan : NULL, pool->base.workers,
                                      pool->file.plan.steal.node, pool->rate);
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
    if (pool) pool->fields = plan;
    if (error) goto out;
    pool->base.options = *options;
#ifdef NS_TURNS
    pool->rate = (ns_tick_rate){1.0};
#else
    pool->rate = ns_tick_rate_of_process();
#endif
    error = fill(pool, &here);
out:
    ns_topology_destroy(&here);
    return error;
}

static void free_worker(ns_thread_worker *worker) {
    const ns_thread_execution *execution = ns_thread_execution_of(worker);
    if (execution->finish) execution->finish(worker);
    ns_thread_records_destroy(worker);
    ns_pieces_release(&worker->memory);
    ns_near_memory_free(worker, sizeof *worker);
}

void ns_thread_pool_free(ns_thread_pool *self) {
    for (uint32_t id = 0; self->worker && id < self->base.workers && self->worker[id]; id++)
        free_worker(self->worker[id]);
    for (uint32_t q = 0; self->queues && q < self->file.plan.steal.queue_count && self->queues[q]; q++) {
        ns_task_queue_destroy(self->queues[q]);
        ns_near_memory_free(self->queues[q], sizeof *self->queues[q]);
    }
    ns_thread_sync_destroy(self->sync);
    ns_sleepers_destroy(self->sleepers);
    ns_thread_destroy_search_locks(self);
    ns_object_homes_destroy(self->homes);
    ns_followed_graph_destroy(&self->graph);
    ns_plan_file_destroy(&self->file);
    ns_fields_destroy(self->fields);
    ns_pieces_release(&self->base.memory);
    free(self);
}
