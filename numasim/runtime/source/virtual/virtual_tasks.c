/* Tasks in virtual time: beginning them, running what is on top of a worker's stack, their ends, where new ones go
 * (model 3.1 to 3.3 and 4.1). Equal, event for event, to engine/reference/executor.py.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/backoff.h"
#include "policy/dispatch.h"
#include "virtual/virtual_state.h"

enum { STACK_BYTES = 256 * 1024, LEAST_STACK_BYTES = 128 * 1024, NO_LOCK = -1 };

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
    return task;
}

void ns_virtual_drop(virtual_task *task) {
    while (task && !--task->references) {
        virtual_task *parent = task->parent;
        free(task);
        task = parent;
    }
}

/* ---- running what is on top -------------------------------------------------------------------------------------- */

void ns_virtual_begin(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    if (w->idle) ns_virtual_end_idle(w);
    w->fails = 0;
    if (pool->plan->work_first && task->at != (uint32_t)pool->plan->graph.op_ptr.at[task->row]) {
        w->owed_ps += pool->plan->costs.resume_ps;
    }
    ns_actor_ran(&pool->actors[w->base.id], (int32_t)task->spawner);
    ns_virtual_list_push(w, &w->stack, task);
}

static void finish(virtual_worker *w, virtual_task *task);

/* Run a task, which is on top, from its beginning to its end. */
static virtual_worker *run_body(virtual_task *task) {
    task->begun = true;
    ns_virtual_went_on(task);
    task->body(&task->base, task->arguments);
    ns_virtual_end_body(task);
    virtual_worker *w = worker_of(task); /* that it has ended on */
    finish(w, task);
    return w;
}

static void keep_fiber(virtual_pool *pool, ns_fiber *fiber) {
    if (pool->spare_count == pool->spare_room) {
        const uint32_t room = pool->spare_room ? 2 * pool->spare_room : 64;
        ns_fiber **grown = realloc(pool->spare, room * sizeof(ns_fiber *));
        if (!grown) return; /* its memory is lost until the process ends */
        pool->spare = grown;
        pool->spare_room = room;
    }
    pool->spare[pool->spare_count++] = fiber;
}

static void go_to_top(virtual_worker *w);

/* The whole life of a fiber: one task, and behind it those that have not begun when they come to the top. Then the
 * worker goes on with what is on top. */
static void live(void *argument) {
    virtual_task *task = argument;
    ns_fiber *const fiber = task->fiber;
    virtual_worker *w;
    do {
        task->fiber = fiber;
        w = run_body(task);
        ns_virtual_settle_outbox(w);
        task = top_of(w);
        if (task) task->base.worker = &w->base;
    } while (task && !task->begun);
    keep_fiber(pool_of(w), fiber);
    go_to_top(w);
}

static ns_fiber *fiber_for(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    ns_fiber *fiber = NULL;
    if (pool->spare_count) {
        fiber = pool->spare[--pool->spare_count];
        ns_fiber_reuse(fiber, live, task);
    } else if (ns_fiber_create(&fiber, STACK_BYTES, live, task)) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the stack of task %u", task->row);
    }
    return fiber;
}

/* Leave the running fiber for that of the task on top, or for the worker's own. */
static void go_to_top(virtual_worker *w) {
    virtual_task *top = top_of(w);
    if (!top) {
        ns_virtual_switch(pool_of(w), w->fiber);
        return;
    }
    top->base.worker = &w->base;
    if (!top->begun) top->fiber = fiber_for(w, top);
    ns_virtual_switch(pool_of(w), top->fiber);
}

void ns_virtual_settle(virtual_worker *w, virtual_task *self) {
    for (;;) {
        ns_virtual_settle_outbox(w);
        virtual_task *top = top_of(w);
        if (top == self) return;
        if (pool_of(w)->detached) {
            go_to_top(w);
            return; /* `self` is on top again, of this worker or of another */
        }
        if (ns_fiber_left(pool_of(w)->running) < LEAST_STACK_BYTES) {
            ns_virtual_fail(w, NS_ERROR_MEMORY, "%u tasks of worker %u that help each other do not fit on its stack",
                            w->stack.count, w->base.id);
        }
        top->base.worker = &w->base;
        run_body(top);
    }
}

/* ---- their ends -------------------------------------------------------------------------------------------------- */

/* The last child has finished: go on with the parent here, or wake the worker that is blocked in it. */
static void resume_parent(virtual_worker *w, virtual_task *parent) {
    virtual_pool *pool = pool_of(w);
    parent->waiting = false;
    virtual_worker *sleeper = parent->sleeper;
    if (!sleeper) {
        w->owed_ps += pool->plan->costs.resume_ps;
        ns_virtual_list_push(w, &w->stack, parent);
        return;
    }
    parent->sleeper = NULL;
    const bool remote = sleeper->base.node != w->base.node;
    const int64_t wake_ps = remote ? pool->plan->costs.wake_remote_ps : pool->plan->costs.wake_ps;
    const int64_t left_ps = sleeper->blocked_until_ps - now_of(w);
    ns_virtual_schedule(sleeper, NS_RANK_WAKE, wake_ps > left_ps ? wake_ps : left_ps);
}

/* Put the spawned successors whose last predecessor this was. */
static void release_successors(virtual_worker *w, uint32_t row) {
    const ns_graph *graph = &pool_of(w)->plan->graph;
    virtual_graph *state = &pool_of(w)->graph;
    if (!state->held) return;
    for (int64_t at = graph->successor_ptr.at[row]; at < graph->successor_ptr.at[row + 1]; at++) {
        const uint32_t next = graph->successor.at[at];
        if (!--state->predecessors[next] && state->held[next]) ns_virtual_offer(w, state->held[next]);
    }
}

static void finish(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    virtual_task *parent = task->parent;
    w->stack.count--;
    w->counter[NS_TASKS] += pool->plan->graph.kind.at[task->row] == NS_ROW_TASK;
    if (parent) {
        w->owed_ps += pool->plan->costs.join_ps;
        if (pool->plan->costs.line) w->owed_ps += ns_virtual_line_ps(w, task->spawner);
        if (!--parent->pending && parent->waiting) resume_parent(w, parent);
    }
    release_successors(w, task->row);
    if (task->future) task->future->done = 1;
    if (!--pool->outstanding) ns_virtual_end_phase(pool);
    ns_virtual_drop(task);
}

/* ---- where new ones go ------------------------------------------------------------------------------------------- */

/* The queue for a new task; NS_UNKNOWN where every queue that the dispatch rules name is full. */
static int32_t choose(virtual_worker *w, const virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    if (pool->own_never_full) return (int32_t)w->own;
    const uint64_t rows = (uint64_t)pool->plan->graph.rows;
    ns_new_task newcomer = {.index = task->row, .count = rows, .similarity = pool->similarity};
    if (pool->plan->steal.data_count) {
        newcomer.source = !pool->graph.depends || !pool->graph.depends[task->row];
        newcomer.objects = pool->objects;
        newcomer.object_groups =
            pool->looks_at_data ? ns_pages_objects(pool->pages, task->row, pool->objects, pool->most_objects) : 0;
    }
    const ns_view view = view_of(pool);
    const int32_t q = ns_place(&pool->plan->steal, &pool->actors[w->base.id], &view, &newcomer);
    if (newcomer.looked) w->owed_ps += pool->plan->costs.locate_ps;
    if (pool->plan->costs.line && q != NS_UNKNOWN && q != w->own) {
        w->owed_ps += ns_virtual_line_ps(w, (uint32_t)pool->plan->steal.queues[q].owner);
    }
    return q;
}

void ns_virtual_push(virtual_worker *w, uint32_t q, virtual_task *task) {
    if (!ns_queues_push_task(&pool_of(w)->queues, q, (uintptr_t)task)) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the tasks of queue %u", q);
    }
}

/* Where no queue has room, the task is executed at once. */
static void put_into(virtual_worker *w, int32_t q, virtual_task *task) {
    if (q == NS_UNKNOWN) {
        ns_virtual_list_push(w, &w->stack, task);
    } else {
        ns_virtual_push(w, (uint32_t)q, task);
    }
}

/* Put the first task of the outbox into a queue, under that queue's lock where it has one. A queue that has become full
 * while the worker waited for its lock is not used: another is chosen. */
static void put_next(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    for (bool put = false; !put;) {
        const int32_t q = choose(w, w->outbox.task[0]);
        const int32_t lock = q == NS_UNKNOWN || q == w->own || !pool->queue_lock ? NO_LOCK : pool->queue_lock[q];
        if (lock != NO_LOCK) ns_virtual_acquire(w, (uint32_t)lock);
        put = lock == NO_LOCK || pool->queues.length[q] < pool->queues.capacity[q];
        if (put) put_into(w, q, ns_virtual_list_shift(&w->outbox));
        if (lock != NO_LOCK) ns_sync_release(pool->sync, (uint32_t)lock, w->base.id, now_of(w));
    }
}

void ns_virtual_settle_outbox(virtual_worker *w) {
    while (w->outbox.count) {
        ns_virtual_step_overhead(w, NS_RANK_PUT, pool_of(w)->plan->costs.push_ps);
        put_next(w);
    }
}

void ns_virtual_offer(virtual_worker *w, virtual_task *task) {
    if (pool_of(w)->puts_take_time) {
        ns_virtual_list_push(w, &w->outbox, task);
    } else {
        put_into(w, choose(w, task), task);
    }
}

/* Whether spawns are executed at once: from a full own queue on, until it has fallen below the resume fill. */
static bool must_inline(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    if (!pool->inlines || w->own == NS_UNKNOWN || pool->plan->steal.queues[w->own].full != NS_FULL_INLINE) return false;
    bool *overflowed = &pool->overflowed[w->own];
    *overflowed = ns_overflows(*overflowed, pool->queues.length[w->own], pool->queues.capacity[w->own],
                               pool->plan->inline_resume_ppm);
    return *overflowed;
}

void ns_virtual_spawn(virtual_worker *w, virtual_task *parent, virtual_task *child) {
    virtual_pool *pool = pool_of(w);
    child->parent = parent;
    parent->pending++;
    parent->references++;
    pool->outstanding++;
    if (pool->graph.held) pool->graph.held[child->row] = child;
    if (pool->graph.held && pool->graph.predecessors[child->row]) return;
    if (must_inline(w)) {
        ns_virtual_list_push(w, &w->stack, child);
    } else if (pool->plan->work_first) {
        w->stack.task[w->stack.count - 1] = child;
        ns_virtual_offer(w, parent);
    } else {
        ns_virtual_offer(w, child);
    }
    ns_virtual_settle(w, parent);
}
