/* Bodies in virtual time: what runs on which fiber, and how bodies wait for their children and end (model 3.1 to 3.3).
 * Equal, event for event, to engine/reference/executor.py.
 *
 * A body runs in lockstep with its row of the plan's graph: what lies between two calls is a RUN op, each call is the
 * op of its name; a program that does something else is not the one that the plan was made for.
 */
#include <stdlib.h>

#include "execution/placing.h"
#include "platform/cpu_clock.h"
#include "virtual/virtual_state.h"

enum { STACK_BYTES = 256 * 1024 };

/* ---- the graph --------------------------------------------------------------------------------------------------- */

uint32_t ns_virtual_expect(virtual_worker *w, const virtual_task *task, enum ns_op op) {
    const virtual_pool *pool = pool_of(w);
    const enum ns_op there = ns_virtual_op_at(pool, task);
    if (there != op) {
        ns_virtual_fail(w, NS_ERROR_PROGRAM, "task %u comes to '%s' where the plan's graph has '%s'", task->row,
                        NS_OP_NAME[op], NS_OP_NAME[there]);
    }
    return op == NS_OP_END ? 0 : pool->plan->graph.op_arg.at[task->at];
}

void ns_virtual_went_on(virtual_task *task) {
    virtual_pool *pool = pool_of(worker_of(task));
    if (pool->base.options.costs == NS_COSTS_MEASURED) task->since_ps = ns_cpu_ps();
}

/* What the body has taken since it went on, or -1 where the plan says what its segments take. */
static int64_t measured_ps(const virtual_pool *pool, const virtual_task *task) {
    if (pool->base.options.costs != NS_COSTS_MEASURED) return -1;
    const int64_t taken_ps = ns_cpu_ps() - task->since_ps - pool->clock_cost_ps;
    return taken_ps > 0 ? taken_ps : 0;
}

/* Count for a task `sign` times what its node has moved so far: what that grows by is the task's. */
static void count_bytes(virtual_pool *pool, uint32_t row, int32_t node, int64_t sign) {
    const int64_t *moved = ns_pages_bytes_of(&pool->pages, node);
    int64_t *mine = pool->boundary.task_bytes + (size_t)row * pool->plan->nodes;
    for (uint32_t home = 0; home < pool->plan->nodes; home++) mine[home] += sign * moved[home];
}

static void run_segment(virtual_worker *w, virtual_task *task, int64_t compute_ps) {
    virtual_pool *pool = pool_of(w);
    const uint32_t segment = pool->plan->graph.op_arg.at[task->at];
    const ns_toucher toucher = {.node = w->base.node, .now_ps = now_of(w)};
    if (pool->boundary.controlled) count_bytes(pool, task->row, toucher.node, -1);
    const ns_segment_time time = ns_plan_file_start(&pool->file, &pool->pages, segment, toucher, compute_ps);
    if (pool->boundary.controlled) count_bytes(pool, task->row, toucher.node, 1);
    if (pool->boundary.controlled) pool->boundary.task_ps[task->row] += time.total_ps;
    ns_count_work(&w->state.counters, time.total_ps, time.local_ps);
    w->state.owed_ps += time.owed_ps;
    ns_virtual_step(w, NS_RANK_SEG_END, ns_pay_owed(&w->state) + time.total_ps);
    task->at++;
}

virtual_worker *ns_virtual_end_segment(virtual_task *task) {
    virtual_worker *w = worker_of(task);
    virtual_pool *pool = pool_of(w);
    int64_t compute_ps = measured_ps(pool, task);
    while (ns_virtual_op_at(pool, task) == NS_OP_RUN) {
        run_segment(w, task, compute_ps);
        if (compute_ps > 0) compute_ps = 0;
    }
    return w;
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

/* Whoever ends the last task that this one waits for has to see to it. */
static void mark_waiting(virtual_task *task) {
    *(ns_virtual_gathers(task) ? &task->innermost->gathering : &task->waiting) = true;
}

/* Join `continuation`: the task leaves the worker; who ends the last task that it waits for goes on with it. */
static void detach(virtual_worker *w, virtual_task *task) {
    mark_waiting(task);
    task->at++;
    w->stack.count--;
    ns_virtual_settle(w, task);
}

/* Join `block`: the worker pays what it owes and sleeps until the last task that its own waits for has finished. */
static void sleep_in_join(virtual_worker *w, virtual_task *task) {
    mark_waiting(task);
    task->sleeper = w;
    w->blocked_until_ps = now_of(w) + ns_pay_owed(&w->state);
    w->state.counters.parked_ps -= w->blocked_until_ps;
    ns_virtual_suspend(w);
    w->state.counters.parked_ps += now_of(w);
    ns_virtual_record(pool_of(w), NS_RANK_WAKE, w->base.id, task->row, 0);
}

void ns_virtual_wait(virtual_worker *w, virtual_task *task) {
    const enum ns_join_kind join = pool_of(w)->plan->join;
    while (ns_virtual_awaited(task)) {
        if (join == NS_JOIN_CONTINUATION) {
            detach(w, task);
            return;
        }
        if (join == NS_JOIN_BLOCK) {
            sleep_in_join(w, task);
        } else {
            ns_virtual_search(w);
            ns_virtual_settle(w, task);
        }
        w = worker_of(task);
    }
    if (w->state.idle) ns_virtual_end_idle(w);
    task->at++;
    w->state.owed_ps += pool_of(w)->plan->costs.wait_ps;
}

/* ---- their ends -------------------------------------------------------------------------------------------------- */

/* The last task that another waits for has finished: go on with that here, or wake the worker that is blocked in it. */
static void resume(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    virtual_worker *sleeper = task->sleeper;
    if (!sleeper) {
        w->state.owed_ps += pool->plan->costs.resume_ps;
        task->depth = 0;
        ns_virtual_list_push(w, &w->stack, task);
        return;
    }
    task->sleeper = NULL;
    const int64_t wake_ps = ns_wake_ps(pool->plan, &w->state, &sleeper->state);
    const int64_t left_ps = sleeper->blocked_until_ps - now_of(w);
    ns_virtual_schedule(sleeper, NS_RANK_WAKE, wake_ps > left_ps ? wake_ps : left_ps);
}

static void leave_group(virtual_worker *w, virtual_group *group) {
    if (--group->members || !group->gathering) return;
    group->gathering = false;
    resume(w, group->owner);
}

/* Release the spawned successors whose last predecessor this was. */
static void release_successors(virtual_worker *w, uint32_t row) {
    const ns_graph *graph = &pool_of(w)->plan->graph;
    virtual_graph *state = &pool_of(w)->graph;
    if (!state->held) return;
    for (int64_t at = graph->successor_ptr.at[row]; at < graph->successor_ptr.at[row + 1]; at++) {
        const uint32_t next = graph->successor.at[at];
        if (!--state->predecessors[next] && state->held[next]) ns_virtual_release(w, state->held[next]);
    }
    ns_virtual_offer_released(w);
}

static void finish(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    virtual_task *parent = task->parent;
    w->stack.count--;
    ns_virtual_forget_taker(task);
    if (pool->plan->counts_live) ns_live_finish(&pool->live, task->row);
    if (pool->plan->graph.kind.at[task->row] == NS_ROW_TASK) {
        ns_count_task(&pool->queues, &w->state);
        w->state.owed_ps += pool->boundary.profile_ps;
    }
    if (parent) {
        w->state.owed_ps += ns_join_ps(pool->plan, &w->state, task->spawner);
        if (!--parent->pending && parent->waiting) {
            parent->waiting = false;
            resume(w, parent);
        }
    }
    if (task->group) leave_group(w, task->group);
    release_successors(w, task->row);
    if (task->future) task->future->done = 1;
    if (!--pool->outstanding) ns_virtual_end_phase(pool);
    ns_virtual_drop(pool, task);
}

/* ---- running what is on top -------------------------------------------------------------------------------------- */

void ns_virtual_end_body(virtual_task *task) {
    virtual_worker *w = ns_virtual_end_segment(task);
    if (ns_virtual_op_at(pool_of(w), task) == NS_OP_WAIT) ns_virtual_wait(w, task);
    ns_virtual_expect(worker_of(task), task, NS_OP_END);
}

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
    virtual_pool *pool = pool_of(w);
    pool->spare[pool->spare_count++] = fiber;
    go_to_top(w);
}

static bool enlarge(ns_fiber ***fibers, uint32_t room) {
    ns_fiber **grown = realloc(*fibers, room * sizeof(ns_fiber *));
    if (grown) *fibers = grown;
    return grown;
}

/* One more fiber that runs `task`, or NULL. There is room for every fiber among the spare ones, too. */
static ns_fiber *add_fiber(virtual_pool *pool, virtual_task *task) {
    if (pool->fiber_count == pool->fiber_room) {
        const uint32_t room = pool->fiber_room ? 2 * pool->fiber_room : 64;
        if (!enlarge(&pool->fibers, room) || !enlarge(&pool->spare, room)) return NULL;
        pool->fiber_room = room;
    }
    ns_fiber *fiber = NULL;
    if (ns_fiber_create(&fiber, STACK_BYTES, live, task)) return NULL;
    pool->fibers[pool->fiber_count++] = fiber;
    return fiber;
}

static ns_fiber *fiber_for(virtual_worker *w, virtual_task *task) {
    virtual_pool *pool = pool_of(w);
    if (pool->spare_count) {
        ns_fiber *fiber = pool->spare[--pool->spare_count];
        ns_fiber_reuse(fiber, live, task);
        return fiber;
    }
    ns_fiber *fiber = add_fiber(pool, task);
    if (!fiber) ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for the stack of task %u", task->row);
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
        if (ns_fiber_left(pool_of(w)->running) < NS_LEAST_STACK_BYTES) {
            ns_virtual_fail(w, NS_ERROR_MEMORY, "%u tasks of worker %u that help each other do not fit on its stack",
                            w->stack.count, w->base.id);
        }
        top->base.worker = &w->base;
        run_body(top);
    }
}
