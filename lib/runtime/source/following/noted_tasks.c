#include "following/noted_tasks.h"

#include "execution/worker_state.h"
#include "following/live_gates.h"
#include "platform/waiting.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void ns_thread_note_child(ns_thread_worker *worker, const ns_thread_task *parent, ns_thread_task *child) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->graph.knows_rows) return;
    ns_task_notes *notes = ns_thread_notes_of(child), *above = ns_thread_notes_of(parent);
    notes->row = ns_followed_graph_child(&pool->graph, above);
    if (notes->row == NS_NO_ROW) {
        if (above->row == NS_NO_ROW) return;
        ns_thread_pool_note(pool, NS_ERROR_PROGRAM,
                            "a task spawns more than the plan's graph has: the strategy tells tasks apart by the task "
                            "graph that was recorded of the program, which the plan is to be compiled with (--graph)");
        return;
    }
    notes->at = (uint32_t)pool->graph.plan->graph.op_ptr.at[notes->row];
    if (pool->graph.counts_live) ns_thread_live_create(pool, notes->row);
}

uint32_t ns_thread_tier_of(const ns_thread_pool *pool, const ns_thread_task *task) {
    const ns_graph *graph = &pool->graph.plan->graph;
    const ns_task_notes *notes = ns_thread_notes_of(task);
    if (notes->row == NS_NO_ROW) return NS_TIER_LOCAL;
    const bool begun = notes->at != (uint32_t)graph->op_ptr.at[notes->row];
    return ns_tier_of(&pool->graph.boundary.in_force, begun ? graph->op_arg.at[notes->at - 1] : notes->row);
}

int32_t ns_thread_label_of(const ns_thread_pool *pool, const ns_thread_task *task) {
    const uint32_t row = ns_thread_notes_of(task)->row;
    return row == NS_NO_ROW ? NS_UNKNOWN : ns_label_of(&pool->graph.boundary.in_force, row);
}

void ns_thread_number(const ns_thread_pool *pool, const ns_thread_task *task, ns_new_task *placed) {
    const uint32_t row = ns_thread_notes_of(task)->row;
    if (row == NS_NO_ROW) return;
    placed->index = ns_task_number(&pool->graph.numbers, row);
    placed->count = pool->graph.numbers.count;
}

/* ---- leapfrogging ------------------------------------------------------------------------------------------------ */

static void lock(ns_task_notes *parent) {
    ns_patience patience = {0};
    /* acquire: the list as it was left */
    while (ns_atomic_u32_exchange(&parent->lock, 1, memory_order_acquire)) ns_patience_rest(&patience);
}

static void unlock(ns_task_notes *parent) {
    ns_atomic_u32_store(&parent->lock, 0, memory_order_release); /* release: as it is left */
}

/* The parent that keeps a list of its children, or NULL. */
static ns_task_notes *leaping_parent(const ns_thread_pool *pool, const ns_thread_task *task) {
    const bool leaps = pool->tables.join == NS_JOIN_LEAPFROG && task->parent && task->parent != &pool->origin;
    return leaps ? ns_thread_notes_of(task->parent) : NULL;
}

static void unlink_taken(ns_task_notes *parent, const ns_thread_task *task) {
    ns_task_notes *mine = ns_thread_notes_of(task);
    if (parent->taken != task && !mine->taken_behind) return;
    if (mine->taken_behind)
        ns_thread_notes_of(mine->taken_behind)->taken_before = mine->taken_before;
    else
        parent->taken = mine->taken_before;
    if (mine->taken_before) ns_thread_notes_of(mine->taken_before)->taken_behind = mine->taken_behind;
    mine->taken_before = mine->taken_behind = NULL;
}

static void note_taker(const ns_thread_worker *worker, ns_thread_task *task) {
    ns_task_notes *parent = leaping_parent(ns_thread_pool_of(worker), task), *mine = ns_thread_notes_of(task);
    if (!parent) return;
    lock(parent);
    unlink_taken(parent, task);
    mine->taker = worker->base.id;
    mine->taken_before = parent->taken;
    if (parent->taken) ns_thread_notes_of(parent->taken)->taken_behind = task;
    parent->taken = task;
    unlock(parent);
}

static void forget_taker(const ns_thread_pool *pool, const ns_thread_task *task) {
    ns_task_notes *parent = leaping_parent(pool, task);
    if (!parent) return;
    lock(parent);
    unlink_taken(parent, task);
    unlock(parent);
}

int32_t ns_thread_taker_of(const ns_thread_task *waiting) {
    ns_task_notes *mine = ns_thread_notes_of(waiting);
    const uint32_t own = ns_thread_worker_of(waiting)->base.id;
    lock(mine);
    const ns_thread_task *child = mine->taken;
    while (child && ns_thread_notes_of(child)->taker == own) child = ns_thread_notes_of(child)->taken_before;
    const int32_t taker = child ? (int32_t)ns_thread_notes_of(child)->taker : NS_UNKNOWN;
    unlock(mine);
    return taker;
}

/* ---- beginnings and ends ----------------------------------------------------------------------------------------- */

void ns_thread_note_begin_here(ns_thread_worker *worker, ns_thread_task *task) {
    note_taker(worker, task);
    if (ns_thread_pool_of(worker)->graph.counts_live) ns_thread_live_begin(worker, ns_thread_notes_of(task)->row);
}

void ns_thread_note_begin(ns_thread_worker *worker, ns_thread_task *task) {
    ns_task_notes *notes = ns_thread_notes_of(task);
    if (!task->fiber || notes->left_by != worker->base.id + 1) notes->depth = 0;
    ns_thread_note_begin_here(worker, task);
}

void ns_thread_note_end(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    forget_taker(pool, task);
    if (pool->graph.counts_live) ns_thread_live_end(pool, ns_thread_notes_of(task)->row);
}

/* ---- the spawn order --------------------------------------------------------------------------------------------- */

bool ns_thread_goes_first(ns_thread_worker *worker, ns_thread_task *parent, ns_thread_task *child) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_full_plan *plan = pool->graph.plan;
    ns_task_notes *notes = ns_thread_notes_of(child), *above = ns_thread_notes_of(parent);
    const bool every = plan->work_first_tiers == NS_EVERY_TIER;
    if (!every && !(plan->work_first_tiers & ns_thread_tier_of(pool, child))) return false;
    if (!plan->adaptive.stack) return true;
    const int64_t depth = (int64_t)worker->fibers.nested + above->depth;
    /* relaxed: what was stolen until now, soon enough */
    worker->search.actor.robbed = (int64_t)ns_atomic_u64_load(&worker->robbed, memory_order_relaxed);
    if (!ns_adapts_to_child(plan, &worker->search.actor, &worker->order, depth)) return false;
    notes->depth = above->depth + 1;
    above->left_by = worker->base.id + 1;
    return true;
}
