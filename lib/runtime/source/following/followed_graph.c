#include "following/followed_graph.h"

/* ---- making a followed graph ------------------------------------------------------------------------------------- */

static bool make_dependences(ns_followed_graph *self, ns_pool *pool) {
    const ns_graph *graph = &self->plan->graph;
    const uint64_t rows = (uint64_t)graph->rows;
    self->depends = ns_pieces_take(&pool->memory, rows, sizeof *self->depends);
    self->lacks = ns_pieces_take(&pool->memory, rows, sizeof *self->lacks);
    self->held = ns_pieces_take(&pool->memory, rows, sizeof(ns_thread_task *));
    if (pool->memory.is_short) return false;
    for (uint64_t at = 0; at < graph->successor.count; at++) self->depends[graph->successor.at[at]]++;
    return true;
}

static bool asks_for_rows(const ns_followed_graph *self) {
    const ns_full_plan *plan = self->plan;
    const bool by_tier = plan->work_first_tiers && plan->work_first_tiers != NS_EVERY_TIER;
    bool guarded = false; /* whether a level or a rule is in force only in some iterations, or under a switch */
    for (uint32_t at = 0; at < plan->steal.levels; at++) {
        const ns_level *level = &plan->steal.level[at];
        guarded |= level->first_iteration || level->last_iteration != UINT32_MAX || level->toggle != NS_NONE8;
    }
    return plan->rules_ask_tasks || plan->counts_live || by_tier || self->boundary.controlled || guarded ||
           ns_task_numbers_are_asked_for(&self->numbers);
}

static void follow_tiers(ns_followed_graph *self) {
    if (self->counts_live) ns_live_follow(&self->live, &self->plan->graph, &self->boundary.in_force);
}

int ns_followed_graph_create(ns_followed_graph *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan,
                             enum ns_graph_use use) {
    *self = (ns_followed_graph){.plan = plan};
    if (use == NS_GRAPH_IGNORED) return NS_OK;
    const bool is_program = use == NS_GRAPH_IS_PROGRAM;
    self->counts_live = plan->counts_live;
    const int error = ns_boundary_create(&self->boundary, pool, fields, plan);
    if (error) return error;
    bool made = ns_task_numbers_create(&self->numbers, plan);
    self->knows_rows = is_program || asks_for_rows(self);
    self->holds = is_program && plan->graph.successor.count;
    made = made && ns_steps_create(&self->steps, plan) && ns_live_create(&self->live, plan);
    if (made && self->holds) made = make_dependences(self, pool);
    if (!made) return ns_pool_fail(pool, NS_ERROR_MEMORY, "there is no memory to follow the plan's graph");
    follow_tiers(self);
    return NS_OK;
}

void ns_followed_graph_destroy(ns_followed_graph *self) {
    if (!self->plan) return;
    ns_boundary_destroy(&self->boundary);
    ns_pieces_release(&self->steps.memory);
    ns_pieces_release(&self->live.memory);
    ns_pieces_release(&self->numbers.memory);
}

/* ---- phases and iterations --------------------------------------------------------------------------------------- */

/* Use the controller's decisions from now on. A page policy is an error, since the operating system places pages. */
static int take_over(ns_followed_graph *self, ns_pool *pool) {
    if (self->boundary.policy != NS_NO_POLICY) {
        return ns_pool_fail(
            pool, NS_ERROR_UNSUPPORTED,
            "the controller has chosen a page policy, which is left to the operating system on threads");
    }
    follow_tiers(self);
    return NS_OK;
}

int ns_followed_graph_begin(ns_followed_graph *self, ns_pool *pool, bool team) {
    if (!self->knows_rows) return NS_OK;
    const int64_t phase = ns_steps_run(&self->steps) ? (int64_t)self->steps.phase : -1;
    int error = ns_pool_check_phase(pool, self->plan, phase, team);
    if (!error && ns_boundary_begin(&self->boundary, pool, &error) && !error) error = take_over(self, pool);
    if (error) return error;
    self->iteration = (uint32_t)ns_steps_iteration(&self->steps);
    ns_live_start_phase(&self->live, self->plan, ns_followed_phase(self));
    ns_task_numbers_start_phase(&self->numbers, ns_followed_phase(self));
    return NS_OK;
}

bool ns_followed_graph_end(ns_followed_graph *self) {
    if (!self->knows_rows) return false;
    const bool ends = self->boundary.controlled && ns_steps_ends_iteration(&self->steps);
    ns_steps_next(&self->steps);
    return ends && ns_steps_run(&self->steps);
}

int ns_followed_graph_cross(ns_followed_graph *self, ns_pool *pool) {
    const int error = ns_boundary_cross(&self->boundary, pool);
    return error ? error : take_over(self, pool);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

uint32_t ns_followed_graph_child(const ns_followed_graph *self, ns_task_notes *parent) {
    const ns_graph *graph = &self->plan->graph;
    if (parent->row == NS_NO_ROW) return NS_NO_ROW;
    const uint32_t end = (uint32_t)graph->op_ptr.at[parent->row + 1];
    while (parent->at < end) {
        const uint32_t at = parent->at++;
        const enum ns_op code = (enum ns_op)graph->op_code.at[at];
        if (code == NS_OP_SPAWN || code == NS_OP_CALL) return graph->op_arg.at[at];
    }
    return NS_NO_ROW;
}

void ns_followed_graph_root(ns_followed_graph *self, uint32_t root) {
    if (!self->holds) return;
    const uint32_t end = root + (uint32_t)self->plan->graph.size.at[root];
    for (uint32_t row = root; row < end; row++) {
        self->held[row] = NULL;
        /* relaxed: no worker runs */
        ns_atomic_u32_store(&self->lacks[row], self->depends[row] + 1, memory_order_relaxed);
    }
}

/* Subtract one from `lacks` of a row. Return whether the task of the row is spawned and all predecessors have ended. */
static bool is_complete(ns_followed_graph *self, uint32_t row) {
    /* acq_rel: the thread that finds 0 sees the task, and all that its predecessors did */
    return ns_atomic_u32_fetch_add(&self->lacks[row], UINT32_MAX, memory_order_acq_rel) == 1;
}

bool ns_followed_graph_hold(ns_followed_graph *self, ns_thread_task *task, uint32_t row) {
    if (!self->holds || row == NS_NO_ROW) return false;
    self->held[row] = task;
    return !is_complete(self, row);
}

ns_thread_task *ns_followed_graph_release(ns_followed_graph *self, uint32_t row) {
    return is_complete(self, row) ? self->held[row] : NULL;
}
