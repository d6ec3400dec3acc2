/* What several ways to execute tasks do alike. */
#include "execution/execution.h"

#include "execution/measured_calls.h"
#include "following/live_gates.h"
#include "search/search.h"

/* ---- execution --------------------------------------------------------------------------------------------------- */

/* The next task that the worker goes on with before it looks for work, or NULL. */
static ns_thread_task *next_resumable(ns_thread_worker *worker) {
    ns_thread_task *next = worker->resumable;
    if (next) worker->resumable = next->next;
    return next;
}

void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait) {
    for (;;) {
        ns_thread_task *next = next_resumable(worker);
        if (!next) next = ns_thread_seek(worker, wait);
        if (!next) return;
        ns_thread_execute(worker, next);
    }
}

void ns_thread_run_body(ns_thread_task *task) {
    const bool measures = ns_thread_pool_of(ns_thread_worker_of(task))->graph.boundary.controlled;
    if (measures) ns_thread_segment_begins(task);
    ns_thread_enter_body(task->base.worker, &task->base, task->body, task->inlined);
    if (measures) ns_thread_segment_ends(task);
    if (task->pending) ns_join(&task->base);
}

void ns_thread_execute_here(ns_thread_worker *worker, ns_thread_task *task) {
    task->base.worker = &worker->base;
    ns_thread_run_body(task);
    ns_thread_task_end(worker, task);
}

void ns_thread_execute_child_here(ns_thread_worker *worker, ns_thread_task *child) {
    if (ns_thread_pool_of(worker)->notes) ns_thread_note_begin_here(worker, child);
    ns_thread_execute_here(worker, child);
}

/* ---- spawns and calls -------------------------------------------------------------------------------------------- */

ns_thread_task *ns_thread_child_create(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    ns_thread_task *child = ns_thread_task_create(worker, parent, order);
    if (!child) {
        ns_thread_execute_order(self, order);
        return NULL;
    }
    parent->pending++;
    child->base.worker = &worker->base;
    if (ns_thread_pool_of(worker)->notes) ns_thread_note_child(worker, parent, child);
    return child;
}

void ns_thread_execute_order(ns_task *self, const ns_work_order *order) {
    ns_call(self, order->body, (void *)(uintptr_t)order->arguments);
    if (order->future) {
        /* release: the end of a task, as in task_records.c */
        ns_atomic_u32_store((ns_atomic_u32 *)(void *)&order->future->done, 1, memory_order_release);
    }
}

static void begin_part(const ns_thread_task *caller, ns_noted_task *part) {
    ns_thread_worker *worker = ns_thread_worker_of(caller);
    part->notes.depth = ns_thread_notes_of(caller)->depth;
    ns_thread_note_child(worker, caller, &part->task);
    if (ns_thread_pool_of(worker)->graph.counts_live) ns_thread_live_begin(worker, part->notes.row);
}

void ns_thread_call_part(ns_task *self, ns_body *body, void *arguments) {
    ns_thread_task *task = (ns_thread_task *)self;
    ns_noted_task noted = {.task = {.base = *self, .parent = task, .home = task->home}, .notes = {.row = NS_NO_ROW}};
    ns_thread_task *part = &noted.task;
    ns_thread_pool *pool = ns_thread_pool_of(ns_thread_worker_of(task));
    part->base.whole = &part->base;
    part->base.first = NULL; /* its children depend on none of the caller's */
    if (pool->notes) begin_part(task, &noted);
    if (pool->graph.boundary.controlled) ns_thread_segment_begins(part);
    ns_thread_enter_body(part->base.worker, &part->base, body, arguments);
    if (pool->graph.boundary.controlled) ns_thread_segment_ends(part);
    ns_join(&part->base);
    if (self->worker != part->base.worker) self->worker = part->base.worker; /* a fiber has gone on elsewhere */
    if (pool->graph.counts_live) ns_thread_live_end(pool, noted.notes.row);
}

/* ---- futures ----------------------------------------------------------------------------------------------------- */

static bool is_done(const void *context) {
    const ns_future *future = context;
    /* acquire: what the future's task did */
    return ns_atomic_u32_load((const ns_atomic_u32 *)(const void *)&future->done, memory_order_acquire) != 0;
}

void ns_thread_get(ns_task *self, ns_future *future) {
    if (is_done(future)) return;
    ns_thread_execution_of((ns_thread_worker *)self->worker)->wait(self, &(ns_thread_wait){self, is_done, future});
}

/* ---- the end of a task ------------------------------------------------------------------------------------------- */

/* A root has ended; the run ends with the last one. */
static void note_end(ns_thread_pool *pool) {
    const uint64_t now_ps = (uint64_t)ns_monotonic_ps();
    uint64_t latest_ps = ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed); /* relaxed: checked by the swap */
    while (latest_ps < now_ps && !ns_atomic_u64_compare_exchange(&pool->ended_ps, &latest_ps, now_ps,
                                                                 memory_order_relaxed, memory_order_relaxed)) {
    } /* relaxed: it is read after all workers have left the run */
}

void ns_thread_child_ended_elsewhere(ns_thread_worker *worker, ns_thread_task *parent) {
    (void)worker;
    /* release: what the child did happens before the join */
    ns_atomic_u32_fetch_add(ns_thread_task_returned(parent), 1, memory_order_release);
}

/* Whether the end of a task counts: the parts of a team were not spawned. */
static bool is_counted(const ns_thread_pool *pool, const ns_thread_task *task, uint32_t row) {
    if (task->parent != &pool->origin || !pool->team) return true;
    return row != NS_NO_ROW && pool->graph.plan->graph.kind.at[row] == NS_ROW_TASK;
}

/* The task of a row has ended: let those begin that wait for nothing else. */
static void release_successors(ns_thread_worker *worker, uint32_t row) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_graph *graph = &pool->graph.plan->graph;
    for (int64_t at = graph->successor_ptr.at[row]; at < graph->successor_ptr.at[row + 1]; at++) {
        ns_thread_task *next = ns_followed_graph_release(&pool->graph, graph->successor.at[at]);
        if (!next) continue;
        next->base.worker = &worker->base;
        if (!pool->execution->release(worker, next, NULL, 0)) ns_thread_execute(worker, next);
    }
}

void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self) {
    ns_thread_task *parent = self->parent;
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool is_root = parent == &pool->origin;
    const uint32_t row = pool->notes ? ns_thread_notes_of(self)->row : NS_NO_ROW;
    worker->base.tasks += is_counted(pool, self, row);
    if (pool->notes) ns_thread_note_end(worker, self);
    ns_thread_note_owner(worker, NS_OWNER_EXECUTED);
    ns_thread_record_free(worker, self);
    if (pool->graph.holds) release_successors(worker, row);
    if (is_root) {
        note_end(pool);
        ns_thread_child_ended_elsewhere(worker, parent);
    } else if (parent) {
        pool->execution->child_ended(worker, parent);
    }
}
