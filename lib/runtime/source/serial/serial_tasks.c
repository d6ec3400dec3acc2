/* Tasks of a serial run: bodies depth first, at once or where their parent joins; calls, joins and futures. */
#include <stdlib.h>
#include <string.h>

#include "dependences/dependences.h"
#include "serial/serial.h"

enum { SMALL_ARGUMENTS = 256 }; /* up to which copies are on the stack */

static void waited(serial_task *self) {
    self->outstanding = 0;
    self->group = ++ns_serial_pool_of(self)->groups;
}

static void run_body(serial_part *on, uint32_t row, bool oldest_first, ns_body *body, void *arguments) {
    serial_pool *pool = (serial_pool *)(void *)on->worker.pool;
    const bool fits = ns_fiber_left(on->fiber) >= NS_LEAST_STACK_BYTES;
    serial_task self = {.task = {.worker = &on->worker}, .part = on, .row = row, .oldest_first = oldest_first};
    self.task.whole = &self.task;
    if (!fits) ns_serial_give_up(&self, NS_ERROR_MEMORY, "tasks and calls nest too deeply for their stack", "");
    self.first_group = self.group = ++pool->groups;
    ns_serial_resume_body(&self);
    body(&self.task, arguments);
    if (self.held) ns_serial_give_up(&self, NS_ERROR_PROGRAM, "a task ends and holds a lock", "");
    ns_serial_run_deferred(&self);
    ns_dependences_close(&self.task);
    if (self.outstanding) {
        ns_serial_begin_op(&self, NS_OP_WAIT, 0);
    } else {
        ns_serial_leave_body(&self);
    }
}

void ns_serial_run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order) {
    _Alignas(max_align_t) char small[SMALL_ARGUMENTS];
    char *copy = order->bytes <= sizeof small ? small : malloc(order->bytes);
    if (!copy) ns_serial_give_up(self, NS_ERROR_MEMORY, "there is no memory for a task's arguments", "");
    if (order->bytes) memcpy(copy, order->arguments, order->bytes);
    run_body(self->part, row, oldest_first, order->body, copy);
    if (copy != small) free(copy);
}

void ns_serial_run_deferred(serial_task *self) {
    ns_deferred *waiting = &self->part->deferred;
    const size_t first = waiting->count - self->deferred;
    for (size_t at = 0; at < self->deferred; at++) {
        if (!self->oldest_first) waiting->count--;
        const ns_work_order next = ns_deferred_get(waiting, self->oldest_first ? first + at : waiting->count);
        ns_serial_run_copy(self, 0, false, &next);
    }
    waiting->count = first;
    self->deferred = 0;
}

/* Whether the child of this order begins later. */
static bool defers(const serial_pool *pool, const ns_work_order *order) {
    return pool->pool.options.order != NS_ORDER_SPAWNED && !order->future && !order->dependence_count;
}

static void defer(serial_task *self, const ns_work_order *order) {
    if (!ns_deferred_push(&self->part->deferred, order)) {
        ns_serial_give_up(self, NS_ERROR_MEMORY, "there is no memory for the tasks that wait", "");
    }
    self->deferred++;
}

static void record_access(const serial_task *self, const ns_access *access) {
    if (ns_serial_pool_of(self)->recording) ns_recorder_note_access(&ns_serial_pool_of(self)->recorder, access);
}

void ns_serial_spawn(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = ns_serial_pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    ns_serial_begin_op(self, NS_OP_SPAWN, row);
    for (uint32_t at = 0; at < order->access_count; at++) record_access(self, &order->accesses[at]);
    for (uint32_t at = 0; at < order->dependence_count; at++) {
        if (order->dependences[at].access) record_access(self, order->dependences[at].access);
    }
    self->outstanding++;
    self->part->tasks++;
    if (defers(pool, order)) {
        defer(self, order);
    } else {
        ns_serial_run_copy(self, row, false, order);
    }
    if (order->future) *order->future = (ns_future){task, self->group};
    ns_serial_resume_body(self);
}

/* Run serially, every task finds those ended that it waits for; but the graph says who they were. `row` is the next. */
static void record_dependences(serial_task *self, const ns_work_order *order) {
    ns_recorder *recorder = &ns_serial_pool_of(self)->recorder;
    ns_dependences *known = ns_dependences_open(&self->task);
    ns_dependent *made = known ? ns_arena_take(&known->arena, sizeof *made) : NULL;
    if (made) {
        ns_dependent_create(made);
        made->row = recorder->rows;
    }
    if (!made || !ns_dependences_find(known, made, order->dependences, order->dependence_count)) {
        ns_dependences_close(&self->task);
        ns_serial_give_up(self, NS_ERROR_MEMORY, "there is no memory for the dependences of a task", "");
    }
    for (uint32_t at = 0; at < known->before_count; at++)
        ns_recorder_dependence(recorder, made->row, known->before[at]->row);
}

void ns_serial_spawn_after(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    if (ns_serial_pool_of(self)->recording) record_dependences(self, order);
    ns_serial_spawn(task, order);
}

/* A part of a task that joins by itself is a row of its own in the graph. */
void ns_serial_call(ns_task *task, ns_body *body, void *arguments) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = ns_serial_pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    ns_serial_begin_op(self, NS_OP_CALL, row);
    run_body(self->part, row, self->oldest_first, body, arguments);
    ns_serial_resume_body(self);
}

void ns_serial_join(ns_task *task) {
    serial_task *self = (serial_task *)(void *)task;
    ns_serial_begin_op(self, NS_OP_WAIT, 0);
    ns_serial_run_deferred(self);
    ns_dependences_close(task);
    waited(self);
    ns_serial_resume_body(self);
}

/* In a task graph, a task waits for all of its children or for none. So a future is recorded as a wait if it is the
 * last that is outstanding, or if the task gets the others right after it. */
void ns_serial_get(ns_task *task, ns_future *future) {
    serial_task *self = (serial_task *)(void *)task;
    const bool own = future->task == task && future->done >= self->first_group;
    if (!future->task || !ns_serial_pool_of(self)->recording || (own && future->done < self->group))
        return; /* waited for */
    if (!own)
        ns_serial_give_up(self, NS_ERROR_UNSUPPORTED, "a task gets a future of another; a task graph cannot say so",
                          "");
    if (self->getting && (self->declared || ns_recorder_has_access(&ns_serial_pool_of(self)->recorder)))
        ns_serial_refuse_early_get(self);
    if (!self->getting) ns_serial_leave_body(self);
    future->task = NULL;
    self->getting = --self->outstanding > 0;
    if (!self->getting) {
        ns_recorder_op(&ns_serial_pool_of(self)->recorder, self->row, NS_OP_WAIT, 0);
        waited(self);
    }
    ns_serial_resume_body(self);
}

void ns_serial_work(ns_task *task, int64_t picoseconds) {
    serial_task *self = (serial_task *)(void *)task;
    if (picoseconds < 0 || picoseconds > NS_LONGEST_PS - self->declared_ps)
        ns_serial_give_up(self, NS_ERROR_PROGRAM, "the work of a task takes less than no time, or too long", "");
    self->declared = true;
    self->declared_ps += picoseconds;
}

void ns_serial_refuse(ns_task *task, int error, const char *sentence) {
    ns_serial_give_up((serial_task *)(void *)task, error, sentence, "");
}

void ns_serial_access(ns_task *task, const ns_access *access) { record_access((serial_task *)(void *)task, access); }
