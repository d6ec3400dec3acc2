/* Tasks on fibers of their own (a fiber is a stack with saved registers). Strategies need fibers if a spawn executes
 * the child and lets other workers steal the parent (work-first), or if a join leaves the worker and resumes where the
 * last child ends (continuation). The home of a worker is the fiber that searches for tasks: the thread's own fiber, or
 * the fiber of a task that executes other tasks while it waits. A task that ends or leaves the worker switches to the
 * home. Only then does the home put the task into a queue, or free the fiber: so no other worker resumes a running
 * fiber. */
#include <stdlib.h>

#include "execution/execution.h"
#include "search/search.h"

/* A fiber, and the task that runs on it. */
typedef struct ns_thread_fiber ns_thread_fiber;
struct ns_thread_fiber {
    ns_fiber *fiber;
    uint64_t stack_end; /* no body begins below this address */
    ns_thread_task *task;
    ns_thread_fiber *next; /* in a list of resting fibers */
};

enum { FIBER_STACK_BYTES = 256 << 10 };

/* What `settle` does with a task after a switch away from its fiber. RELEASE: the task has ended; keep the fiber for
 * another task. OFFER: put the task into a queue; if no queue has room, as KEEP. KEEP: resume the task on this worker.
 * DETACH: let the task wait for its children. ASIDE: put the task into the list `fibers.aside`. */
enum { NOTHING, RELEASE, OFFER, KEEP, DETACH, ASIDE };

static int begin(ns_thread_worker *worker) {
    const int error = ns_fiber_adopt(&worker->fibers.thread_fiber);
    worker->fibers.home = worker->fibers.thread_fiber;
    return error;
}

static void finish(ns_thread_worker *worker) {
    for (ns_thread_fiber *each = worker->fibers.resting, *next; each; each = next) {
        next = each->next;
        ns_fiber_destroy(each->fiber);
        free(each);
    }
    ns_fiber_destroy(worker->fibers.thread_fiber);
}

/* ---- tasks to resume --------------------------------------------------------------------------------------------- */

/* Let the worker resume, or begin, `task` before it searches. */
static void resume_here(ns_thread_worker *worker, ns_thread_task *task) {
    task->next = worker->resumable;
    worker->resumable = task;
}

/* Let the task, which has left its fiber, wait for its children: the last child to end resumes the task. If all have
 * ended, let this worker resume the task. */
static void detach(ns_thread_worker *worker, ns_thread_task *task) {
    const uint32_t children = task->pending;
    task->pending = 0;
    /* the task will resume with no call below it on the worker's stack */
    if (ns_thread_pool_of(worker)->notes) ns_thread_notes_of(task)->depth = 0;
    /* acq_rel: sees all that ended children did; the last child sees a task that has left its fiber */
    const uint32_t ended = ns_atomic_u32_fetch_add(ns_thread_task_returned(task), children, memory_order_acq_rel);
    if (ended + children == 0) resume_here(worker, task);
}

/* Prepare for sleep: make the tasks in the worker's queue available to other workers, and put the tasks that the worker
 * was to resume into queues that have room. */
static void share(ns_thread_worker *worker) {
    ns_thread_task *waiting = worker->resumable;
    worker->resumable = NULL;
    while (waiting) {
        ns_thread_task *task = waiting;
        waiting = task->next;
        if (!ns_thread_place(worker, task, NULL, 0)) resume_here(worker, task);
    }
    ns_thread_queue_share(worker);
}

/* Do what `fibers.leaving` says with the task or the fiber from which the worker has switched. */
static void settle(ns_thread_worker *worker) {
    ns_thread_task *task = worker->fibers.left;
    const uint32_t leaving = worker->fibers.leaving;
    worker->fibers.leaving = NOTHING;
    if (leaving == RELEASE) {
        worker->fibers.left_fiber->next = worker->fibers.resting;
        worker->fibers.resting = worker->fibers.left_fiber;
    } else if (leaving == KEEP || (leaving == OFFER && !ns_thread_place(worker, task, NULL, 0))) {
        resume_here(worker, task);
    } else if (leaving == DETACH) {
        detach(worker, task);
    } else if (leaving == ASIDE) {
        ns_thread_task_append(&worker->fibers.aside, task);
    }
}

/* ---- switching --------------------------------------------------------------------------------------------------- */

/* Switch from the fiber of `task` to `to`, which then calls `settle` to do `leaving` with the task. */
static void leave(ns_thread_task *task, ns_fiber *to, uint32_t leaving) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_fiber *from = task->fiber;
    worker->fibers.leaving = leaving;
    worker->fibers.left = task;
    worker->fibers.left_fiber = from;
    ns_fiber_switch(from->fiber, to);
}

static void run_on_fiber(void *argument) {
    ns_thread_fiber *fiber = argument;
    ns_thread_task *task = fiber->task;
    settle(ns_thread_worker_of(task));
    ns_thread_run_body(task); /* the task may be on another worker when its body returns */
    ns_thread_worker *worker = ns_thread_worker_of(task);
    task->fiber = NULL;
    ns_thread_task_end(worker, task);
    worker->fibers.leaving = RELEASE;
    worker->fibers.left_fiber = fiber;
    ns_fiber_switch(fiber->fiber, worker->fibers.home);
}

/* Give `task` a fiber, on which its body will run. Return false if memory is short. */
static bool put_on_fiber(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_fiber *fiber = worker->fibers.resting;
    if (fiber) {
        worker->fibers.resting = fiber->next;
        ns_fiber_reuse(fiber->fiber, run_on_fiber, fiber);
    } else {
        fiber = calloc(1, sizeof *fiber);
        if (!fiber) return false;
        if (ns_fiber_create(&fiber->fiber, FIBER_STACK_BYTES, run_on_fiber, fiber)) {
            free(fiber);
            return false;
        }
        fiber->stack_end = ns_fiber_stack_begin(fiber->fiber) + NS_LEAST_STACK_BYTES;
    }
    fiber->task = task;
    task->fiber = fiber;
    return true;
}

/* From the worker's home, begin or resume a task, until the task ends or leaves. If memory for a fiber is short, run
 * the task on the present stack. */
static void enter(ns_thread_worker *worker, ns_thread_task *task) {
    if (!task->fiber && !put_on_fiber(worker, task)) {
        ns_thread_execute_here(worker, task);
        return;
    }
    task->base.worker = &worker->base;
    const ns_thread_fiber *fiber = task->fiber;
    const uint64_t home_end = ns_thread_stand_on(worker, fiber->stack_end);
    ns_fiber_switch(worker->fibers.home, fiber->fiber);
    ns_thread_stand_on(worker, home_end);
    settle(worker); /* `worker` is still right, because the home never moves to another worker */
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Execute tasks until the wait of `task` is over. During the wait, the fiber of `task` is the worker's home. */
static void wait_nested(ns_thread_task *task, const ns_thread_wait *wait) {
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_fiber *home = worker->fibers.home;
    const ns_thread_fiber *fiber = task->fiber;
    if (fiber) worker->fibers.home = fiber->fiber;
    worker->fibers.nested++;
    ns_thread_work_until(worker, wait);
    worker->fibers.nested--;
    worker->fibers.home = home;
}

/* The context of a wait that is also over if the pool is quiescent: tasks are left that no worker may take. */
typedef struct {
    const ns_thread_wait *wait;
    const ns_thread_pool *pool;
} unless_quiescent;

static bool is_over_or_quiescent(const void *context) {
    const unless_quiescent *self = context;
    return self->wait->is_over(self->wait->context) || ns_thread_is_quiescent(self->pool);
}

/* Execute other tasks until the wait of a task is over. A worker may resume a task on top of a waiting descendant of
 * this task; then neither can go on, and the pool becomes quiescent. From then on, waiting tasks go to the list
 * `fibers.aside` instead, so that no task is executed on top of them. */
static void wait_on_fiber(ns_task *self, const ns_thread_wait *wait) {
    ns_thread_task *task = (ns_thread_task *)self;
    const unless_quiescent context = {wait, ns_thread_pool_of(ns_thread_worker_of(task))};
    if (task->fiber) {
        wait_nested(task, &(ns_thread_wait){wait->task, is_over_or_quiescent, &context, wait->awaited, wait->children});
        while (!wait->is_over(wait->context)) leave(task, ns_thread_worker_of(task)->fibers.home, ASIDE);
    } else {
        wait_nested(task, wait);
    }
}

/* ---- spawns ------------------------------------------------------------------------------------------------------ */

/* Execute `child` now, on the worker of its parent. `offered`: put `parent` into a queue, where other workers can take
 * it; otherwise `parent` resumes on this worker afterwards. */
static void execute_child(ns_thread_task *parent, ns_thread_task *child, bool offered) {
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    if (ns_thread_pool_of(worker)->notes) ns_thread_note_begin_here(worker, child);
    if (parent->fiber && put_on_fiber(worker, child)) {
        const ns_thread_fiber *fiber = child->fiber;
        ns_thread_stand_on(worker, fiber->stack_end);
        leave(parent, fiber->fiber, offered ? OFFER : KEEP);
        return;
    }
    child->fiber = parent->fiber; /* memory is short: run the child on the fiber of its parent */
    ns_thread_run_body(child);
    child->fiber = NULL;
    parent->base.worker = child->base.worker;
    ns_thread_task_end(ns_thread_worker_of(parent), child);
}

/* Put a child that can begin into a queue; or, if spawns are work-first or no queue has room, execute it now. */
static void begin_child(ns_thread_task *parent, ns_thread_task *child, const ns_access *accesses, uint32_t count) {
    ns_thread_worker *worker = ns_thread_worker_of(parent);
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool offers =
        parent->fiber && pool->file.plan.work_first && (!pool->notes || ns_thread_goes_first(worker, parent, child));
    if (offers || !ns_thread_place(worker, child, accesses, count)) execute_child(parent, child, offers);
}

static void spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *child = ns_thread_child_create(self, order);
    if (!child || ns_thread_holds((ns_thread_worker *)self->worker, child)) return;
    begin_child((ns_thread_task *)self, child, order->accesses, order->access_count);
}

static void spawn_after(ns_task *self, const ns_work_order *order) {
    const ns_thread_dependent *child = ns_thread_dependent_spawn(self, order);
    if (child) begin_child((ns_thread_task *)self, child->record, child->accesses, child->access_count);
}

/* ---- joins by continuation --------------------------------------------------------------------------------------- */

/* Leave the worker until all children have ended. The task resumes on the worker on which its last child ended. */
static void await_children(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!ns_thread_task_is_balanced(task)) {
        if (task->fiber) {
            leave(task, ns_thread_worker_of(task)->fibers.home, DETACH);
            return; /* the last child has reset the counts */
        }
        wait_on_fiber(self, &(ns_thread_wait){self, ns_thread_task_is_balanced, task, NULL, NULL});
    }
    ns_thread_task_reset(task);
}

static void join_by_continuation(ns_task *self) {
    ns_thread_task *task = (ns_thread_task *)self;
    if (!task->pending) return; /* no child was spawned since the last join */
    const ns_dependences *known = ns_thread_begin_join(task);
    await_children(self);
    ns_thread_end_join(task, known);
}

/* Note that a child has ended on `worker`. If it is the last child of a parent that waits, the worker resumes the
 * parent. */
static void child_ended_continuing(ns_thread_worker *worker, ns_thread_task *parent) {
    /* acq_rel: all that the children did happens before the join, by way of the last child */
    if (ns_atomic_u32_fetch_add(ns_thread_task_returned(parent), UINT32_MAX, memory_order_acq_rel) == 1)
        resume_here(worker, parent);
}

/* Put a task that can begin into a queue; if no queue has room, this worker begins it after the present task. */
static bool release(ns_thread_worker *worker, ns_thread_task *child, const ns_access *accesses, uint32_t count) {
    if (!ns_thread_place(worker, child, accesses, count)) resume_here(worker, child);
    return true;
}

#define NS_FIBER_EXECUTION                                                                                           \
    .migrates = true, .begin = begin, .finish = finish, .execute = enter, .wait = wait_on_fiber, .release = release, \
    .take = ns_thread_queue_take, .keep = ns_thread_queue_keep, .share = share

const ns_thread_execution ns_fiber_execution = {
    .calls = NS_THREAD_CALLS(ns_thread_call_part, ns_thread_join_helping),
    .child_ended = ns_thread_child_ended_elsewhere,
    NS_FIBER_EXECUTION,
};

const ns_thread_execution ns_fiber_blocking_execution = {
    .calls = NS_THREAD_CALLS(ns_thread_call_part, ns_thread_join_blocking),
    .child_ended = ns_thread_child_ended_waking,
    NS_FIBER_EXECUTION,
};

const ns_thread_execution ns_fiber_continuing_execution = {
    .calls = NS_THREAD_CALLS(ns_thread_call_part, join_by_continuation),
    .child_ended = child_ended_continuing,
    NS_FIBER_EXECUTION,
};
