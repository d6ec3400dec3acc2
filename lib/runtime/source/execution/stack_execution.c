/* Tasks that are executed nested on the stack of the worker's thread. */
#include "execution/execution.h"
#include "search/search.h"

static void wait_here(ns_task *task, const ns_thread_wait *wait) {
    ns_thread_work_until((ns_thread_worker *)task->worker, wait);
}

static void spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *child = ns_thread_child_create(self, order);
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    if (!child || ns_thread_holds(worker, child)) return;
    if (ns_thread_place(worker, child, order->accesses, order->access_count)) return;
    if (ns_thread_pool_of(worker)->notes) ns_thread_note_begin_here(worker, child);
    ns_thread_execute_here(worker, child);
}

static void spawn_after(ns_task *self, const ns_work_order *order) {
    ns_thread_dependent *child = ns_thread_dependent_spawn(self, order);
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    if (child && !ns_thread_place(worker, child->record, child->accesses, child->access_count))
        ns_thread_execute_unplaced(self, child);
}

/* Note that a child has ended. If it ended on its parent's worker, the count needs no atomic addition. */
static void child_ended(ns_thread_worker *worker, ns_thread_task *parent) {
    if (parent->base.worker == &worker->base)
        parent->pending--;
    else
        ns_thread_child_ended_elsewhere(worker, parent);
}

#define NS_STACK_EXECUTION                                                                                          \
    .execute = ns_thread_execute_here, .wait = wait_here, .release = ns_thread_place, .take = ns_thread_queue_take, \
    .keep = ns_thread_queue_keep, .share = ns_thread_queue_share

const ns_thread_execution ns_stack_execution = {
    .calls = NS_THREAD_CALLS(ns_thread_call_part, ns_thread_join_helping),
    .child_ended = child_ended,
    NS_STACK_EXECUTION,
};

const ns_thread_execution ns_stack_blocking_execution = {
    .calls = NS_THREAD_CALLS(ns_thread_call_part, ns_thread_join_blocking),
    .child_ended = ns_thread_child_ended_waking,
    NS_STACK_EXECUTION,
};
