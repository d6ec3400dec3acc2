/* The mode of virtual time: a plan is read, phases are run one after the other (model 3.6), what was counted is told.
 *
 * Equal, counter for counter, to the simulator's engines wherever nothing couples the workers (cache and contention
 * `none`): numasim/engine/reference.py says what a phase is.
 */
#include "virtual/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_clock.h"
#include "policy/ranges.h"
#include "virtual/virtual_state.h"

/* Tasks that help nest without bound; only what is touched takes memory. */
#define WORKER_STACK_BYTES ((size_t)1 << 30)

/* ---- reading a plan ---------------------------------------------------------------------------------------------- */

static void read_costs(virtual_costs *costs, ns_field_reader *reader) {
    const struct {
        const char *name;
        int64_t *cost_ps;
    } field[] = {
        {"push_ps", &costs->push_ps},
        {"pop_ps", &costs->pop_ps},
        {"join_ps", &costs->join_ps},
        {"wait_ps", &costs->wait_ps},
        {"resume_ps", &costs->resume_ps},
        {"take_ps", &costs->take_ps},
        {"move_ps", &costs->move_ps},
        {"wake_ps", &costs->wake_ps},
        {"wake_remote_ps", &costs->wake_remote_ps},
        {"locate_ps", &costs->locate_ps},
        {"probe_near_ps", &costs->probe_near_ps},
        {"probe_far_ps", &costs->probe_far_ps},
        {"least_probe_ps", &costs->least_probe_ps},
    };
    for (uint32_t at = 0; at < sizeof field / sizeof *field; at++) {
        *field[at].cost_ps = ns_field_reader_integer(reader, field[at].name, 0, NS_MOST_COST_PS);
    }
    costs->line = ns_field_reader_flag(reader, "line");
}

static void read_graph(virtual_graph *graph, ns_field_reader *reader) {
    uint64_t ops = 0, successors = 0, segments;
    graph->rows = (uint32_t)ns_field_reader_integer(reader, "rows", 0, INT32_MAX);
    segments = (uint64_t)ns_field_reader_integer(reader, "segments", 0, INT32_MAX);
    graph->op_code = ns_field_reader_array(reader, "op_code", NS_FIELD_U8, NS_ANY_COUNT, &ops);
    graph->op_arg = ns_field_reader_array(reader, "op_arg", NS_FIELD_U32, ops, NULL);
    graph->op_ptr = ns_field_reader_i64(reader, "op_ptr", (uint64_t)graph->rows + 1, 0, (int64_t)ops, NULL);
    graph->kind = ns_field_reader_array(reader, "kind", NS_FIELD_U8, graph->rows, NULL);
    graph->subtree_end = ns_field_reader_i64(reader, "subtree_end", graph->rows, 0, graph->rows, NULL);
    graph->successor = ns_field_reader_array(reader, "successor", NS_FIELD_U32, NS_ANY_COUNT, &successors);
    graph->successor_ptr =
        ns_field_reader_i64(reader, "successor_ptr", (uint64_t)graph->rows + 1, 0, (int64_t)successors, NULL);
    if (reader->error) return;
    for (uint32_t row = 0; row < graph->rows; row++) {
        ns_field_reader_require(reader, graph->op_ptr[row] <= graph->op_ptr[row + 1], "op_ptr falls at row %u", row);
        ns_field_reader_require(reader, graph->successor_ptr[row] <= graph->successor_ptr[row + 1],
                                "successor_ptr falls at row %u", row);
    }
    for (uint64_t at = 0; at < ops; at++) {
        const uint8_t code = graph->op_code[at];
        const uint64_t end = code == NS_OP_RUN ? segments : code <= NS_OP_CALL ? graph->rows : UINT64_MAX;
        ns_field_reader_require(reader, code < NS_OP_END && graph->op_arg[at] < end, "op %llu is out of bounds",
                                (unsigned long long)at);
    }
    for (uint64_t at = 0; at < successors; at++) {
        ns_field_reader_require(reader, graph->successor[at] < graph->rows, "successor is out of bounds");
    }
}

static void read_words(virtual_pool *pool, ns_field_reader *reader) {
    const ns_plan *steal = &pool->tables.steal;
    const uint32_t workers = pool->base.workers;
    const uint64_t queues = steal->queue_count;
    uint64_t lines = 0, level_locks = 0, queue_locks = 0;
    pool->transfers.between_ps = ns_field_reader_i64(reader, "line_ps", NS_ANY_COUNT, 0, NS_MOST_COST_PS, &lines);
    pool->transfers.memory_ps =
        ns_field_reader_i64(reader, "word_memory_ps", (uint64_t)steal->nodes * steal->nodes, 0, NS_MOST_COST_PS, NULL);
    pool->transfers.node = steal->node;
    pool->transfers.workers = workers;
    pool->transfers.nodes = steal->nodes;
    pool->transfers.cached = ns_field_reader_flag(reader, "words_cached");
    pool->words_declared = (uint32_t)ns_field_reader_integer(reader, "words_declared", 0, UINT32_MAX);
    pool->level_lock = ns_field_reader_i32(reader, "level_lock", NS_ANY_COUNT, -1, INT32_MAX, &level_locks);
    pool->queue_lock = ns_field_reader_i32(reader, "queue_lock", NS_ANY_COUNT, -1, INT32_MAX, &queue_locks);
    ns_field_reader_require(reader, !pool->costs.line || lines == (uint64_t)workers * workers,
                            "line_ps has %llu entries", (unsigned long long)lines);
    ns_field_reader_require(reader, !level_locks || level_locks == steal->steal_levels * queues,
                            "level_lock has %llu entries", (unsigned long long)level_locks);
    ns_field_reader_require(reader, !queue_locks || queue_locks == queues, "queue_lock has %llu entries",
                            (unsigned long long)queue_locks);
    if (!level_locks) pool->level_lock = NULL;
    if (!queue_locks) pool->queue_lock = NULL;
    pool->locks_search = level_locks || queue_locks;
}

static bool is_bounded(const ns_plan *steal) {
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        if (steal->queues[q].capacity) return true;
    }
    return false;
}

static bool has_inline_queue(const ns_plan *steal) {
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        if (steal->queues[q].full == NS_FULL_INLINE) return true;
    }
    return false;
}

/* What follows from the plan for every step of the run. */
static void derive(virtual_pool *pool, bool own_dispatch) {
    const ns_plan *steal = &pool->tables.steal;
    pool->looks_at_data = ns_looks_at_data(steal);
    pool->own_never_full = own_dispatch && !is_bounded(steal);
    pool->inlines = has_inline_queue(steal) && !pool->looks_at_data;
    pool->puts_take_time = pool->costs.push_ps || pool->queue_lock;
    pool->detached = pool->tables.work_first || pool->tables.join == NS_JOIN_CONTINUATION;
}

static int read_plan(virtual_pool *pool) {
    ns_field_reader reader = ns_field_reader_of(pool->plan);
    int error = ns_plan_tables_read(&pool->tables, &reader);
    if (error == NS_ERROR_MEMORY) return error;
    pool->base.workers = pool->tables.steal.workers;
    read_costs(&pool->costs, &reader);
    read_graph(&pool->graph, &reader);
    read_words(pool, &reader);
    const bool own_dispatch = ns_field_reader_flag(&reader, "own_dispatch");
    pool->phases = (uint32_t)ns_field_reader_integer(&reader, "phases.count", 0, INT32_MAX);
    ns_field_reader_require(
        &reader, !ns_field_reader_flag(&reader, "coupled"),
        "virtual time has no caches, bandwidth, hardware threads or clocks: the plan's model has to be "
        "{cache: none, contention: none, smt: none, clock: fixed}");
    if (reader.error) return ns_pool_fail(&pool->base, reader.error, "%s", reader.problem);
    derive(pool, own_dispatch);
    return NS_OK;
}

/* ---- making a pool ----------------------------------------------------------------------------------------------- */

static int make_dependences(virtual_graph *graph) {
    const int64_t edges = graph->successor_ptr[graph->rows];
    if (!edges) return NS_OK;
    graph->depends = calloc(graph->rows, sizeof *graph->depends);
    graph->predecessors = calloc(graph->rows, sizeof *graph->predecessors);
    graph->held = calloc(graph->rows, sizeof *graph->held);
    if (!graph->depends || !graph->predecessors || !graph->held) return NS_ERROR_MEMORY;
    for (int64_t at = 0; at < edges; at++) graph->depends[graph->successor[at]]++;
    return NS_OK;
}

/* The loop of a worker: it looks for work and does it. */
static void loop(void *argument) {
    virtual_worker *w = argument;
    for (;;) {
        w->retired = false;
        ns_virtual_search(w, NULL);
        ns_virtual_settle(w, NULL);
    }
}

static int make_worker(virtual_pool *pool, uint32_t id, int64_t **cursor, int32_t **chance_ppm) {
    const ns_plan *steal = &pool->tables.steal;
    virtual_worker *w = &pool->workers[id];
    *w = (virtual_worker){
        .base = {&pool->base, id, steal->node[id]},
        .own = steal->own[id] == NS_NO_QUEUE ? NS_UNKNOWN : (int64_t)steal->own[id],
        .counter = pool->report.counters + (size_t)id * NS_COUNTERS,
    };
    pool->report.node[id] = steal->node[id];
    ns_actor_init(&pool->actors[id], steal, (int32_t)id, pool->tables.seed, *cursor, *chance_ppm);
    *cursor += steal->levels;
    *chance_ppm += steal->chances;
    const int error = ns_fiber_create(&w->fiber, WORKER_STACK_BYTES, loop, w);
    w->suspended = w->fiber;
    return error;
}

static int make_workers(virtual_pool *pool) {
    const ns_plan *steal = &pool->tables.steal;
    const size_t workers = pool->base.workers;
    pool->workers = calloc(workers, sizeof *pool->workers);
    pool->actors = calloc(workers, sizeof *pool->actors);
    pool->cursors = calloc(workers * steal->levels + 1, sizeof *pool->cursors);
    pool->chances = calloc(workers * steal->chances + 1, sizeof *pool->chances);
    if (!pool->workers || !pool->actors || !pool->cursors || !pool->chances) return NS_ERROR_MEMORY;
    int64_t *cursor = pool->cursors;
    int32_t *chance_ppm = pool->chances;
    int error = NS_OK;
    for (uint32_t id = 0; id < workers && !error; id++) error = make_worker(pool, id, &cursor, &chance_ppm);
    return error;
}

static int make_scratch(virtual_pool *pool) {
    const ns_plan *steal = &pool->tables.steal;
    pool->most_objects = pool->looks_at_data ? ns_pages_most_objects(pool->pages) : 0;
    pool->objects = calloc((size_t)pool->most_objects + 1, sizeof *pool->objects);
    pool->similarity = calloc(steal->nodes, sizeof *pool->similarity);
    pool->overflowed = calloc(steal->queue_count + 1, sizeof *pool->overflowed);
    return pool->objects && pool->similarity && pool->overflowed ? NS_OK : NS_ERROR_MEMORY;
}

/* What changes during the run. */
static int make_state(virtual_pool *pool) {
    const size_t slots = (size_t)pool->base.workers + 1;
    if (!ns_clock_create(&pool->clock, slots + pool->words.count)) return NS_ERROR_MEMORY;
    if (!ns_queues_create(&pool->queues, &pool->tables.steal, &pool->tables.thresholds)) return NS_ERROR_MEMORY;
    pool->sync = ns_sync_create(&pool->words, &pool->clock, slots, ns_virtual_listener(pool));
    return pool->sync ? NS_OK : NS_ERROR_MEMORY;
}

static int make_parts(virtual_pool *pool) {
    const ns_plan *steal = &pool->tables.steal;
    const uint32_t nodes = steal->nodes;
    ns_field_reader reader = ns_field_reader_of(pool->plan);
    int error = ns_pages_create(&pool->pages, &reader, nodes);
    if (!error) error = ns_virtual_sync_read(&pool->words, &reader, &pool->transfers);
    if (!error) error = make_state(pool);
    if (reader.error) ns_pool_fail(&pool->base, error, "%s", reader.problem);
    if (!error) error = ns_report_create(&pool->report, pool->base.workers, nodes, pool->words.count);
    if (!error) error = make_dependences(&pool->graph);
    if (!error) error = make_scratch(pool);
    if (!error) error = make_workers(pool);
    if (!error) error = ns_fiber_adopt(&pool->main);
    pool->running = pool->main;
    pool->clock_cost_ps = ns_cpu_clock_cost_ps();
    return error;
}

int ns_virtual_open(ns_pool **pool, const ns_pool_options *options, ns_fields *plan) {
    virtual_pool *made = calloc(1, sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    made->base = (ns_pool){.mode = &ns_virtual_mode, .tasks = &ns_virtual_calls, .options = *options};
    made->plan = plan;
    int error = plan ? read_plan(made)
                     : ns_pool_fail(&made->base, NS_ERROR_OPTION,
                                    "virtual time follows a plan that knows the program's recorded task graph");
    if (!error && options->workers && options->workers != made->base.workers) {
        error = ns_pool_fail(&made->base, NS_ERROR_OPTION, "the plan is for %u workers, not for %u", made->base.workers,
                             options->workers);
    }
    if (!error && options->seed) made->tables.seed = options->seed;
    if (!error) error = make_parts(made);
    *pool = &made->base;
    return error;
}

static void destroy_worker(virtual_worker *w) {
    ns_fiber_destroy(w->fiber);
    ns_virtual_list_free(&w->stack);
    ns_virtual_list_free(&w->outbox);
    ns_virtual_list_free(&w->agenda);
}

void ns_virtual_close(ns_pool *pool) {
    virtual_pool *self = (virtual_pool *)pool;
    for (uint32_t id = 0; self->workers && id < pool->workers; id++) destroy_worker(&self->workers[id]);
    for (uint32_t at = 0; at < self->spare_count; at++) ns_fiber_destroy(self->spare[at]);
    ns_fiber_destroy(self->main);
    ns_sync_destroy(self->sync);
    ns_pages_destroy(self->pages);
    if (self->queues.plan) ns_queues_destroy(&self->queues);
    ns_report_destroy(&self->report);
    ns_clock_destroy(&self->clock);
    ns_plan_tables_destroy(&self->tables);
    free(self->graph.depends);
    free(self->graph.predecessors);
    free(self->graph.held);
    free(self->spare);
    free(self->objects);
    free(self->similarity);
    free(self->overflowed);
    free(self->workers);
    free(self->actors);
    free(self->cursors);
    free(self->chances);
    ns_fields_destroy(self->plan);
    free(self);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const int64_t *roots;
    uint64_t root_count;
    enum ns_deal deal;
    bool serial;
    int64_t repeat;
} virtual_phase;

static int read_phase(virtual_pool *pool, virtual_phase *phase) {
    ns_field_reader reader = ns_field_reader_of(pool->plan);
    char name[48];
#define FIELD(key) (snprintf(name, sizeof name, "phases.%u." key, pool->phase), name)
    phase->roots = ns_field_reader_i64(&reader, FIELD("roots"), NS_ANY_COUNT, 0, (int64_t)pool->graph.rows - 1,
                                       &phase->root_count);
    phase->deal = (enum ns_deal)ns_field_reader_integer(&reader, FIELD("deal"), 0, NS_DEAL_CYCLIC);
    phase->serial = ns_field_reader_flag(&reader, FIELD("serial"));
    phase->repeat = ns_field_reader_integer(&reader, FIELD("repeat"), 1, INT64_MAX);
    const int64_t family = ns_field_reader_integer(&reader, FIELD("family"), -1, INT32_MAX);
#undef FIELD
    if (reader.error) return ns_pool_fail(&pool->base, reader.error, "%s", reader.problem);
    if (family < 0) return NS_OK;
    return ns_pool_fail(&pool->base, NS_ERROR_UNSUPPORTED, "phase %u deals an implicit range; the runtime spawns tasks",
                        pool->phase);
}

static void deal_root(virtual_pool *pool, const virtual_phase *phase, uint64_t index, const ns_work_order *order) {
    virtual_graph *graph = &pool->graph;
    const uint32_t row = (uint32_t)phase->roots[index];
    virtual_worker *w = &pool->workers[ns_dealt_to(phase->deal, index, phase->root_count, pool->base.workers)];
    virtual_task *root = ns_virtual_new_task(w, row, order);
    root->spawner = 0;
    if (graph->depends) {
        const size_t size = (size_t)graph->subtree_end[row] - row;
        memcpy(graph->predecessors + row, graph->depends + row, size * sizeof *graph->predecessors);
        memset(graph->held + row, 0, size * sizeof(virtual_task *));
    }
    ns_virtual_list_push(w, &w->agenda, root);
    pool->outstanding++;
}

/* Uncount the part of a pending probe or wait that lies behind the end of the phase. */
static void take_back(virtual_worker *w, int64_t left_ps) {
    const int64_t cut_ps = left_ps < w->step_ps ? left_ps : w->step_ps;
    w->counter[w->rank == NS_RANK_LOOK ? NS_IDLE_STEAL_PS : NS_IDLE_BACKOFF_PS] -= cut_ps;
    w->counter[NS_OVERHEAD_PS] -= left_ps - cut_ps;
}

/* Close the books of a worker at the end of a phase: nothing of it is pending any more. */
static void retire(virtual_worker *w) {
    if (w->idle) {
        if (w->pending) take_back(w, w->due_ps - now_of(w));
        ns_virtual_end_idle(w);
        ns_clock_clear(&pool_of(w)->clock, w->base.id);
        w->pending = false;
    }
    w->fails = w->owed_ps = 0;
    w->held_count = 0;
    w->retired = true;
}

/* Whom a lock of the search is taken from had waited for it. */
static void on_freed(void *context, uint32_t actor, int64_t since_ps) {
    virtual_pool *pool = context;
    pool->workers[actor].counter[NS_OVERHEAD_PS] += pool->now_ps - since_ps;
}

static void on_phase_end(virtual_pool *pool) {
    if (pool->locks_search) ns_sync_free_search(pool->sync, pool->words_declared, pool->now_ps, on_freed);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        virtual_worker *w = &pool->workers[id];
        if (pool->serial && id) {
            w->counter[NS_IDLE_BARRIER_PS] += pool->now_ps - pool->phase_start_ps;
        } else {
            retire(w);
        }
    }
    ns_virtual_record(pool, NS_RANK_RELEASE, 0, pool->phases_run++, 0);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        const bool computes = pool->tables.threshold_time == NS_THRESHOLDS_PHASE;
        if (computes) ns_virtual_compute_thresholds(&pool->workers[id]);
    }
    pool->phase_over = true;
}

static void start_phase(virtual_pool *pool, const virtual_phase *phase, const ns_work_order *order) {
    pool->phase_over = false;
    pool->serial = phase->serial;
    pool->phase_start_ps = pool->now_ps;
    ns_pages_start_phase(pool->pages, pool->phase);
    for (uint64_t index = 0; index < phase->root_count; index++) deal_root(pool, phase, index, order);
    if (!pool->outstanding) ns_virtual_end_phase(pool);
    const uint32_t team = phase->serial ? 1 : pool->base.workers;
    pool->starting = true;
    for (uint32_t id = 0; id < team && !pool->error; id++) ns_virtual_resume(&pool->workers[id]);
    pool->starting = false;
}

int ns_virtual_run(ns_pool *pool, const ns_work_order *order, bool team) {
    virtual_pool *self = (virtual_pool *)pool;
    virtual_phase phase;
    if (self->error) return self->error;
    if (self->phase >= self->phases) {
        return ns_pool_fail(pool, NS_ERROR_PROGRAM, "the program has more than the %u phases of the plan",
                            self->phases);
    }
    const int error = read_phase(self, &phase);
    if (error) return error;
    if (!team && phase.root_count != 1) {
        return ns_pool_fail(pool, NS_ERROR_PROGRAM, "phase %u of the plan has %llu roots, the program has one",
                            self->phase, (unsigned long long)phase.root_count);
    }
    start_phase(self, &phase, order);
    while (!self->phase_over && !self->error && ns_virtual_turn(self, on_phase_end)) {
    }
    if (!self->phase_over && !self->error) {
        self->error = ns_pool_fail(pool, NS_ERROR_DEADLOCK, "%lld tasks are left at %lld ps and no worker can run them",
                                   (long long)self->outstanding, (long long)self->now_ps);
    }
    self->repeats_run++;
    if (self->repeats_run == phase.repeat) {
        self->repeats_run = 0;
        self->phase++;
    }
    return self->error;
}

/* ---- what was counted -------------------------------------------------------------------------------------------- */

int ns_virtual_report(ns_pool *pool, ns_report *report) {
    virtual_pool *self = (virtual_pool *)pool;
    ns_report *mine = &self->report;
    mine->makespan_ps = self->now_ps;
    mine->trace_hash = self->trace_hash;
    mine->page_faults = 0;
    memset(mine->node_bytes, 0, (size_t)mine->nodes * mine->nodes * sizeof *mine->node_bytes);
    ns_pages_report(self->pages, mine);
    ns_virtual_sync_report(self->sync, mine);
    return ns_report_copy(report, mine);
}

const ns_fields *ns_virtual_plan(const ns_pool *pool) { return ((const virtual_pool *)pool)->plan; }

uint32_t ns_virtual_row(const ns_task *task) { return ((const virtual_task *)task)->row; }

const ns_pool_operations ns_virtual_mode = {
    .open = ns_virtual_open,
    .close = ns_virtual_close,
    .run = ns_virtual_run,
    .report = ns_virtual_report,
};
