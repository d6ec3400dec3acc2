/* The mode of virtual time: a plan is read, phases are run one after the other (model 3.6), what was counted is told.
 *
 * Equal, counter for counter, to the simulator's engines wherever nothing couples the workers (cache and contention
 * `none`): engine/reference/reference.py says what a phase is.
 */
#include "virtual/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../schema/generated/counters.h"
#include "execution/placing.h"
#include "platform/cpu_clock.h"
#include "policy/ranges.h"
#include "virtual/virtual_state.h"

/* Tasks that help nest without bound; only what is touched takes memory. */
#define WORKER_STACK_BYTES ((size_t)1 << 30)

/* ---- reading a plan ---------------------------------------------------------------------------------------------- */

static int read_plan(virtual_pool *pool) {
    const int error = ns_plan_file_read(&pool->file, pool->fields);
    if (error == NS_ERROR_FIELD) return ns_pool_fail(&pool->base, error, "%s", pool->file.reader.problem);
    if (error) return error;
    pool->plan = &pool->file.plan;
    pool->base.workers = pool->plan->workers;
    pool->seed = pool->file.seed;
    if (pool->plan->effects.coupled) {
        return ns_pool_fail(&pool->base, NS_ERROR_FIELD,
                            "virtual time has no caches, bandwidth, hardware threads or clocks: the plan's model has "
                            "to be {cache: none, contention: none, smt: none, clock: fixed}, and items of ranges "
                            "may not touch fresh memory or give memory back");
    }
    const int undecided = ns_boundary_create(&pool->boundary, &pool->base, pool->fields, pool->plan);
    if (undecided) return undecided;
    pool->detached = pool->plan->work_first || pool->plan->join == NS_JOIN_CONTINUATION;
    return NS_OK;
}

/* ---- making a pool ----------------------------------------------------------------------------------------------- */

static int make_dependences(virtual_graph *self, const ns_graph *graph) {
    const size_t rows = (size_t)graph->rows;
    if (!graph->successor.count) return NS_OK;
    self->depends = calloc(rows, sizeof *self->depends);
    self->predecessors = calloc(rows, sizeof *self->predecessors);
    self->held = calloc(rows, sizeof *self->held);
    if (!self->depends || !self->predecessors || !self->held) return NS_ERROR_MEMORY;
    for (uint64_t at = 0; at < graph->successor.count; at++) self->depends[graph->successor.at[at]]++;
    return NS_OK;
}

/* The loop of a worker: it looks for work and does it. */
static void loop(void *argument) {
    virtual_worker *w = argument;
    for (;;) {
        w->retired = false;
        ns_virtual_settle(w, NULL); /* what it was dealt and no queue had room for */
        ns_virtual_search(w);
    }
}

static int make_worker(virtual_pool *pool, uint32_t id) {
    const ns_plan *steal = &pool->plan->steal;
    virtual_worker *w = &pool->workers[id];
    w->base = (ns_worker){.pool = &pool->base, .id = id, .node = steal->node[id]};
    ns_worker_start(&w->state, pool->plan, id);
    pool->report.node[id] = steal->node[id];
    const int error = ns_fiber_create(&w->fiber, WORKER_STACK_BYTES, loop, w);
    w->suspended = w->fiber;
    return error;
}

static int make_workers(virtual_pool *pool) {
    const uint32_t workers = pool->base.workers;
    pool->workers = calloc(workers, sizeof *pool->workers);
    pool->search = (ns_search){
        .plan = pool->plan,
        .queues = &pool->queues,
        .actors = ns_actors_create(&pool->plan->steal, workers, pool->seed),
        .counts = {pool->report.node_attempts, pool->report.node_success},
    };
    if (!pool->workers || !pool->search.actors) return NS_ERROR_MEMORY;
    int error = NS_OK;
    for (uint32_t id = 0; id < workers && !error; id++) error = make_worker(pool, id);
    return error;
}

/* What changes during the run. */
static int make_state(virtual_pool *pool) {
    const size_t slots = (size_t)pool->base.workers + 1;
    if (!ns_pages_create(&pool->pages, pool->plan)) return NS_ERROR_MEMORY;
    if (!ns_clock_create(&pool->clock, slots + pool->plan->words.role.count)) return NS_ERROR_MEMORY;
    if (!ns_queues_create(&pool->queues, &pool->plan->steal, &pool->plan->thresholds)) return NS_ERROR_MEMORY;
    if (!ns_live_create(&pool->live, pool->plan)) return NS_ERROR_MEMORY;
    if (!ns_task_numbers_create(&pool->numbers, pool->plan)) return NS_ERROR_MEMORY;
    if (pool->plan->counts_live) ns_live_follow(&pool->live, &pool->plan->graph, &pool->plan->control);
    pool->sync = ns_sync_create(pool->plan, &pool->clock, slots, ns_virtual_listener(pool));
    return pool->sync ? NS_OK : NS_ERROR_MEMORY;
}

static int make_parts(virtual_pool *pool) {
    const ns_plan *steal = &pool->plan->steal;
    const uint32_t nodes = steal->nodes;
    const uint32_t words = (uint32_t)pool->plan->words.role.count;
    int error = make_state(pool);
    if (!error) error = ns_report_create(&pool->report, pool->base.workers, nodes, words);
    if (!error && !ns_steps_create(&pool->steps, pool->plan)) error = NS_ERROR_MEMORY;
    if (!error) error = make_dependences(&pool->graph, &pool->plan->graph);
    if (!error) error = make_workers(pool);
    if (!error) error = ns_fiber_adopt(&pool->main);
    pool->running = pool->main;
    pool->clock_cost_ps = ns_cpu_clock_cost_ps();
    return error;
}

static int open_pool(ns_pool **pool, const ns_pool_options *options, ns_fields *plan) {
    virtual_pool *made = calloc(1, sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    made->base = (ns_pool){.mode = &ns_virtual_mode, .tasks = &ns_virtual_calls, .options = *options};
    made->fields = plan;
    int error = plan ? read_plan(made)
                     : ns_pool_fail(&made->base, NS_ERROR_OPTION,
                                    "virtual time follows a plan that knows the program's recorded task graph");
    if (!error && options->workers && options->workers != made->base.workers) {
        error = ns_pool_fail(&made->base, NS_ERROR_OPTION, "the plan is for %u workers, not for %u", made->base.workers,
                             options->workers);
    }
    if (!error && options->seed) made->seed = options->seed;
    if (!error) error = make_parts(made);
    *pool = &made->base;
    return error;
}

static void destroy_worker(virtual_worker *w) {
    ns_fiber_destroy(w->fiber);
    ns_virtual_list_free(&w->stack);
    ns_virtual_list_free(&w->outbox);
    ns_virtual_list_free(&w->agenda);
    ns_virtual_list_free(&w->backlog);
    ns_virtual_list_free(&w->taken);
}

static void close_pool(ns_pool *pool) {
    virtual_pool *self = (virtual_pool *)pool;
    for (uint32_t id = 0; self->workers && id < pool->workers; id++) destroy_worker(&self->workers[id]);
    while (self->tasks) ns_virtual_free_task(self, self->tasks); /* of a program that was refused */
    for (uint32_t at = 0; at < self->fiber_count; at++) ns_fiber_destroy(self->fibers[at]);
    ns_fiber_destroy(self->main);
    ns_live_destroy(&self->live);
    ns_task_numbers_destroy(&self->numbers);
    ns_boundary_destroy(&self->boundary);
    ns_sync_destroy(self->sync);
    ns_pages_destroy(&self->pages);
    if (self->queues.plan) ns_queues_destroy(&self->queues);
    ns_report_destroy(&self->report);
    ns_clock_destroy(&self->clock);
    ns_steps_destroy(&self->steps);
    free(self->graph.depends);
    free(self->graph.predecessors);
    free(self->graph.held);
    free(self->fibers);
    free(self->spare);
    free(self->workers);
    free(self->search.actors);
    ns_plan_file_destroy(&self->file);
    ns_fields_destroy(self->fields);
    free(self);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

/* Bring the dependences of the tasks below a root to their beginning. */
static void reset_dependences(virtual_pool *pool, uint32_t root) {
    virtual_graph *graph = &pool->graph;
    if (!graph->depends) return;
    const size_t size = (size_t)pool->plan->graph.size.at[root];
    memcpy(graph->predecessors + root, graph->depends + root, size * sizeof *graph->predecessors);
    memset(graph->held + root, 0, size * sizeof(virtual_task *));
}

static bool is_held(const virtual_pool *pool, uint32_t root) {
    return pool->graph.depends && pool->graph.depends[root];
}

/* Deal the roots that wait for no other task; the others come when their predecessors have finished. */
static void give_roots(virtual_pool *pool, const ns_phase *phase, const ns_work_order *order) {
    const enum ns_deal deal = ns_deal_of(phase);
    uint64_t free = 0, dealt = 0;
    for (uint64_t at = 0; at < phase->roots.count; at++) free += !is_held(pool, (uint32_t)phase->roots.at[at]);
    for (uint64_t at = 0; at < phase->roots.count; at++) {
        const uint32_t row = (uint32_t)phase->roots.at[at];
        const bool held = is_held(pool, row);
        virtual_worker *w = &pool->workers[held ? 0 : ns_dealt_to(deal, dealt++, free, pool->base.workers)];
        virtual_task *root = ns_virtual_new_task(w, row, order);
        root->spawner = 0;
        pool->outstanding++;
        reset_dependences(pool, row);
        if (held) {
            pool->graph.held[row] = root;
        } else {
            ns_virtual_give_root(w, root);
        }
    }
    for (uint32_t id = 0; id < pool->base.workers; id++) ns_virtual_end_roots(&pool->workers[id]);
}

/* Close the books of a worker at the end of a phase: nothing of it is pending any more. */
static void retire(virtual_worker *w) {
    if (w->state.idle) {
        if (w->pending) ns_take_back(&w->state, w->rank, w->due_ps - now_of(w), w->step_ps);
        ns_virtual_end_idle(w);
        ns_clock_clear(&pool_of(w)->clock, w->base.id);
        w->pending = false;
    }
    w->state.fails = w->state.owed_ps = 0;
    w->state.held_count = 0;
    w->retired = true;
}

/* Whom a lock of the search is taken from had waited for it. */
static void on_freed(void *context, uint32_t actor, int64_t since_ps) {
    virtual_pool *pool = context;
    pool->workers[actor].state.counters.overhead_ps += pool->now_ps - since_ps;
}

static void on_phase_end(virtual_pool *pool) {
    if (pool->plan->locks_search) ns_sync_free_search(pool->sync, pool->plan->words.declared, pool->now_ps, on_freed);
    ns_queues_drop_claimed(&pool->queues);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        virtual_worker *w = &pool->workers[id];
        if (pool->serial && id) {
            w->state.counters.idle_barrier_ps += pool->now_ps - pool->phase_start_ps;
        } else {
            retire(w);
        }
    }
    ns_virtual_record(pool, NS_RANK_RELEASE, 0, pool->phases_run++, 0);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        const bool computes = pool->plan->threshold_time == NS_THRESHOLDS_PHASE;
        if (computes) ns_compute_thresholds(&pool->search, &pool->workers[id].state, pool->now_ps);
    }
    pool->phase_over = true;
}

/* False where memory is short: what was given is freed with the pool. */
static bool can_give_roots(virtual_pool *pool, const ns_phase *phase, const ns_work_order *order) {
    if (setjmp(pool->outside)) return false;
    give_roots(pool, phase, order);
    return true;
}

static void start_phase(virtual_pool *pool, const ns_phase *phase, const ns_work_order *order) {
    pool->phase_over = false;
    pool->iteration = (uint32_t)ns_steps_iteration(&pool->steps);
    pool->serial = phase->serial;
    pool->phase_start_ps = pool->now_ps;
    ns_live_start_phase(&pool->live, pool->plan, phase);
    ns_task_numbers_start_phase(&pool->numbers, phase);
    ns_page_map_start_phase(pool->pages.map, pool->steps.phase, pool->now_ps);
    if (!can_give_roots(pool, phase, order)) return;
    if (!pool->outstanding) ns_virtual_end_phase(pool);
    const uint32_t team = phase->serial ? 1 : pool->base.workers;
    pool->starting = true;
    for (uint32_t id = 0; id < team && !pool->error; id++) ns_virtual_resume(&pool->workers[id]);
    pool->starting = false;
}

/* Whether a program can go through the phase as its next. */
static int check_phase(virtual_pool *self, bool team) {
    if (!ns_steps_run(&self->steps)) {
        return ns_pool_fail(&self->base, NS_ERROR_PROGRAM, "the program has more than the %llu phases of the plan",
                            (unsigned long long)self->phases_run);
    }
    const unsigned long long number = (unsigned long long)self->steps.phase;
    const ns_phase *phase = &self->plan->phases.at[number];
    if (phase->family >= 0) {
        return ns_pool_fail(&self->base, NS_ERROR_UNSUPPORTED,
                            "phase %llu deals an implicit range; the runtime spawns tasks", number);
    }
    if (team || phase->roots.count == 1) return NS_OK;
    return ns_pool_fail(&self->base, NS_ERROR_PROGRAM, "phase %llu of the plan has %llu roots, the program has one",
                        number, (unsigned long long)phase->roots.count);
}

/* ---- iterations -------------------------------------------------------------------------------------------------- */

/* What has been decided for the iteration that comes next comes into force. */
static void follow(virtual_pool *self) {
    const ns_iteration_boundary *boundary = &self->boundary;
    const int64_t policies = (int64_t)self->plan->memory.stages.count - 1;
    if (0 <= boundary->policy && boundary->policy < policies)
        ns_page_map_choose(self->pages.map, (uint64_t)boundary->policy, self->now_ps);
    if (self->plan->counts_live) ns_live_follow(&self->live, &self->plan->graph, &boundary->in_force);
}

static void tell(virtual_pool *self) {
    ns_iteration_boundary *boundary = &self->boundary;
    boundary->measured[0] = self->now_ps;
    memcpy(boundary->node_bytes, self->pages.node_bytes,
           (size_t)self->plan->nodes * self->plan->nodes * sizeof *boundary->node_bytes);
    for (uint32_t id = 0; id < self->base.workers; id++) {
        const ns_counters *counted = &self->workers[id].state.counters;
        boundary->busy_ps[id] = counted->work_local_ps + counted->inflation_numa_ps;
    }
}

/* Go on to the next run of a phase; where that is in another iteration, it is decided how that is executed. */
static int next_step(virtual_pool *self) {
    const bool ends = self->boundary.controlled && ns_steps_ends_iteration(&self->steps);
    ns_steps_next(&self->steps);
    if (!ends || !ns_steps_run(&self->steps)) return NS_OK;
    tell(self);
    const int error = ns_boundary_cross(&self->boundary, &self->base);
    if (!error) follow(self);
    return error;
}

static int run(ns_pool *pool, const ns_work_order *order, bool team) {
    virtual_pool *self = (virtual_pool *)pool;
    if (self->error) return self->error;
    const int error = check_phase(self, team);
    if (error) return error;
    if (ns_boundary_begin(&self->boundary, pool, &self->error)) {
        if (self->error) return self->error;
        follow(self);
    }
    ns_fiber_adopt_again(self->main);
    start_phase(self, &self->plan->phases.at[self->steps.phase], order);
    while (!self->phase_over && !self->error && ns_virtual_turn(self, on_phase_end)) {
    }
    if (!self->phase_over && !self->error) {
        self->error = ns_pool_fail(pool, NS_ERROR_DEADLOCK, "%lld tasks are left at %lld ps and no worker can run them",
                                   (long long)self->outstanding, (long long)self->now_ps);
    }
    if (!self->error) self->error = next_step(self);
    return self->error;
}

/* ---- what was counted -------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(ns_counters) == NS_COUNTERS * sizeof(int64_t), "a row of ns_report.counters");
_Static_assert(sizeof(ns_sync_counts) == NS_SYNC_COUNTER_COUNT * sizeof(int64_t), "a row of ns_report.words");

static void report_words(const ns_sync *sync, ns_report *report) {
    for (uint32_t word = 0; word < report->word_count; word++) {
        const ns_sync_counts row = ns_sync_count(sync, word);
        memcpy(report->words + (size_t)word * NS_SYNC_COUNTER_COUNT, &row, sizeof row);
    }
}

static int report(ns_pool *pool, ns_report *report) {
    virtual_pool *self = (virtual_pool *)pool;
    ns_report *mine = &self->report;
    if (self->now_ps > INT64_MAX / (int64_t)pool->workers) {
        return ns_pool_fail(pool, NS_ERROR_FIELD,
                            "the times of %u workers add up to more than 2**63 ps, a hundred and six days",
                            pool->workers);
    }
    mine->makespan_ps = self->now_ps;
    mine->trace_hash = self->trace_hash;
    mine->page_faults = self->pages.placed;
    memcpy(mine->node_bytes, self->pages.node_bytes, (size_t)mine->nodes * mine->nodes * sizeof *mine->node_bytes);
    for (uint32_t id = 0; id < pool->workers; id++) {
        memcpy(mine->counters + (size_t)id * NS_COUNTERS, &self->workers[id].state.counters, sizeof(ns_counters));
    }
    report_words(self->sync, mine);
    return ns_report_copy(report, mine);
}

const ns_full_plan *ns_virtual_plan(const ns_pool *pool) { return ((const virtual_pool *)pool)->plan; }

uint32_t ns_virtual_row(const ns_task *task) { return ((const virtual_task *)task)->row; }

const ns_pool_operations ns_virtual_mode = {
    .open = open_pool,
    .close = close_pool,
    .run = run,
    .report = report,
};
