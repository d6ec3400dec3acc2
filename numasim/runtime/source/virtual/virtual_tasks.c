/* Tasks in virtual time: their memory, beginning them, where new ones go (model 3.1 to 3.3 and 4.1). Equal, event for
 * event, to engine/reference/executor.py.
 */
#include <stdlib.h>
#include <string.h>

#include "dependences/dependences.h"
#include "execution/placing.h"
#include "policy/dispatch.h"
#include "virtual/virtual_state.h"

/* ---- their memory ------------------------------------------------------------------------------------------------ */

virtual_task *ns_virtual_new_task(virtual_worker *w, uint32_t row, const ns_work_order *order) {
    virtual_task *task = malloc(sizeof *task + order->bytes);
    if (!task) ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for task %u", row);
    *task = (virtual_task){
        .base = {.worker = &w->base, .whole = &task->base},
        .row = row,
        .at = (uint32_t)pool_of(w)->plan->graph.op_ptr.at[row],
        .references = 1,
        .spawner = w->base.id,
        .body = order->body,
        .future = order->future,
        .arguments = task->copy,
    };
    if (order->bytes) memcpy(task->arguments, order->arguments, order->bytes);
    virtual_pool *pool = pool_of(w);
    task->behind = pool->tasks;
    if (pool->tasks) pool->tasks->before = task;
    pool->tasks = task;
    return task;
}

void ns_virtual_free_task(virtual_pool *pool, virtual_task *task) {
    *(task->before ? &task->before->behind : &pool->tasks) = task->behind;
    if (task->behind) task->behind->before = task->before;
    ns_dependences_close(&task->base);
    ns_virtual_close_groups(task);
    free(task);
}

void ns_virtual_drop(virtual_pool *pool, virtual_task *task) {
    while (task && !--task->references) {
        virtual_task *parent = task->parent;
        ns_virtual_free_task(pool, task);
        task = parent;
    }
}

void ns_virtual_end_idle(virtual_worker *w) {
    ns_worker_state *state = &w->state;
    state->idle = state->round_goes_on = false;
    ns_virtual_record(pool_of(w), NS_RANK_POLL, state->id, (uint64_t)state->failed, (uint64_t)state->failed_remote);
}

void ns_virtual_begin(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    if (w->state.idle) ns_virtual_end_idle(w);
    w->state.fails = 0;
    if (pool->plan->work_first && task->at != (uint32_t)pool->plan->graph.op_ptr.at[task->row]) {
        w->state.owed_ps += pool->plan->costs.resume_ps;
    }
    if (task->at == (uint32_t)pool->plan->graph.op_ptr.at[task->row] || task->left_by != w->base.id) task->depth = 0;
    ns_actor_ran(&pool->search.actors[w->base.id], (int32_t)task->spawner);
    ns_virtual_note_taker(w, task);
    if (pool->plan->counts_live) ns_live_begin(&pool->live, w->base.id, task->row);
    ns_virtual_list_push(w, &w->stack, task);
}

/* Where it is noted which of the tasks was begun last that somebody may wait for, this one among them; or NULL. */
static virtual_task **last_taken(const virtual_task *task, int way) {
    if (way == BY_GROUP) return task->group ? &task->group->taken : NULL;
    return task->parent ? &task->parent->taken : NULL;
}

static void forget(virtual_task *task, int way) {
    virtual_task **last = last_taken(task, way), *before = task->taken_before[way], *behind = task->taken_behind[way];
    if (!last || (*last != task && !behind)) return;
    *(*last == task ? last : &behind->taken_before[way]) = before;
    if (before) before->taken_behind[way] = behind;
    task->taken_before[way] = task->taken_behind[way] = NULL;
}

void ns_virtual_forget_taker(virtual_task *task) {
    for (int way = 0; way < WAYS_TO_WAIT; way++) forget(task, way);
}

void ns_virtual_note_taker(virtual_worker *w, virtual_task *task) {
    if (pool_of(w)->plan->join != NS_JOIN_LEAPFROG) return;
    ns_virtual_forget_taker(task);
    task->taker = w->base.id;
    for (int way = 0; way < WAYS_TO_WAIT; way++) {
        virtual_task **last = last_taken(task, way);
        if (!last) continue;
        task->taken_before[way] = *last;
        if (*last) (*last)->taken_behind[way] = task;
        *last = task;
    }
}

/* ---- where new ones go ------------------------------------------------------------------------------------------- */

/* The row whose tier dispatch rules ask for as they place a task: its own, or where it goes on behind the spawn of a
 * child that is begun first, that of the child. */
static uint32_t asked_row(const ns_graph *graph, const virtual_task *task) {
    const bool begun = task->at != (uint32_t)graph->op_ptr.at[task->row];
    return begun ? graph->op_arg.at[task->at - 1] : task->row;
}

/* The queue that the dispatch rules find for a task, and whether they have asked where its data is; NS_UNKNOWN where
 * every queue that they name is full.
 */
static int32_t place(virtual_worker *w, const virtual_task *task, bool *looked) {
    virtual_pool *pool = pool_of(w);
    ns_new_task newcomer = {
        .index = ns_task_number(&pool->numbers, task->row), .count = pool->numbers.count, .copy = pool->copy};
    newcomer.tier = ns_tier_of(&pool->boundary.in_force, asked_row(&pool->plan->graph, task));
    newcomer.label = ns_label_of(&pool->boundary.in_force, task->row);
    newcomer.source = !pool->graph.depends || !pool->graph.depends[task->row];
    if (pool->plan->looks_at_data) ns_pages_describe(&pool->pages, task->row, &newcomer);
    const ns_view view = view_of(pool);
    const int32_t q = ns_place(&pool->plan->steal, &pool->search.actors[w->base.id], &view, &newcomer);
    *looked = newcomer.looked;
    pool->copies = newcomer.copies;
    return q;
}

/* The queue for a worker's new task, which pays for having chosen. */
static int32_t choose(virtual_worker *w, const virtual_task *task) {
    const ns_full_plan *plan = pool_of(w)->plan;
    if (plan->own_never_full) return (int32_t)w->state.own;
    bool looked = false;
    const int32_t q = place(w, task, &looked);
    w->state.owed_ps += ns_dispatch_ps(plan, &w->state, q, looked);
    w->state.owed_ps += ns_copies_ps(plan, &w->state, pool_of(w)->copy, pool_of(w)->copies);
    return q;
}

void ns_virtual_push(virtual_worker *w, uint32_t q, virtual_task *task) {
    if (!ns_queues_push_task(&pool_of(w)->queues, q, (uintptr_t)task)) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the tasks of queue %u", q);
    }
}

/* The worker begins a task that comes from no queue, or goes on with one. */
static void put_on_top(virtual_worker *w, virtual_task *task) {
    ns_virtual_list_push(w, &w->stack, task);
    if (pool_of(w)->plan->counts_live) ns_live_begin(&pool_of(w)->live, w->base.id, task->row);
}

/* Put a task that has just been placed into its queue, and a copy into each that a rule wants one in. */
static void put_placed(virtual_worker *w, uint32_t q, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    if (!pool->copies) {
        ns_virtual_push(w, q, task);
        return;
    }
    pool->copy[pool->copies] = q;
    if (!ns_queues_push_copies(&pool->queues, pool->copy, pool->copies + 1, (uintptr_t)task)) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the tasks of queue %u", q);
    }
}

static void turn_round(task_list *list, uint32_t first) {
    for (uint32_t low = first, high = list->count; low + 1 < high; low++) {
        virtual_task *const task = list->task[--high];
        list->task[high] = list->task[low];
        list->task[low] = task;
    }
}

static void add_to_backlog(virtual_worker *w, virtual_task *task, uint32_t height) {
    task->height = height;
    ns_virtual_list_push(w, &w->backlog, task);
}

/* What a worker has released beside a task that found no room waits until that is finished. */
static void hold_back(virtual_worker *w) {
    const uint32_t first = w->backlog.count;
    while (w->outbox.count) add_to_backlog(w, ns_virtual_list_shift(&w->outbox), w->stack.count);
    turn_round(&w->backlog, first);
}

/* Where no queue has room, the task is executed at once. */
static void put_into(virtual_worker *w, int32_t q, virtual_task *task) {
    if (q == NS_UNKNOWN) {
        ns_virtual_note_taker(w, task);
        put_on_top(w, task);
        hold_back(w);
    } else {
        put_placed(w, (uint32_t)q, task);
    }
}

/* Put the first task of the outbox into a queue, under that queue's lock where it has one. A queue that has become full
 * while the worker waited for its lock is not used: another is chosen. */
static void put_next(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    for (bool put = false; !put;) {
        const int32_t q = choose(w, w->outbox.task[0]);
        const int32_t lock = ns_put_lock(pool->plan, &w->state, q);
        if (lock != NS_NO_LOCK) ns_virtual_acquire(w, (uint32_t)lock);
        put = lock == NS_NO_LOCK || ns_queues_have_room(&pool->queues, (uint32_t)q);
        if (put) put_into(w, q, ns_virtual_list_shift(&w->outbox));
        if (lock != NS_NO_LOCK) ns_sync_release(pool->sync, (uint32_t)lock, w->base.id, now_of(w));
    }
}

void ns_virtual_offer_released(virtual_worker *w) {
    while (!pool_of(w)->plan->puts_take_time && w->outbox.count) put_next(w);
}

/* Offer the next task that has waited for another to be finished, which had found no room; false: there is none. */
static bool take_up(virtual_worker *w) {
    task_list *backlog = &w->backlog;
    if (!backlog->count || backlog->task[backlog->count - 1]->height <= w->stack.count) return false;
    if (!w->stack.count && w->agenda.count) return false;
    ns_virtual_list_push(w, &w->outbox, backlog->task[--backlog->count]);
    ns_virtual_offer_released(w);
    return true;
}

void ns_virtual_settle_outbox(virtual_worker *w) {
    do {
        while (w->outbox.count) {
            ns_virtual_step_overhead(w, NS_RANK_PUT, pool_of(w)->plan->costs.push_ps);
            put_next(w);
        }
    } while (take_up(w));
}

void ns_virtual_offer(virtual_worker *w, virtual_task *task) {
    if (pool_of(w)->plan->puts_take_time) {
        ns_virtual_list_push(w, &w->outbox, task);
    } else {
        put_into(w, choose(w, task), task);
    }
}

void ns_virtual_give_root(virtual_worker *w, virtual_task *root) {
    const virtual_pool *pool = pool_of(w);
    const uint8_t kind = pool->plan->graph.kind.at[root->row];
    if (ns_begins_root(pool->serial, kind)) {
        ns_virtual_list_push(w, &w->agenda, root);
        return;
    }
    bool looked = false;
    const int32_t q = place(w, root, &looked);
    if (q == NS_UNKNOWN) {
        add_to_backlog(w, root, 1);
    } else if (ns_keeps_dealt(&w->state, q, !w->agenda.count, pool->copies)) {
        ns_virtual_list_push(w, &w->agenda, root);
    } else {
        put_placed(w, (uint32_t)q, root);
    }
}

void ns_virtual_end_roots(virtual_worker *w) { turn_round(&w->backlog, 0); }

void ns_virtual_release(virtual_worker *w, virtual_task *task) {
    if (ns_begins_released(pool_of(w)->plan, !w->stack.count && !w->agenda.count)) {
        ns_virtual_list_push(w, &w->agenda, task);
    } else {
        ns_virtual_list_push(w, &w->outbox, task);
    }
}

/* Where the spawn order adapts: whether the worker begins the child that it spawns now. */
static bool adapts_to(virtual_worker *w, virtual_task *parent, virtual_task *child) {
    virtual_pool *pool = pool_of(w);
    const int64_t depth = (int64_t)w->stack.count - 1 + parent->depth;
    if (!ns_adapts_to_child(pool->plan, &pool->search.actors[w->base.id], &w->state, depth)) return false;
    child->depth = parent->depth + 1;
    parent->left_by = w->base.id;
    return true;
}

void ns_virtual_spawn(virtual_worker *w, virtual_task *parent, virtual_task *child) {
    virtual_pool *pool = pool_of(w);
    child->parent = parent;
    ns_virtual_enter_group(child, parent);
    if (child->group) child->group->members++;
    parent->pending++;
    parent->references++;
    pool->outstanding++;
    if (pool->plan->counts_live) ns_live_create_task(&pool->live, child->row);
    if (pool->graph.held) pool->graph.held[child->row] = child;
    if (pool->graph.held && pool->graph.predecessors[child->row]) return;
    if (ns_must_inline(pool->plan, &pool->queues, &w->state)) {
        put_on_top(w, child);
    } else if (ns_goes_first(pool->plan, &pool->boundary.in_force, child->row) &&
               (!pool->plan->adaptive.stack || adapts_to(w, parent, child))) {
        w->stack.count--;
        put_on_top(w, child);
        ns_virtual_offer(w, parent);
    } else {
        ns_virtual_offer(w, child);
    }
}
