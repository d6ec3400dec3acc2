/* The functions that several ways of executing tasks share. */
#include "execution/execution.h"

#include <string.h>

#include "platform/waiting.h"
#include "search/search.h"

/* ---- execution --------------------------------------------------------------------------------------------------- */

void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait) {
    for (;;) {
        ns_thread_task *next = worker->resumable;
        if (next)
            worker->resumable = next->next;
        else if (!(next = ns_thread_seek(worker, wait)))
            return;
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
        /* release: a thread that sees the future done sees all that the task did */
        ns_atomic_u32_store((ns_atomic_u32 *)(void *)&order->future->done, 1, memory_order_release);
        ns_thread_wait_ended((ns_thread_worker *)self->worker, order->future, 1);
    }
}

void ns_thread_call_part(ns_task *self, ns_body *body, void *arguments) {
    ns_thread_task *task = (ns_thread_task *)self;
    ns_noted_task noted = {.task = {.base = *self, .parent = task, .home = task->home}, .notes = {.row = NS_NO_ROW}};
    ns_thread_task *part = &noted.task;
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    part->base.whole = &part->base;
    part->base.first = NULL; /* dependences of the part's children are separate from the caller's */
    if (pool->notes) {
        noted.notes.depth = ns_thread_notes_of(task)->depth;
        ns_thread_note_child(worker, task, part);
    }
    if (pool->graph.counts_live) ns_thread_live_begin(worker, noted.notes.row);
    if (pool->graph.boundary.controlled) ns_thread_segment_begins(part);
    ns_thread_enter_body(part->base.worker, &part->base, body, arguments);
    if (pool->graph.boundary.controlled) ns_thread_segment_ends(part);
    ns_join(&part->base);
    if (self->worker != part->base.worker) self->worker = part->base.worker; /* a fiber has moved to another worker */
    if (pool->graph.counts_live) ns_thread_live_end(ns_thread_worker_of(task), noted.notes.row);
}

/* ---- futures ----------------------------------------------------------------------------------------------------- */

static bool is_done(const void *context) {
    const ns_future *future = context;
    /* acquire: sees all that the future's task did */
    return ns_atomic_u32_load((const ns_atomic_u32 *)(const void *)&future->done, memory_order_acquire) != 0;
}

void ns_thread_get(ns_task *self, ns_future *future) {
    if (is_done(future)) return;
    const ns_thread_wait wait = {self, is_done, future, future, NULL};
    ns_thread_execution_of((ns_thread_worker *)self->worker)->wait(self, &wait);
}

/* ---- the end of a task ------------------------------------------------------------------------------------------- */

/* Note the time at which a root has ended. */
static void note_end(ns_thread_pool *pool) {
    const uint64_t now_ps = (uint64_t)ns_monotonic_ps();
    uint64_t latest_ps = ns_atomic_u64_load(&pool->ended_ps, memory_order_relaxed); /* relaxed: checked by the swap */
    while (latest_ps < now_ps && !ns_atomic_u64_compare_exchange(&pool->ended_ps, &latest_ps, now_ps,
                                                                 memory_order_relaxed, memory_order_relaxed)) {
    } /* relaxed: `ended_ps` is read after all workers have left the run */
}

void ns_thread_child_ended_elsewhere(ns_thread_worker *worker, ns_thread_task *parent) {
    /* release: all that the child did happens before the join */
    const uint32_t before = ns_atomic_u32_fetch_add(ns_thread_task_returned(parent), 1, memory_order_release);
    ns_thread_wait_ended(worker, parent, before + 1);
}

/* Return whether a task that ends counts as executed. Roots of ns_pool_team do not: no task spawned them. */
static bool is_counted(const ns_thread_pool *pool, const ns_thread_task *task, uint32_t row) {
    if (task->parent != &pool->origin || !pool->team) return true;
    return row != NS_NO_ROW && pool->graph.plan->graph.kind.at[row] == NS_ROW_TASK;
}

/* Let the tasks begin that, by the plan's graph, waited for the task in entry `row`, and wait for no other task now. */
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
    if (!is_root && parent) {
        const ns_full_plan *plan = &pool->file.plan;
        const ns_worker_state ender = {.id = worker->base.id};
        ns_thread_owe(plan->costs.join_ps + (plan->line_ps.count ? ns_line_ps(plan, &ender, self->home->id) : 0));
    }
    ns_thread_record_free(worker, self);
    if (pool->graph.holds) release_successors(worker, row);
    if (is_root) {
        note_end(pool);
        ns_thread_child_ended_elsewhere(worker, parent);
    } else if (parent) {
        pool->execution->child_ended(worker, parent);
    }
}

/* ---- joins that help --------------------------------------------------------------------------------------------- */

void ns_thread_join_helping(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!task->pending) return; /* no child was spawned since the last join */
    const ns_dependences *known = ns_thread_begin_join(task);
    if (!ns_thread_task_is_joined(task)) {
        ns_thread_execution_of(ns_thread_worker_of(task))
            ->wait(self, &(ns_thread_wait){self, ns_thread_task_is_joined, task, task, &task->pending});
    }
    ns_thread_task_reset(task);
    ns_thread_end_join(task, known);
}

/* ---- joins that block -------------------------------------------------------------------------------------------- */

/* Sleep until the last child has ended. If all other workers sleep in joins, no worker can execute the children: then
 * this worker executes tasks instead of sleeping, and the run ends with an error. */
static void sleep_until_joined(ns_thread_task *task) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_atomic_u32 *left = ns_thread_task_returned(task);
    pool->execution->share(worker);
    /* relaxed: `blocked` only counts */
    if (ns_atomic_u32_fetch_add(&pool->blocked, 1, memory_order_relaxed) + 1 >= pool->team_size)
        ns_thread_end_quiescent(pool, "all workers wait in joins that block");
    if (pool->sleeps) ns_thread_check_sleepers(pool);
    if (ns_thread_is_quiescent(pool))
        pool->execution->wait(&task->base, &(ns_thread_wait){NULL, ns_thread_task_is_balanced, task, NULL, NULL});
    uint32_t found;
    /* acquire: sees all that the children did */
    while ((found = ns_atomic_u32_load(left, memory_order_acquire))) ns_futex_wait(left, found);
}

void ns_thread_join_blocking(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!task->pending) return; /* no child was spawned since the last join */
    const ns_dependences *known = ns_thread_begin_join(task);
    const uint32_t children = task->pending;
    ns_thread_worker *worker = ns_thread_worker_of(task);
    const uint64_t came = ns_ticks();
    task->pending = 0;
    /* acquire: if all children have ended, sees all that they did */
    const uint32_t ended = ns_atomic_u32_fetch_add(ns_thread_task_returned(task), children, memory_order_acquire);
    if (ended + children) sleep_until_joined(task);
    ns_thread_count(worker, NS_PARKED_PS, ns_ticks_to_ps(ns_thread_pool_of(worker)->rate, ns_ticks() - came));
    ns_thread_end_join(task, known);
}

void ns_thread_child_ended_waking(ns_thread_worker *worker, ns_thread_task *parent) {
    ns_atomic_u32 *returned = ns_thread_task_returned(parent);
    /* acq_rel: all that the children did happens before the join, by way of the last child */
    if (ns_atomic_u32_fetch_add(returned, UINT32_MAX, memory_order_acq_rel) != 1) return;
    /* relaxed: `blocked` only counts. `parent` may be freed by now, so its worker is not read */
    ns_atomic_u32_fetch_add(&ns_thread_pool_of(worker)->blocked, UINT32_MAX, memory_order_relaxed);
    ns_futex_wake(returned, 1);
}

/* ---- children with dependences ----------------------------------------------------------------------------------- */

ns_thread_dependent *ns_thread_dependent_create(ns_dependences *known, const ns_work_order *order,
                                                ns_waiting **entries) {
    ns_thread_dependent *made = ns_arena_take(&known->arena, sizeof *made);
    void *arguments = ns_arena_take(&known->arena, order->bytes);
    ns_access *copies = ns_arena_take(&known->arena, order->dependence_count * sizeof *copies);
    if (!made || !arguments || !copies) return NULL;
    *made = (ns_thread_dependent){.body = order->body, .arguments = arguments, .accesses = copies};
    ns_dependent_create(&made->base);
    if (order->bytes) memcpy(arguments, order->arguments, order->bytes);
    for (uint32_t at = 0; at < order->dependence_count; at++) {
        if (order->dependences[at].access) copies[made->access_count++] = *order->dependences[at].access;
    }
    if (!ns_dependences_find(known, &made->base, order->dependences, order->dependence_count)) return NULL;
    *entries = ns_arena_take(&known->arena, known->before.count * sizeof **entries);
    return *entries ? made : NULL;
}

bool ns_thread_dependent_wait(ns_dependences *known, ns_thread_dependent *made, ns_waiting *entries) {
    ns_dependent *const *before = known->before.entries;
    uint32_t others = 0;
    for (uint64_t at = 0; at < known->before.count; at++)
        others += ns_dependent_wait_for(&made->base, before[at], &entries[at]);
    return ns_dependent_is_free(&made->base, others);
}

void ns_thread_execute_after_all(ns_task *self, const ns_work_order *order) {
    ns_join(self);
    ns_thread_execute_order(self, order);
}

void ns_thread_execute_unplaced(ns_task *self, ns_thread_dependent *unplaced) {
    while (unplaced) {
        ns_thread_dependent *child = unplaced;
        unplaced = child->next;
        child->unplaced = &unplaced;
        ns_thread_execute((ns_thread_worker *)self->worker, child->record);
    }
}

/* Put a child that can begin into a queue; if no queue has room, in front of the list `*unplaced`. */
static void offer(ns_task *self, ns_thread_dependent *child, ns_thread_dependent **unplaced) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    child->record->base.worker = &worker->base;
    if (ns_thread_execution_of(worker)->release(worker, child->record, child->accesses, child->access_count)) return;
    child->next = *unplaced;
    *unplaced = child;
}

void ns_thread_run_dependent(ns_task *self, void *arguments) {
    ns_thread_dependent *mine = *(ns_thread_dependent **)arguments;
    for (uint32_t at = 0; at < mine->access_count; at++) ns_thread_touch(self, &mine->accesses[at]);
    ns_thread_enter_body(self->worker, self, mine->body, mine->arguments);
    ns_join(self);
    ns_thread_dependent *unplaced = NULL;
    for (ns_waiting *each = ns_dependent_end(&mine->base), *next; each; each = next) {
        next = each->next;
        if (ns_dependent_release(each->task))
            offer(self, (ns_thread_dependent *)each->task, mine->unplaced ? mine->unplaced : &unplaced);
    }
    ns_thread_execute_unplaced(self, unplaced);
}

ns_thread_dependent *ns_thread_dependent_spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    const bool is_first = !ns_dependences_of(self);
    ns_dependences *known = ns_dependences_open(self);
    if (known) parent->pending += is_first; /* the additional child: see ns_thread_begin_join */
    ns_waiting *entries = NULL;
    ns_thread_dependent *made = known ? ns_thread_dependent_create(known, order, &entries) : NULL;
    const ns_work_order wrapped = {
        .body = ns_thread_run_dependent, .arguments = &made, .bytes = sizeof(ns_thread_dependent *)};
    if (made) made->record = ns_thread_task_create((ns_thread_worker *)self->worker, parent, &wrapped);
    if (!made || !made->record) {
        ns_thread_execute_after_all(self, order);
        return NULL;
    }
    made->record->base.worker = self->worker;
    parent->pending++;
    if (ns_thread_pool_of((ns_thread_worker *)self->worker)->notes)
        ns_thread_note_child((ns_thread_worker *)self->worker, parent, made->record);
    return ns_thread_dependent_wait(known, made, entries) ? made : NULL;
}
