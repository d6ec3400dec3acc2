#include "thread_lane.h"

static ns_lane *lane_of(const ns_thread_worker *worker) {
    return &ns_thread_pool_of(worker)->queues[worker->own]->lane;
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

/* Execute a body here and now, as a task. */
static void execute(const ns_task *parent, ns_body *body, void *arguments) {
    ns_worker *worker = parent->worker;
    ns_task task = {parent->operations, worker, ns_lane_top(lane_of((ns_thread_worker *)worker))};
    body(&task, arguments);
    ns_thread_lane_join(&task);
    worker->tasks++;
}

static bool has_ended(const void *slot) { return ns_lane_has_ended(slot); }

/* The task at the top is being executed elsewhere: execute others until it has ended. Some of these may be left in the
 * lane above it. */
static void await_stolen(ns_task *self, ns_lane *lane) {
    const ns_lane_slot *slot = ns_lane_top(lane) - 1;
    if (!ns_lane_has_ended(slot)) {
        ns_thread_work_until((ns_thread_worker *)self->worker, &(ns_thread_wait){self, has_ended, slot});
    }
    if (ns_lane_top(lane) == slot + 1) ns_lane_forget(lane);
}

void ns_thread_lane_join(ns_task *self) {
    ns_lane *lane = lane_of((ns_thread_worker *)self->worker);
    while (ns_lane_top(lane) != self->mark) {
        const ns_lane_slot *slot = ns_lane_pop(lane);
        if (slot) {
            ns_lane_slot popped = *slot; /* its children will be where it was */
            execute(self, popped.body, popped.arguments);
        } else {
            await_stolen(self, lane);
        }
    }
}

/* ---- spawns ------------------------------------------------------------------------------------------------------ */

void ns_thread_lane_spawn(ns_task *self, const ns_work_order *order) {
    ns_lane *lane = lane_of((ns_thread_worker *)self->worker);
    ns_thread_task filled = {.body = order->body};
    if (!ns_thread_task_fill(&filled, order)) {
        ns_thread_execute_order(self, order);
    } else if (!ns_lane_push(lane, filled.body, filled.inlined, sizeof filled.inlined)) {
        execute(self, filled.body, filled.inlined);
    }
}

/* ---- what leaves its lane ---------------------------------------------------------------------------------------- */

static ns_thread_task *record_of(ns_thread_worker *worker, const ns_lane_slot *slot) {
    const size_t bytes = ns_atomic_u64_load(ns_lane_atomic(&slot->state), memory_order_relaxed); /* it is ours */
    return ns_thread_task_create(worker, NULL, &(ns_work_order){slot->body, slot->arguments, bytes, NULL, 0, NULL});
}

/* The newest own task that the waiting one has spawned. */
static ns_thread_task *take_child(ns_thread_worker *worker, ns_lane *lane) {
    const ns_lane_slot *slot = ns_lane_pop(lane);
    return slot ? record_of(worker, slot) : NULL;
}

/* The oldest. */
static ns_thread_task *take_oldest(ns_thread_worker *worker, ns_lane *lane) {
    ns_lane_slot *slot = ns_lane_steal(lane);
    if (!slot) return NULL;
    ns_thread_task *task = record_of(worker, slot);
    task->slot = slot;
    return task;
}

ns_thread_task *ns_thread_lane_take(ns_thread_worker *worker, const ns_task *waiting, uint32_t q) {
    ns_lane *lane = &ns_thread_pool_of(worker)->queues[q]->lane;
    if (!worker->free && !ns_thread_records_more(worker)) return NULL;
    if ((int32_t)q != worker->own) return take_oldest(worker, lane);
    if (waiting && ns_lane_top(lane) != waiting->mark) return take_child(worker, lane);
    /* What is left is below those that wait here, and stays there until it is joined: it is taken as thieves do. */
    ns_lane_publish(lane);
    return take_oldest(worker, lane);
}

/* Execute a task that was stolen before; to do so is no task of its own. */
static void run_kept(ns_task *self, void *arguments) {
    ns_thread_task *task = *(ns_thread_task **)arguments;
    self->worker->tasks--;
    ns_thread_execute((ns_thread_worker *)self->worker, task);
}

void ns_thread_lane_keep(ns_thread_worker *worker, ns_thread_task *task) {
    if (!ns_lane_push(lane_of(worker), run_kept, &task, sizeof(ns_thread_task *))) ns_thread_execute(worker, task);
}
