#include "following/noted_tasks.h"

#include "execution/worker_state.h"
#include "platform/waiting.h"
#include "search/search.h"

/* ---- counts of live subtrees ------------------------------------------------------------------------------------- */

static ns_atomic_u64 *atomic(const int64_t *count) { return (ns_atomic_u64 *)(uintptr_t)count; }

/* Add `number` to a count. Return the previous value. */
static int64_t add(int64_t *count, int64_t number) {
    /* acq_rel: the worker that brings a count to 0 sees all that workers did before their subtractions */
    return (int64_t)ns_atomic_u64_fetch_add(atomic(count), (uint64_t)number, memory_order_acq_rel);
}

static int64_t now(const int64_t *count) {
    return (int64_t)ns_atomic_u64_load(atomic(count), memory_order_relaxed); /* relaxed: a hint; pass_gate decides */
}

void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited) {
    const ns_live_subtrees *counts = &pool->graph.live;
    for (uint32_t unit = 0; unit < pool->base.workers; unit++) {
        live[unit] = now(&counts->live[unit]);
        awaited[unit] = now(&counts->awaited[unit]);
    }
}

bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!(level->flags & NS_FLAG_GATED) || !pool->graph.counts_live) return true;
    ns_live_subtrees *counts = &pool->graph.live;
    const int32_t unit = counts->gate[worker->base.id];
    if (level->flags & NS_FLAG_OWN_FIRST && now(&counts->awaited[unit])) return false;
    uint64_t live = (uint64_t)now(&counts->live[unit]);
    do {
        if ((int64_t)live >= pool->file.plan.steal.live_most) return false;
    } while (!ns_atomic_u64_compare_exchange(atomic(&counts->live[unit]), &live, live + 1, memory_order_acq_rel,
                                             memory_order_relaxed)); /* acq_rel: as in `add` */
    worker->in_gate = true;
    return true;
}

void ns_thread_leave_gate(ns_thread_worker *worker) {
    if (!worker->in_gate) return;
    ns_live_subtrees *counts = &ns_thread_pool_of(worker)->graph.live;
    add(&counts->live[counts->gate[worker->base.id]], -1);
    worker->in_gate = false;
    ns_thread_gate_opens(worker); /* other workers of the unit may have found the gate closed */
}

void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row) {
    ns_live_subtrees *counts = &ns_thread_pool_of(worker)->graph.live;
    if (row != NS_NO_ROW && counts->root[row] == (int64_t)row && counts->unit[row] == NS_UNKNOWN) {
        const int32_t unit = counts->gate[worker->base.id], label = ns_live_label(counts, row);
        counts->unit[row] = unit;
        /* relaxed: no other worker knows the subtree yet */
        ns_atomic_u64_store(atomic(&counts->left[row]), 1, memory_order_relaxed);
        if (!worker->in_gate) add(&counts->live[unit], 1);
        worker->in_gate = false;
        if (label != NS_UNKNOWN) add(&counts->awaited[label], -1);
    }
    ns_thread_leave_gate(worker);
}

void ns_thread_live_end(ns_thread_worker *worker, uint32_t row) {
    ns_live_subtrees *counts = &ns_thread_pool_of(worker)->graph.live;
    const int64_t root = row == NS_NO_ROW ? NS_UNKNOWN : counts->root[row];
    if (root == NS_UNKNOWN || add(&counts->left[root], -1) != 1) return;
    const int32_t unit = counts->unit[root];
    counts->unit[root] = NS_UNKNOWN;
    add(&counts->live[unit], -1);
    ns_thread_gate_opens(worker);
}

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
    if (!pool->graph.counts_live) return;
    const int64_t root = pool->graph.live.root[notes->row];
    if (root != NS_UNKNOWN && root != (int64_t)notes->row) add(&pool->graph.live.left[root], 1);
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
    /* acquire: sees the list as the last holder left it */
    while (ns_atomic_u32_exchange(&parent->lock, 1, memory_order_acquire)) ns_patience_rest(&patience);
}

static void unlock(ns_task_notes *parent) {
    ns_atomic_u32_store(&parent->lock, 0, memory_order_release); /* release: the next holder sees the list */
}

/* Return the notes of the task's parent if the parent keeps a list of its running children, else NULL. */
static ns_task_notes *leaping_parent(const ns_thread_pool *pool, const ns_thread_task *task) {
    const bool leaps = pool->file.plan.join == NS_JOIN_LEAPFROG && task->parent && task->parent != &pool->origin;
    return leaps ? ns_thread_notes_of(task->parent) : NULL;
}

/* Remove the task from the list of its parent's running children, if it is there. */
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

/* Note in the parent's list that the worker begins or resumes the task; or, if `has_ended`, that the task has ended. */
static void note_taker(const ns_thread_worker *worker, ns_thread_task *task, bool has_ended) {
    ns_task_notes *parent = leaping_parent(ns_thread_pool_of(worker), task), *mine = ns_thread_notes_of(task);
    if (!parent) return;
    lock(parent);
    unlink_taken(parent, task);
    if (!has_ended) {
        mine->taker = worker->base.id;
        mine->taken_before = parent->taken;
        if (parent->taken) ns_thread_notes_of(parent->taken)->taken_behind = task;
        parent->taken = task;
    }
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
    note_taker(worker, task, false);
    if (ns_thread_pool_of(worker)->graph.counts_live) ns_thread_live_begin(worker, ns_thread_notes_of(task)->row);
}

void ns_thread_note_begin(ns_thread_worker *worker, ns_thread_task *task) {
    ns_task_notes *notes = ns_thread_notes_of(task);
    if (!task->fiber || notes->left_by != worker->base.id + 1) notes->depth = 0;
    ns_thread_note_begin_here(worker, task);
}

void ns_thread_note_end(ns_thread_worker *worker, ns_thread_task *task) {
    note_taker(worker, task, true);
    if (ns_thread_pool_of(worker)->graph.counts_live) ns_thread_live_end(worker, ns_thread_notes_of(task)->row);
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
    /* relaxed: a recent count is enough */
    worker->search.actor.robbed = (int64_t)ns_atomic_u64_load(&worker->robbed, memory_order_relaxed);
    if (!ns_adapts_to_child(plan, &worker->search.actor, &worker->order, depth)) return false;
    notes->depth = above->depth + 1;
    above->left_by = worker->base.id + 1;
    return true;
}
