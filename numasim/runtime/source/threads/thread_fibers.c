#include "threads/thread_fibers.h"

#include <stdlib.h>

enum { FIBER_STACK_BYTES = 256 << 10 };

/* What is to be done once the fiber that was left rests. */
enum { NOTHING, RELEASE, OFFER, KEEP, DETACH };

int ns_thread_fibers_create(ns_thread_worker *worker) {
    const int error = ns_fiber_adopt(&worker->thread_fiber);
    worker->home = worker->thread_fiber;
    return error;
}

void ns_thread_fibers_destroy(ns_thread_worker *worker) {
    for (ns_thread_fiber *each = worker->resting, *next; each; each = next) {
        next = each->next;
        ns_fiber_destroy(each->fiber);
        free(each);
    }
    ns_fiber_destroy(worker->thread_fiber);
}

/* ---- keeping ----------------------------------------------------------------------------------------------------- */

ns_thread_task *ns_thread_fibers_next(ns_thread_worker *worker) {
    ns_thread_task *next = worker->kept;
    if (next) worker->kept = next->next;
    return next;
}

void ns_thread_fibers_keep(ns_thread_worker *worker, ns_thread_task *task) {
    task->next = worker->kept;
    worker->kept = task;
}

/* The task waits for its children from now on; unless all have ended, the last of them goes on with it. */
static void detach(ns_thread_worker *worker, ns_thread_task *task) {
    const uint32_t children = task->pending;
    task->pending = 0;
    /* acq_rel: what the children did; and whoever is last finds the task at rest */
    const uint32_t ended = ns_atomic_u32_fetch_add(ns_thread_task_returned(task), children, memory_order_acq_rel);
    if (ended + children == 0) ns_thread_fibers_keep(worker, task);
}

/* The fiber that was left rests: do what it was left for. */
static void settle(ns_thread_worker *worker) {
    ns_thread_task *task = worker->left;
    const uint32_t leaving = worker->leaving;
    worker->leaving = NOTHING;
    if (leaving == RELEASE) {
        worker->left_fiber->next = worker->resting;
        worker->resting = worker->left_fiber;
    } else if (leaving == KEEP || (leaving == OFFER && !ns_thread_place(worker, task, NULL, 0))) {
        ns_thread_fibers_keep(worker, task);
    } else if (leaving == DETACH) {
        detach(worker, task);
    }
}

/* ---- switching --------------------------------------------------------------------------------------------------- */

/* Leave `task` for `to`, with what is to be done then; the worker on which it goes on. */
static void leave(ns_thread_task *task, ns_fiber *to, uint32_t leaving) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_fiber *from = task->fiber;
    worker->leaving = leaving;
    worker->left = task;
    worker->left_fiber = from;
    ns_fiber_switch(from->fiber, to);
}

static void run_on_fiber(void *argument) {
    ns_thread_fiber *fiber = argument;
    ns_thread_task *task = fiber->task;
    settle(ns_thread_worker_of(task));
    task->body(&task->base, task->inlined);
    ns_join(&task->base); /* and it may have become another worker's by then */
    ns_thread_worker *worker = ns_thread_worker_of(task);
    task->fiber = NULL;
    ns_thread_task_end(worker, task);
    worker->leaving = RELEASE;
    worker->left_fiber = fiber;
    ns_fiber_switch(fiber->fiber, worker->home);
}

/* Put `task` on a fiber: false where memory is short. */
static bool put_on_fiber(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_fiber *fiber = worker->resting;
    if (fiber) {
        worker->resting = fiber->next;
        ns_fiber_reuse(fiber->fiber, run_on_fiber, fiber);
    } else {
        fiber = calloc(1, sizeof *fiber);
        if (!fiber) return false;
        if (ns_fiber_create(&fiber->fiber, FIBER_STACK_BYTES, run_on_fiber, fiber)) {
            free(fiber);
            return false;
        }
    }
    fiber->task = task;
    task->fiber = fiber;
    return true;
}

bool ns_thread_fibers_enter(ns_thread_worker *worker, ns_thread_task *task) {
    if (!task->fiber && !put_on_fiber(worker, task)) return false;
    task->base.worker = &worker->base;
    const ns_thread_fiber *fiber = task->fiber;
    ns_fiber_switch(worker->home, fiber->fiber);
    settle(worker); /* homes stay on their workers */
    return true;
}

bool ns_thread_fibers_spawn(ns_thread_task *parent, ns_thread_task *child, bool offered) {
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    if (!parent->fiber || !put_on_fiber(worker, child)) return false;
    child->base.worker = &worker->base;
    leave(parent, ((const ns_thread_fiber *)child->fiber)->fiber, offered ? OFFER : KEEP);
    return true;
}

void ns_thread_fibers_detach(ns_thread_task *task) { leave(task, ns_thread_worker_of(task)->home, DETACH); }

void ns_thread_fibers_wait(ns_thread_task *task, const ns_thread_wait *wait) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_fiber *home = worker->home;
    const ns_thread_fiber *fiber = task->fiber;
    if (fiber) worker->home = fiber->fiber;
    ns_thread_work_until(worker, wait);
    worker->home = home;
}
