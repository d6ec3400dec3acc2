/* The functions that tasks of a serial run call: segments, turns of parts, spawns, joins, futures and words. */
#include <stdlib.h>
#include <string.h>

#include "dependences/dependences.h"
#include "platform/ticks.h"
#include "serial/serial.h"

static serial_pool *pool_of(const serial_task *self) { return (serial_pool *)(void *)self->task.worker->pool; }

/* ---- turns: a part of a team runs until it has to wait; then the next part that can proceed runs ----------------- */

/* Return whether the condition that the part waits for holds. */
static bool can_go_on(const serial_pool *pool, const serial_part *self) {
    const serial_sync *word = &pool->words[self->word];
    switch (self->need) {
        case NEED_NOTHING: return true;
        case NEED_LOCK: return !word->holder;
        case NEED_PERMIT: return word->permits > 0;
        case NEED_OPENING: return word->opened > self->opened;
        case NEED_NO_MORE: return false;
    }
    return false;
}

/* Switch to the next part that can proceed; if there is none, to the caller of the run. */
void ns_serial_pass_on(serial_pool *pool, serial_part *self) {
    const uint32_t parts = pool->team ? pool->pool.workers : 1;
    bool all_ended = true;
    for (uint32_t step = 1; step <= parts; step++) {
        serial_part *next = &pool->parts[(self->worker.id + step) % parts];
        if (can_go_on(pool, next)) {
            if (next != self) ns_fiber_switch(self->fiber, next->fiber);
            return;
        }
        all_ended &= next->need == NEED_NO_MORE;
    }
    if (!all_ended) {
        pool->error = ns_pool_fail(&pool->pool, NS_ERROR_DEADLOCK,
                                   "run serially, all tasks that are left wait for a lock, a barrier or a condition");
    }
    ns_fiber_switch(self->fiber, pool->caller);
}

/* End the run with this error. `name` is the name of the wrongly used object, or empty. */
static _Noreturn void give_up(serial_task *self, int error, const char *problem, const char *name) {
    serial_pool *pool = pool_of(self);
    pool->error = ns_pool_fail(&pool->pool, error, "%s%s%s%s", problem, *name ? ": '" : "", name, *name ? "'" : "");
    ns_fiber_switch(self->part->fiber, pool->caller);
    abort(); /* unreachable: no part of an aborted run is resumed */
}

/* ---- segments: the work of a body between two calls, measured or declared ---------------------------------------- */

/* End the running segment, since the body calls the library. */
static void leave_body(serial_task *self) {
    serial_pool *pool = pool_of(self);
    const bool measured = pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED;
    int64_t took_ps = self->declared_ps;
    if (measured) {
        took_ps = ns_cpu_ps() - self->resumed_ps - pool->clock_cost_ps;
        if (took_ps < 0) took_ps = 0;
    }
    self->part->work_ps += took_ps;
    if (pool->recording && (measured || self->declared || ns_recorder_has_access(&pool->recorder))) {
        ns_recorder_segment(&pool->recorder, self->row, took_ps);
    }
}

/* Begin a segment, since the body resumes. */
static void resume_body(serial_task *self) {
    const serial_pool *pool = pool_of(self);
    self->declared = false;
    self->declared_ps = 0;
    if (pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED) {
        self->resumed_ps = ns_cpu_ps();
    }
}

/* Refuse a task that has got one of several futures, and makes another call before it gets the others. */
static _Noreturn void refuse_early_get(serial_task *self) {
    give_up(self, NS_ERROR_UNSUPPORTED,
            "a task gets one of several futures and goes on before it has got the others; a task graph cannot say so",
            "");
}

/* Begin the next op of the body. */
static void begin_op(serial_task *self, enum ns_op code, uint32_t argument) {
    serial_pool *pool = pool_of(self);
    if (self->getting) refuse_early_get(self);
    leave_body(self);
    if (pool->recording) ns_recorder_op(&pool->recorder, self->row, code, argument);
}

/* ---- tasks that have not begun ----------------------------------------------------------------------------------- */

/* Give `entries` room for `needed` entries. Return the entries; or NULL, without a change, if memory is short.
 */
static void *with_room(void *entries, size_t *room, size_t needed, size_t size) {
    size_t more = *room ? *room : 64;
    if (entries && *room >= needed) return entries;
    while (more < needed) more *= 2;
    void *moved = realloc(entries, more * size);
    if (moved) *room = more;
    return moved;
}

/* Return where the arguments of a further task begin, aligned for any type. */
static size_t end_of(const ns_deferred *self) {
    const size_t unit = _Alignof(max_align_t);
    if (!self->count) return 0;
    const ns_deferred_task *last = &self->task[self->count - 1];
    return (last->begin + last->bytes + unit - 1) / unit * unit;
}

/* Store a task with a copy of its arguments, but without accesses and future. Return false if memory is short. */
static bool push_deferred(ns_deferred *self, const ns_work_order *order) {
    const size_t begin = end_of(self);
    ns_deferred_task *task = with_room(self->task, &self->task_room, self->count + 1, sizeof *task);
    if (task) self->task = task;
    char *bytes = with_room(self->bytes, &self->byte_room, begin + order->bytes, 1);
    if (bytes) self->bytes = bytes;
    if (!task || !bytes) return false;
    task[self->count++] = (ns_deferred_task){order->body, begin, order->bytes};
    if (order->bytes) memcpy(bytes + begin, order->arguments, order->bytes);
    return true;
}

/* Return the order of task number `at`. Its arguments are valid until the next push. */
static ns_work_order deferred_at(const ns_deferred *self, size_t at) {
    const ns_deferred_task *task = &self->task[at];
    return (ns_work_order){.body = task->body, .arguments = self->bytes + task->begin, .bytes = task->bytes};
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

enum { SMALL_ARGUMENTS = 256 }; /* bytes; copies up to this size are on the stack */

static void waited(serial_task *self) {
    self->outstanding = 0;
    self->group = ++pool_of(self)->groups;
}

static void run_deferred(serial_task *self);

static void run_body(serial_part *on, uint32_t row, bool oldest_first, ns_body *body, void *arguments) {
    serial_pool *pool = (serial_pool *)(void *)on->worker.pool;
    const bool fits = ns_fiber_left(on->fiber) >= NS_LEAST_STACK_BYTES;
    serial_task self = {.task = {.worker = &on->worker}, .part = on, .row = row, .oldest_first = oldest_first};
    self.task.whole = &self.task;
    if (!fits) give_up(&self, NS_ERROR_MEMORY, "tasks and calls nest too deeply for their stack", "");
    self.first_group = self.group = ++pool->groups;
    resume_body(&self);
    body(&self.task, arguments);
    if (self.held) give_up(&self, NS_ERROR_PROGRAM, "a task ends and holds a lock", "");
    run_deferred(&self);
    ns_dependences_close(&self.task);
    if (self.outstanding) {
        begin_op(&self, NS_OP_WAIT, 0);
    } else {
        leave_body(&self);
    }
}

void ns_serial_run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order) {
    _Alignas(max_align_t) char small[SMALL_ARGUMENTS];
    char *copy = order->bytes <= sizeof small ? small : malloc(order->bytes);
    if (!copy) give_up(self, NS_ERROR_MEMORY, "there is no memory for a task's arguments", "");
    if (order->bytes) memcpy(copy, order->arguments, order->bytes);
    run_body(self->part, row, oldest_first, order->body, copy);
    if (copy != small) free(copy);
}

/* Run all tasks that this task has deferred, which are the newest of the part. Newest first: each task leaves the list
 * before it begins. Oldest first: all leave the list at the end. */
static void run_deferred(serial_task *self) {
    ns_deferred *waiting = &self->part->deferred;
    const size_t first = waiting->count - self->deferred;
    for (size_t at = 0; at < self->deferred; at++) {
        if (!self->oldest_first) waiting->count--;
        const ns_work_order next = deferred_at(waiting, self->oldest_first ? first + at : waiting->count);
        ns_serial_run_copy(self, 0, false, &next);
    }
    waiting->count = first;
    self->deferred = 0;
}

/* Return whether the child begins later than its spawn. */
static bool defers(const serial_pool *pool, const ns_work_order *order) {
    return pool->pool.options.order != NS_ORDER_SPAWNED && !order->future && !order->dependence_count;
}

static void defer(serial_task *self, const ns_work_order *order) {
    if (!push_deferred(&self->part->deferred, order)) {
        give_up(self, NS_ERROR_MEMORY, "there is no memory for the tasks that wait", "");
    }
    self->deferred++;
}

static void record_access(const serial_task *self, const ns_access *access) {
    if (pool_of(self)->recording) ns_recorder_note_access(&pool_of(self)->recorder, access);
}

static void spawn(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    begin_op(self, NS_OP_SPAWN, row);
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
    resume_body(self);
}

/* Record the dependences of a child. In a serial run the awaited tasks have already ended, but the graph still names
 * them. */
static void record_dependences(serial_task *self, const ns_work_order *order) {
    ns_recorder *recorder = &pool_of(self)->recorder;
    ns_dependences *known = ns_dependences_open(&self->task);
    ns_dependent *made = known ? ns_arena_take(&known->arena, sizeof *made) : NULL;
    if (made) {
        ns_dependent_create(made);
        made->row = recorder->rows;
    }
    if (!made || !ns_dependences_find(known, made, order->dependences, order->dependence_count)) {
        ns_dependences_close(&self->task);
        give_up(self, NS_ERROR_MEMORY, "there is no memory for the dependences of a task", "");
    }
    for (uint32_t at = 0; at < known->before_count; at++)
        ns_recorder_dependence(recorder, made->row, known->before[at]->row);
}

static void spawn_after(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    if (pool_of(self)->recording) record_dependences(self, order);
    spawn(task, order);
}

/* Run a call. A call joins its own children, and is a row of its own in the graph. */
static void call(ns_task *task, ns_body *body, void *arguments) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    begin_op(self, NS_OP_CALL, row);
    run_body(self->part, row, self->oldest_first, body, arguments);
    resume_body(self);
}

static void join(ns_task *task) {
    serial_task *self = (serial_task *)(void *)task;
    begin_op(self, NS_OP_WAIT, 0);
    run_deferred(self);
    ns_dependences_close(task);
    waited(self);
    resume_body(self);
}

/* Get a future. In a task graph, a task waits for all of its children or for none. So the get is recorded as a wait if
 * the future is the task's last one outstanding, or if the task gets all other futures immediately afterwards. */
static void get(ns_task *task, ns_future *future) {
    serial_task *self = (serial_task *)(void *)task;
    const bool own = future->task == task && future->done >= self->first_group;
    if (!future->task || !pool_of(self)->recording || (own && future->done < self->group)) return; /* waited for */
    if (!own) give_up(self, NS_ERROR_UNSUPPORTED, "a task gets a future of another; a task graph cannot say so", "");
    if (self->getting && (self->declared || ns_recorder_has_access(&pool_of(self)->recorder))) refuse_early_get(self);
    if (!self->getting) leave_body(self);
    future->task = NULL;
    self->getting = --self->outstanding > 0;
    if (!self->getting) {
        ns_recorder_op(&pool_of(self)->recorder, self->row, NS_OP_WAIT, 0);
        waited(self);
    }
    resume_body(self);
}

static void work(ns_task *task, int64_t picoseconds) {
    serial_task *self = (serial_task *)(void *)task;
    if (picoseconds < 0 || picoseconds > NS_LONGEST_PS - self->declared_ps)
        give_up(self, NS_ERROR_PROGRAM, "the work of a task takes less than no time, or too long", "");
    self->declared = true;
    self->declared_ps += picoseconds;
}

static void refuse(ns_task *task, int error, const char *sentence) {
    give_up((serial_task *)(void *)task, error, sentence, "");
}

static void declare(ns_task *task, const ns_access *access) { record_access((serial_task *)(void *)task, access); }

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Wait until the part has what it needs, and let other parts run during the wait. */
static void wait_for(serial_task *self, enum need need, uint32_t object) {
    run_deferred(self);
    serial_part *waiting = self->part;
    waiting->need = need;
    waiting->word = object;
    waiting->opened = pool_of(self)->words[object].opened;
    if (!can_go_on(pool_of(self), waiting)) ns_serial_pass_on(pool_of(self), waiting);
    waiting->need = NEED_NOTHING;
}

static serial_sync *object_of(const serial_task *self, uint32_t object) { return &pool_of(self)->words[object]; }

static void lock(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *lock = object_of(self, object);
    begin_op(self, NS_OP_LOCK, object);
    wait_for(self, NEED_LOCK, object);
    lock->holder = self;
    lock->acquisitions++;
    self->held++;
    resume_body(self);
}

static void unlock(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *lock = object_of(self, object);
    if (lock->holder != self) {
        give_up(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold",
                pool_of(self)->pool.words[object].name);
    }
    begin_op(self, NS_OP_UNLOCK, object);
    lock->holder = NULL;
    self->held--;
    resume_body(self);
}

static int64_t add(ns_task *task, uint32_t object, int64_t value) {
    serial_task *self = (serial_task *)(void *)task;
    object_of(self, object)->acquisitions++;
    begin_op(self, NS_OP_ATOMIC, object);
    int64_t *counter = &pool_of(self)->pool.words[object].value;
    const int64_t before = *counter;
    *counter = before + value;
    resume_body(self);
    return before;
}

static void arrive(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *barrier = object_of(self, object);
    begin_op(self, NS_OP_BARRIER, object);
    if (++barrier->arrived == pool_of(self)->pool.words[object].parties) {
        barrier->arrived = 0;
        barrier->opened++;
    } else {
        wait_for(self, NEED_OPENING, object);
    }
    resume_body(self);
}

static void await(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *condition = object_of(self, object);
    begin_op(self, NS_OP_AWAIT, object);
    wait_for(self, NEED_PERMIT, object);
    condition->permits--;
    resume_body(self);
}

static void signal(ns_task *task, uint32_t object, uint32_t permits) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *condition = object_of(self, object);
    begin_op(self, permits == 1 ? NS_OP_SIGNAL : NS_OP_BROADCAST, object);
    condition->permits += permits;
    resume_body(self);
}

const ns_task_operations ns_serial_calls = {
    .spawn = spawn,
    .spawn_after = spawn_after,
    .call = call,
    .join = join,
    .get = get,
    .work = work,
    .access = declare,
    .lock = lock,
    .unlock = unlock,
    .add = add,
    .arrive = arrive,
    .await = await,
    .signal = signal,
    .refuse = refuse,
};
