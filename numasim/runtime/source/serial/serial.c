/* Running serially: depth first, a child at once where it is spawned. Where it is asked for, the task graph is recorded
 * (recorder.h), so that numasim can simulate the very program. In other orders (enum ns_order) the children of a task
 * wait until it joins, as on a deque; but for a child with a future, since others may get it.
 *
 * The parts of a team wait for each other at barriers, conditions and locks, so each runs on a fiber of its own until
 * it has to wait; then the next one that can go on does, in the order of their numbers.
 *
 * What goes wrong inside a task ends the run where it is: the fibers are given up.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/cpu_clock.h"
#include "platform/fiber.h"
#include "platform/ticks.h"
#include "record/recorder.h"
#include "serial/deferred.h"

/* Tasks nest as deeply on a stack as the program recurses. Memory is taken only where a stack is touched. */
static const size_t RUN_STACK_BYTES = (size_t)256 << 20, TEAM_STACK_BYTES = (size_t)8 << 20;
enum { SMALL_ARGUMENTS = 256 };

typedef struct part part;

typedef struct {
    ns_task task;
    part *part;
    uint32_t row;                /* in the recorder */
    uint32_t outstanding;        /* children that it has not waited for */
    uint32_t deferred;           /* those of them that have not begun */
    uint32_t held;               /* locks */
    uint32_t first_group, group; /* children between two waits are a group; numbers are never given twice in a run */
    bool oldest_first;           /* the deferred ones, as they are to begin */
    bool getting;                /* recording: it has got one of several futures, and made no other call since */
    bool declared;               /* the segment under way has work */
    int64_t declared_ps;
    int64_t resumed_ps; /* thread's CPU time when the segment under way began */
} serial_task;

enum need { NEED_NOTHING, NEED_LOCK, NEED_PERMIT, NEED_OPENING, NEED_NO_MORE };

/* What runs on a fiber of its own. */
struct part {
    ns_worker worker;
    ns_fiber *fiber;
    const ns_work_order *order;
    uint32_t root; /* its row */
    enum need need;
    uint32_t word;   /* that it waits for */
    uint64_t opened; /* how often the barrier had opened when it arrived */
    ns_deferred deferred;
    int64_t tasks, work_ps;
};

typedef struct {
    const serial_task *holder; /* of a lock */
    uint32_t arrived;          /* at a barrier */
    uint64_t opened, permits;  /* of a barrier, of a condition */
    int64_t acquisitions;
} word_state;

typedef struct {
    ns_pool pool;
    ns_recorder recorder;
    bool recording, team;
    int64_t clock_cost_ps; /* what reading its clock adds to a segment */
    int64_t took_ps;       /* of all runs */
    word_state *words;     /* [words_known], of the run under way */
    int64_t *acquisitions; /* [words_known], of all runs */
    uint32_t words_known;
    uint32_t groups;
    part *parts; /* [pool.workers] */
    ns_fiber *caller;
    int error;
} serial_pool;

static serial_pool *pool_of(const serial_task *self) { return (serial_pool *)(void *)self->task.worker->pool; }

/* ---- fibers ------------------------------------------------------------------------------------------------------ */

static bool can_go_on(const serial_pool *pool, const part *self) {
    const word_state *word = &pool->words[self->word];
    switch (self->need) {
        case NEED_NOTHING: return true;
        case NEED_LOCK: return !word->holder;
        case NEED_PERMIT: return word->permits > 0;
        case NEED_OPENING: return word->opened > self->opened;
        case NEED_NO_MORE: return false;
    }
    return false;
}

/* Go on with the next part that can, after `self`, or where there is none with the caller. */
static void pass_on(serial_pool *pool, part *self) {
    const uint32_t parts = pool->team ? pool->pool.workers : 1;
    bool all_ended = true;
    for (uint32_t step = 1; step <= parts; step++) {
        part *next = &pool->parts[(self->worker.id + step) % parts];
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

static void run_deferred(serial_task *self);

static void wait_for(serial_task *self, enum need need, uint32_t word) {
    run_deferred(self);
    part *waiting = self->part;
    waiting->need = need;
    waiting->word = word;
    waiting->opened = pool_of(self)->words[word].opened;
    if (!can_go_on(pool_of(self), waiting)) pass_on(pool_of(self), waiting);
    waiting->need = NEED_NOTHING;
}

/* End the run: `problem` is what the program does wrong at `name`. */
static _Noreturn void give_up(serial_task *self, int error, const char *problem, const char *name) {
    serial_pool *pool = pool_of(self);
    pool->error = ns_pool_fail(&pool->pool, error, "%s%s%s%s", problem, *name ? ": '" : "", name, *name ? "'" : "");
    ns_fiber_switch(self->part->fiber, pool->caller);
    abort(); /* nobody goes on with a run that was given up */
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* The body calls: the segment under way ends. */
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

static void resume_body(serial_task *self) {
    const serial_pool *pool = pool_of(self);
    self->declared = false;
    self->declared_ps = 0;
    if (pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED) {
        self->resumed_ps = ns_cpu_ps();
    }
}

static void refuse_early_get(serial_task *self) {
    give_up(self, NS_ERROR_UNSUPPORTED,
            "a task gets one of several futures and goes on before it has got the others; a task graph cannot say so",
            "");
}

/* The body calls, and its next op is this. */
static void begin_op(serial_task *self, enum ns_op code, uint32_t argument) {
    serial_pool *pool = pool_of(self);
    if (self->getting) refuse_early_get(self);
    leave_body(self);
    if (pool->recording) ns_recorder_op(&pool->recorder, self->row, code, argument);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void waited(serial_task *self) {
    self->outstanding = 0;
    self->group = ++pool_of(self)->groups;
}

static void run_body(part *on, uint32_t row, bool oldest_first, ns_body *body, void *arguments) {
    serial_pool *pool = (serial_pool *)(void *)on->worker.pool;
    serial_task self = {.task = {.worker = &on->worker}, .part = on, .row = row, .oldest_first = oldest_first};
    self.task.whole = &self.task;
    self.first_group = self.group = ++pool->groups;
    resume_body(&self);
    body(&self.task, arguments);
    if (self.held) give_up(&self, NS_ERROR_PROGRAM, "a task ends and holds a lock", "");
    run_deferred(&self);
    if (self.outstanding) {
        begin_op(&self, NS_OP_WAIT, 0);
    } else {
        leave_body(&self);
    }
}

/* A body gets a copy of its arguments, of which it may change what it likes. */
static void run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order) {
    _Alignas(max_align_t) char small[SMALL_ARGUMENTS];
    char *copy = order->bytes <= sizeof small ? small : malloc(order->bytes);
    if (!copy) give_up(self, NS_ERROR_MEMORY, "there is no memory for a task's arguments", "");
    if (order->bytes) memcpy(copy, order->arguments, order->bytes);
    run_body(self->part, row, oldest_first, order->body, copy);
    if (copy != small) free(copy);
}

/* All that this task has deferred, which are the newest of its part. Each is gone from there before it begins; in the
 * other direction, all of them once they have ended. */
static void run_deferred(serial_task *self) {
    ns_deferred *waiting = &self->part->deferred;
    const size_t first = waiting->count - self->deferred;
    for (size_t at = 0; at < self->deferred; at++) {
        if (!self->oldest_first) waiting->count--;
        const ns_work_order next = ns_deferred_get(waiting, self->oldest_first ? first + at : waiting->count);
        run_copy(self, 0, false, &next);
    }
    waiting->count = first;
    self->deferred = 0;
}

/* Whether the child of this order begins later. */
static bool defers(const serial_pool *pool, const ns_work_order *order) {
    return pool->pool.options.order != NS_ORDER_SPAWNED && !order->future;
}

static void defer(serial_task *self, const ns_work_order *order) {
    if (!ns_deferred_push(&self->part->deferred, order)) {
        give_up(self, NS_ERROR_MEMORY, "there is no memory for the tasks that wait", "");
    }
    self->deferred++;
}

static void check_access(serial_task *self, const ns_access *access) {
    const ns_pool *pool = &pool_of(self)->pool;
    if (access->object >= pool->object_count) {
        give_up(self, NS_ERROR_PROGRAM, "a task accesses an object that is not registered", "");
    }
    if (!access->mode || access->mode > NS_READ_WRITE || access->pattern > NS_CHASE) {
        give_up(self, NS_ERROR_PROGRAM, "an access has an unknown mode or pattern", pool->objects[access->object].name);
    }
}

static void record_access(serial_task *self, const ns_access *access) {
    check_access(self, access);
    if (pool_of(self)->recording) ns_recorder_access(&pool_of(self)->recorder, access);
}

static void serial_spawn(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    begin_op(self, NS_OP_SPAWN, row);
    for (uint32_t at = 0; at < order->access_count; at++) record_access(self, &order->accesses[at]);
    self->outstanding++;
    self->part->tasks++;
    if (defers(pool, order)) {
        defer(self, order);
    } else {
        run_copy(self, row, false, order);
    }
    if (order->future) *order->future = (ns_future){task, self->group};
    resume_body(self);
}

/* A part of a task that joins by itself is a row of its own in the graph. */
static void serial_call(ns_task *task, ns_body *body, void *arguments) {
    serial_task *self = (serial_task *)(void *)task;
    serial_pool *pool = pool_of(self);
    const uint32_t row = pool->recording ? ns_recorder_task(&pool->recorder) : 0;
    begin_op(self, NS_OP_CALL, row);
    run_body(self->part, row, self->oldest_first, body, arguments);
    resume_body(self);
}

static void serial_join(ns_task *task) {
    serial_task *self = (serial_task *)(void *)task;
    begin_op(self, NS_OP_WAIT, 0);
    run_deferred(self);
    waited(self);
    resume_body(self);
}

/* In a task graph, a task waits for all of its children or for none. So a future is recorded as a wait if it is the
 * last that is outstanding, or if the task gets the others right after it. */
static void serial_get(ns_task *task, ns_future *future) {
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

static void serial_work(ns_task *task, int64_t picoseconds) {
    serial_task *self = (serial_task *)(void *)task;
    self->declared = true;
    self->declared_ps += picoseconds;
}

static void serial_access(ns_task *task, const ns_access *access) {
    record_access((serial_task *)(void *)task, access);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static word_state *word_of(serial_task *self, uint32_t word, enum ns_word_role role) {
    serial_pool *pool = pool_of(self);
    if (word >= pool->words_known) give_up(self, NS_ERROR_PROGRAM, "a task uses a word that there is not", "");
    const ns_word *declared = &pool->pool.words[word];
    if (declared->role != role) give_up(self, NS_ERROR_PROGRAM, "a word is used as what it is not", declared->name);
    return &pool->words[word];
}

static void serial_lock(ns_task *task, uint32_t word) {
    serial_task *self = (serial_task *)(void *)task;
    word_state *lock = word_of(self, word, NS_WORD_LOCK);
    begin_op(self, NS_OP_LOCK, word);
    wait_for(self, NEED_LOCK, word);
    lock->holder = self;
    lock->acquisitions++;
    self->held++;
    resume_body(self);
}

static void serial_unlock(ns_task *task, uint32_t word) {
    serial_task *self = (serial_task *)(void *)task;
    word_state *lock = word_of(self, word, NS_WORD_LOCK);
    if (lock->holder != self) {
        give_up(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold",
                pool_of(self)->pool.words[word].name);
    }
    begin_op(self, NS_OP_UNLOCK, word);
    lock->holder = NULL;
    self->held--;
    resume_body(self);
}

static int64_t serial_add(ns_task *task, uint32_t word, int64_t value) {
    serial_task *self = (serial_task *)(void *)task;
    word_of(self, word, NS_WORD_ATOMIC)->acquisitions++;
    begin_op(self, NS_OP_ATOMIC, word);
    int64_t *counter = &pool_of(self)->pool.words[word].value;
    const int64_t before = *counter;
    *counter = before + value;
    resume_body(self);
    return before;
}

static void serial_arrive(ns_task *task, uint32_t word) {
    serial_task *self = (serial_task *)(void *)task;
    word_state *barrier = word_of(self, word, NS_WORD_BARRIER);
    begin_op(self, NS_OP_BARRIER, word);
    if (++barrier->arrived == pool_of(self)->pool.words[word].parties) {
        barrier->arrived = 0;
        barrier->opened++;
    } else {
        wait_for(self, NEED_OPENING, word);
    }
    resume_body(self);
}

static void serial_await(ns_task *task, uint32_t word) {
    serial_task *self = (serial_task *)(void *)task;
    word_state *condition = word_of(self, word, NS_WORD_CONDITION);
    begin_op(self, NS_OP_AWAIT, word);
    wait_for(self, NEED_PERMIT, word);
    condition->permits--;
    resume_body(self);
}

static void serial_signal(ns_task *task, uint32_t word, uint32_t permits) {
    serial_task *self = (serial_task *)(void *)task;
    word_state *condition = word_of(self, word, NS_WORD_CONDITION);
    begin_op(self, permits == 1 ? NS_OP_SIGNAL : NS_OP_BROADCAST, word);
    condition->permits += permits;
    resume_body(self);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void run_part(void *argument) {
    part *self = argument;
    serial_pool *pool = (serial_pool *)(void *)self->worker.pool;
    serial_task outside = {.task = {.worker = &self->worker}, .part = self};
    outside.task.whole = &outside.task;
    if (!pool->team) self->tasks++;
    run_copy(&outside, self->root, pool->pool.options.order == NS_ORDER_STOLEN, self->order);
    self->need = NEED_NO_MORE;
    pass_on(pool, self);
}

static int know_words(serial_pool *self) {
    const uint32_t count = self->pool.word_count;
    int64_t *acquisitions = realloc(self->acquisitions, ((size_t)count + 1) * sizeof *acquisitions);
    if (acquisitions) self->acquisitions = acquisitions;
    free(self->words);
    self->words = calloc((size_t)count + 1, sizeof *self->words);
    if (!acquisitions || !self->words) return NS_ERROR_MEMORY;
    for (uint32_t at = self->words_known; at < count; at++) acquisitions[at] = 0;
    self->words_known = count;
    return NS_OK;
}

static int start_parts(serial_pool *self, const ns_work_order *order, uint32_t parts) {
    const uint32_t root = self->recording ? ns_recorder_phase(&self->recorder, parts, self->team) : 0;
    const size_t stack_bytes = self->team ? TEAM_STACK_BYTES : RUN_STACK_BYTES;
    for (uint32_t id = 0; id < parts; id++) {
        part *made = &self->parts[id];
        made->order = order;
        made->root = root + id;
        made->need = NEED_NOTHING;
        const int error = ns_fiber_create(&made->fiber, stack_bytes, run_part, made);
        if (error) return ns_pool_fail(&self->pool, error, "there is no memory for the stack of part %u of a team", id);
    }
    return NS_OK;
}

static void stop_parts(serial_pool *self) {
    for (uint32_t id = 0; id < self->pool.workers; id++) {
        ns_fiber_destroy(self->parts[id].fiber);
        self->parts[id].fiber = NULL;
        self->parts[id].deferred.count = 0; /* where a run was given up, some may be left */
    }
    for (uint32_t word = 0; word < self->words_known; word++) {
        self->acquisitions[word] += self->words[word].acquisitions;
    }
}

/* A graph with a run in it that was given up is never written. */
static int write_graph(serial_pool *self) {
    if (!self->recording) return self->error;
    if (self->error) self->recorder.error = self->error;
    return ns_recorder_write(&self->recorder, &self->pool, self->pool.options.record);
}

static int serial_run(ns_pool *pool, const ns_work_order *order, bool team) {
    serial_pool *self = (serial_pool *)(void *)pool;
    self->team = team;
    self->error = know_words(self);
    if (!self->error) self->error = start_parts(self, order, team ? pool->workers : 1);
    if (!self->error) {
        const int64_t begin_ps = ns_monotonic_ps();
        ns_fiber_switch(self->caller, self->parts[0].fiber);
        self->took_ps += ns_monotonic_ps() - begin_ps;
    }
    stop_parts(self);
    return write_graph(self);
}

/* A run takes what its work takes, where that is known; otherwise, what it took. */
static int serial_report(ns_pool *pool, ns_report *report) {
    const serial_pool *self = (const serial_pool *)(void *)pool;
    const int error = ns_report_create(report, pool->workers, 1, self->words_known);
    if (error) return error;
    int64_t work_ps = 0;
    for (uint32_t id = 0; id < pool->workers; id++) {
        report->counters[(size_t)id * NS_COUNTERS + NS_TASKS] = self->parts[id].tasks;
        report->counters[(size_t)id * NS_COUNTERS + NS_WORK_LOCAL_PS] = self->parts[id].work_ps;
        work_ps += self->parts[id].work_ps;
    }
    for (uint32_t word = 0; word < self->words_known; word++) {
        report->words[(size_t)word * NS_WORD_COUNTS] = self->acquisitions[word];
    }
    report->makespan_ps = pool->options.costs == NS_COSTS_MODEL || self->recording ? work_ps : self->took_ps;
    return NS_OK;
}

static void serial_close(ns_pool *pool) {
    serial_pool *self = (serial_pool *)(void *)pool;
    ns_recorder_destroy(&self->recorder);
    ns_fiber_destroy(self->caller);
    free(self->words);
    free(self->acquisitions);
    for (uint32_t id = 0; self->parts && id < self->pool.workers; id++) {
        free(self->parts[id].deferred.task);
        free(self->parts[id].deferred.bytes);
    }
    free(self->parts);
    free(self);
}

/* Nothing is decided when running serially, so a plan is of no use. */
static int serial_open(ns_pool **pool, const ns_pool_options *options, ns_fields *plan) {
    const uint32_t workers = options->workers ? options->workers : 1;
    if (options->record && options->order != NS_ORDER_SPAWNED) return NS_ERROR_OPTION;
    serial_pool *self = calloc(1, sizeof *self);
    if (!self) return NS_ERROR_MEMORY;
    self->pool = (ns_pool){.operations = &ns_serial_mode, .options = *options, .workers = workers};
    self->recording = options->record != NULL;
    ns_recorder_create(&self->recorder);
    self->parts = calloc(workers, sizeof *self->parts);
    const int error = self->parts ? ns_fiber_adopt(&self->caller) : NS_ERROR_MEMORY;
    if (error) {
        serial_close(&self->pool);
        return error;
    }
    for (uint32_t id = 0; id < workers; id++) self->parts[id].worker = (ns_worker){.pool = &self->pool, .id = id};
    if (self->recording && options->costs == NS_COSTS_MEASURED) self->clock_cost_ps = ns_cpu_clock_cost_ps();
    ns_fields_destroy(plan);
    *pool = &self->pool;
    return NS_OK;
}

const ns_operations ns_serial_mode = {
    .open = serial_open,
    .close = serial_close,
    .run = serial_run,
    .spawn = serial_spawn,
    .call = serial_call,
    .join = serial_join,
    .get = serial_get,
    .work = serial_work,
    .access = serial_access,
    .lock = serial_lock,
    .unlock = serial_unlock,
    .add = serial_add,
    .arrive = serial_arrive,
    .await = serial_await,
    .signal = serial_signal,
    .report = serial_report,
};
