/* The mode of virtual time: the simulator's own engine executes the plan's graph, and runs the program's bodies. */
#include <stdlib.h>
#include <string.h>

#include "platform/ticks.h"
#include "virtual/virtual_state.h"

/* ---- making a pool ----------------------------------------------------------------------------------------------- */

static int read_plan(virtual_pool *pool) {
    const int error = ns_plan_file_read(&pool->file, pool->fields);
    if (error == NS_ERROR_FIELD) return ns_pool_fail(&pool->base, error, "%s", pool->file.reader.problem);
    if (error) return error;
    pool->base.workers = pool->file.plan.workers;
    pool->seed = pool->file.seed;
    return ns_boundary_create(&pool->boundary, &pool->base, pool->fields, &pool->file.plan);
}

/* Read the controller's decisions from a file or a pipe. This is the function `decide` of ns_virtual_host. */
static int decide(void *whole, const int64_t *told, ns_virtual_decision *decision) {
    virtual_pool *pool = whole;
    ns_iteration_boundary *boundary = &pool->boundary;
    int error = NS_OK;
    if (told) {
        memcpy(boundary->measured, told, ns_boundary_measures(boundary) * sizeof *told);
        error = ns_boundary_cross(boundary, &pool->base);
    } else {
        ns_boundary_begin(boundary, &pool->base, &error);
    }
    *decision = (ns_virtual_decision){&boundary->in_force, boundary->policy, boundary->profile_ps};
    return error;
}

static int make_dependences(virtual_pool *pool) {
    const ns_graph *graph = &pool->file.plan.graph;
    if (!graph->successor.count) return NS_OK;
    pool->depends = ns_pieces_take(&pool->base.memory, (uint64_t)graph->rows, sizeof *pool->depends);
    if (!pool->depends) return NS_ERROR_MEMORY;
    for (uint64_t at = 0; at < graph->successor.count; at++) pool->depends[graph->successor.at[at]]++;
    return NS_OK;
}

static int make_parts(virtual_pool *pool) {
    const ns_full_plan *plan = &pool->file.plan;
    const bool measured = pool->base.options.costs == NS_COSTS_MEASURED;
    ns_pieces *memory = &pool->base.memory;
    pool->workers = ns_pieces_take(memory, plan->workers, sizeof *pool->workers);
    pool->of_row = ns_pieces_take(memory, (uint64_t)plan->graph.rows, sizeof *pool->of_row);
    if (measured) pool->compute_ps = ns_pieces_take(memory, plan->graph.op_code.count, sizeof *pool->compute_ps);
    if (memory->is_short) return NS_ERROR_MEMORY;
    for (uint32_t id = 0; id < plan->workers; id++)
        pool->workers[id] = (ns_worker){.pool = &pool->base, .id = id, .node = plan->node.at[id]};
    if (measured) pool->clock_cost_ps = ns_cpu_clock_cost_ps();
    int error = make_dependences(pool);
    if (!error) error = ns_fiber_adopt(&pool->main);
    if (error) return error;
    const ns_virtual_host host = {.pool = pool,
                                  .come_to = ns_virtual_come_to,
                                  .compute_ps = pool->compute_ps,
                                  .decide = pool->boundary.controlled ? decide : NULL,
                                  .problem = pool->base.problem,
                                  .problem_bytes = sizeof pool->base.problem};
    return ns_virtual_engine_create(&pool->engine, &pool->file, pool->seed, host);
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

static void close_pool(ns_pool *pool) {
    virtual_pool *self = (virtual_pool *)pool;
    ns_virtual_engine_destroy(self->engine);
    while (self->tasks) ns_virtual_free_task(self, self->tasks); /* tasks of a program that was refused */
    for (uint64_t at = 0; at < self->spare.count; at++) ns_fiber_destroy(((ns_fiber **)self->spare.entries)[at]);
    ns_fiber_destroy(self->main);
    ns_boundary_destroy(&self->boundary);
    free(self->spare.entries);
    ns_pieces_release(&self->base.memory);
    ns_plan_file_destroy(&self->file);
    ns_fields_destroy(self->fields);
    free(self);
}

/* ---- phases ------------------------------------------------------------------------------------------------------ */

static int run(ns_pool *pool, const ns_work_order *order, bool team) {
    virtual_pool *self = (virtual_pool *)pool;
    if (self->error) return self->error;
    const int error = ns_pool_check_phase(pool, &self->file.plan, ns_virtual_engine_phase(self->engine), team);
    if (error) return error;
    ns_fiber_adopt_again(self->main);
    self->order = order;
    return self->error = ns_virtual_engine_run(self->engine);
}

/* ---- reports -------------------------------------------------------------------------------------------- */

static int report(ns_pool *pool, ns_report *report) {
    virtual_pool *self = (virtual_pool *)pool;
    const ns_full_plan *plan = &self->file.plan;
    if (ns_report_create(report, plan->workers, plan->nodes, (uint32_t)plan->words.role.count)) return NS_ERROR_MEMORY;
    if (ns_virtual_engine_report(self->engine, report)) return NS_OK;
    ns_report_destroy(report);
    return ns_pool_fail(pool, NS_ERROR_FIELD,
                        "the times of %u workers add up to more than 2**63 ps, a hundred and six days", pool->workers);
}

static const ns_plan_file *file_of(const ns_pool *pool) { return &((const virtual_pool *)pool)->file; }

static uint32_t row_of(const ns_task *task) { return ((const virtual_task *)task)->row; }

const ns_pool_operations ns_virtual_mode = {
    .open = open_pool,
    .close = close_pool,
    .run = run,
    .report = report,
    .plan = file_of,
    .row = row_of,
};
