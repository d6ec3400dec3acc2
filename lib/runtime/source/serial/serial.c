/* The serial mode runs a program depth first, each child at its spawn. With the option `record`, a run also records the
 * task graph (recorder.h), so that numasim can simulate the program. With orders other than NS_ORDER_SPAWNED, children
 * are deferred: they begin at the task's next join or wait, or at its end, newest or oldest first, as on a worker's
 * deque. Children with futures or dependences still begin at their spawn.
 *
 * A part is what one worker runs of a team (ns_pool_team), or a run without a team. Parts wait for each other at
 * barriers, conditions and locks. So each part has a fiber (a stack of its own), and runs until it has to wait. Then
 * the next part that can proceed runs, in the order of the parts' numbers. An error in a task ends the run at once, and
 * the fibers are not resumed. */
#include <stdlib.h>
#include <string.h>

#include "api/operations.h"
#include "dependences/dependences.h"
#include "platform/fiber.h"
#include "platform/ticks.h"
#include "record/recorder.h"

typedef struct serial_part serial_part;

typedef struct {
    ns_task task;
    serial_part *part;
    uint32_t row;         /* the task's row in the recorder */
    uint32_t outstanding; /* children that the task has not joined */
    uint32_t deferred;    /* outstanding children that have not begun */
    uint32_t held;        /* number of locks that the task holds */
    /* The children spawned between two waits (joins, or gets of all futures) form a group; in the whole pool no two
     * groups have the same number. */
    uint32_t first_group, group; /* numbers of the task's first group and of its present group */
    bool oldest_first;           /* the order in which deferred children begin */
    bool getting;                /* when recording: the last call was a get of one of several outstanding futures */
    bool declared;               /* whether the task has declared work (ns_work) in this segment */
    int64_t declared_ps;
    int64_t resumed_ps; /* the thread's CPU time when the segment began */
} serial_task;

/* What a part waits for: a lock, a signal of a condition, the opening of a barrier. NO_MORE: the part has ended. */
enum need { NEED_NOTHING, NEED_LOCK, NEED_PERMIT, NEED_OPENING, NEED_NO_MORE };

/* A spawned task that has not begun. */
typedef struct {
    ns_body *body;
    size_t begin, bytes; /* the place of its arguments in ns_deferred.bytes */
} ns_deferred_task;

/* The deferred tasks of a part. */
typedef struct {
    ns_deferred_task *task; /* [count] the oldest first */
    char *bytes;            /* the arguments of all tasks, one after the other */
    size_t count, task_room, byte_room;
} ns_deferred;

/* A part. */
struct serial_part {
    ns_worker worker;
    ns_fiber *fiber;
    const ns_work_order *order;
    uint32_t root; /* the row of the part's root */
    enum need need;
    uint32_t word;   /* the synchronisation object that the part waits for */
    uint64_t opened; /* how often the barrier had opened when the part arrived */
    ns_deferred deferred;
    int64_t tasks, work_ps;
};

typedef struct {
    const serial_task *holder; /* the holder of a lock */
    uint32_t arrived;          /* tasks that have arrived at a barrier */
    uint64_t opened, permits;  /* how often a barrier has opened; stored signals of a condition */
    int64_t acquisitions;
} serial_sync;

typedef struct {
    ns_pool pool;
    ns_recorder recorder;
    bool recording, team;
    int64_t clock_cost_ps; /* the time that reading the clock adds to a segment */
    int64_t took_ps;       /* the time of all runs */
    serial_sync *words;    /* [words_known] synchronisation objects in this run */
    int64_t *acquisitions; /* [words_known] numbers of uses of locks and counters in all runs that have ended */
    uint32_t words_known;
    uint32_t groups;    /* number of groups so far */
    serial_part *parts; /* [pool.workers] */
    ns_fiber *caller;
    int error;
} serial_pool;

static serial_pool *pool_of(const serial_task *self) { return (serial_pool *)(void *)self->task.worker->pool; }

/* ---- switches between parts -------------------------------------------------------------------------------------- */

/* Return whether the part can proceed. */
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
static void pass_on(serial_pool *pool, serial_part *self) {
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
                                   "run serially, all tasks that are left wait for locks, barriers or conditions");
    }
    ns_fiber_switch(self->fiber, pool->caller);
}

/* End the run with this error. `name` is the name of the object that was used wrongly, or empty. */
static _Noreturn void give_up(serial_task *self, int error, const char *problem, const char *name) {
    serial_pool *pool = pool_of(self);
    pool->error = ns_pool_fail(&pool->pool, error, "%s%s%s%s", problem, *name ? ": '" : "", name, *name ? "'" : "");
    ns_fiber_switch(self->part->fiber, pool->caller);
    abort(); /* unreachable: no part of an aborted run is resumed */
}

/* ---- segments: the work of a body between two calls of the library, measured or declared ------------------------- */

/* End the running segment: the body has called the library. */
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

/* Begin a segment: the library returns to the body. */
static void resume_body(serial_task *self) {
    const serial_pool *pool = pool_of(self);
    self->declared = false;
    self->declared_ps = 0;
    if (pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED) self->resumed_ps = ns_cpu_ps();
}

/* Refuse a task that has got one of several futures, and makes another call before it gets the other futures. */
static _Noreturn void refuse_early_get(serial_task *self) {
    give_up(self, NS_ERROR_UNSUPPORTED,
            "a task gets one of several futures and goes on before it has got the others; a task graph cannot say this",
            "");
}

/* Note that the body calls the library: end its segment, and record the call as the next op of its row. */
static void begin_op(serial_task *self, enum ns_op code, uint32_t argument) {
    serial_pool *pool = pool_of(self);
    if (self->getting) refuse_early_get(self);
    leave_body(self);
    if (pool->recording) ns_recorder_op(&pool->recorder, self->row, code, argument);
}

/* ---- tasks that have not begun ----------------------------------------------------------------------------------- */

/* Enlarge the array `entries` to at least `needed` entries. Return the array; or NULL, without a change, if memory is
 * short. */
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

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

enum { SMALL_ARGUMENTS = 256 }; /* bytes; copies up to this size are on the stack */

/* Note that all children of a task have ended, by a join or by gets of all futures. */
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
    if (self.outstanding)
        begin_op(&self, NS_OP_WAIT, 0);
    else
        leave_body(&self);
}

/* Run the body of an order as row `row` of the graph, with a copy of the arguments, which the body may change. */
static void run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order) {
    _Alignas(max_align_t) char small[SMALL_ARGUMENTS];
    char *copy = order->bytes <= sizeof small ? small : malloc(order->bytes);
    if (!copy) give_up(self, NS_ERROR_MEMORY, "there is no memory for a task's arguments", "");
    if (order->bytes) memcpy(copy, order->arguments, order->bytes);
    run_body(self->part, row, oldest_first, order->body, copy);
    if (copy != small) free(copy);
}

/* Run all children that this task has deferred, the newest of the part's deferred tasks. If the newest child is first,
 * each child leaves the list before it begins; if the oldest is first, all leave the list when the last has ended. */
static void run_deferred(serial_task *self) {
    ns_deferred *waiting = &self->part->deferred;
    const size_t first = waiting->count - self->deferred;
    for (size_t at = 0; at < self->deferred; at++) {
        if (!self->oldest_first) waiting->count--;
        const ns_deferred_task *task = &waiting->task[self->oldest_first ? first + at : waiting->count];
        const ns_work_order next = {
            .body = task->body, .arguments = waiting->bytes + task->begin, .bytes = task->bytes};
        run_copy(self, 0, false, &next);
    }
    waiting->count = first;
    self->deferred = 0;
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
    if (pool->pool.options.order == NS_ORDER_SPAWNED || order->future || order->dependence_count)
        run_copy(self, row, false, order);
    else if (push_deferred(&self->part->deferred, order))
        self->deferred++;
    else
        give_up(self, NS_ERROR_MEMORY, "there is no memory for the tasks that wait", "");
    if (order->future) *order->future = (ns_future){task, self->group};
    resume_body(self);
}

/* Record for which siblings a child would have to wait in a parallel run. (In this run they have ended already.) */
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
    ns_dependent *const *before = known->before.entries;
    for (uint64_t at = 0; at < known->before.count; at++) ns_recorder_dependence(recorder, made->row, before[at]->row);
}

static void spawn_after(ns_task *task, const ns_work_order *order) {
    serial_task *self = (serial_task *)(void *)task;
    if (pool_of(self)->recording) record_dependences(self, order);
    spawn(task, order);
}

/* Run a call, which has children and joins of its own, and a row of its own in the graph. */
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

/* Get a future. In a task graph, a task waits for all of its children or for none. So gets are recorded only if a task
 * gets all of its outstanding children one after the other; the last of these gets is recorded as a wait. */
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
        give_up(self, NS_ERROR_PROGRAM, "the declared time of a segment is negative or too long", "");
    self->declared = true;
    self->declared_ps += picoseconds;
}

static void refuse(ns_task *task, int error, const char *sentence) {
    give_up((serial_task *)(void *)task, error, sentence, "");
}

static void declare(ns_task *task, const ns_access *access) { record_access((serial_task *)(void *)task, access); }

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Wait until the part has what `need` says, and let other parts run during the wait. */
static void wait_for(serial_task *self, enum need need, uint32_t object) {
    run_deferred(self);
    serial_part *waiting = self->part;
    waiting->need = need;
    waiting->word = object;
    waiting->opened = pool_of(self)->words[object].opened;
    if (!can_go_on(pool_of(self), waiting)) pass_on(pool_of(self), waiting);
    waiting->need = NEED_NOTHING;
}

static void unlock(serial_task *self, uint32_t object) {
    serial_sync *lock = &pool_of(self)->words[object];
    if (lock->holder != self) {
        give_up(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold",
                pool_of(self)->pool.words[object].name);
    }
    begin_op(self, NS_OP_UNLOCK, object);
    lock->holder = NULL;
    self->held--;
}

static int64_t use(ns_task *task, enum ns_op op, uint32_t object, int64_t value) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *used = &pool_of(self)->words[object];
    ns_word *word = &pool_of(self)->pool.words[object];
    const int64_t before = word->value;
    if (op != NS_OP_UNLOCK) begin_op(self, op == NS_OP_BROADCAST && value == 1 ? NS_OP_SIGNAL : op, object);
    switch (op) {
        case NS_OP_LOCK:
            wait_for(self, NEED_LOCK, object);
            used->holder = self;
            used->acquisitions++;
            self->held++;
            break;
        case NS_OP_UNLOCK: unlock(self, object); break;
        case NS_OP_ATOMIC:
            used->acquisitions++;
            word->value += value;
            break;
        case NS_OP_BARRIER:
            if (++used->arrived == word->parties) {
                used->arrived = 0;
                used->opened++;
            } else {
                wait_for(self, NEED_OPENING, object);
            }
            break;
        case NS_OP_AWAIT:
            wait_for(self, NEED_PERMIT, object);
            used->permits--;
            break;
        default: used->permits += (uint64_t)value;
    }
    resume_body(self);
    return before;
}

static const ns_task_operations CALLS = {NS_MODE_CALLS(spawn_after)};

/* ---- pools ------------------------------------------------------------------------------------------------------- */

/* Sizes of stacks. Tasks nest as deeply as the program recurses. Only touched pages take memory. */
static const size_t RUN_STACK_BYTES = (size_t)256 << 20, TEAM_STACK_BYTES = (size_t)8 << 20;

static void run_part(void *argument) {
    serial_part *self = argument;
    serial_pool *pool = (serial_pool *)(void *)self->worker.pool;
    serial_task outside = {.task = {.worker = &self->worker}, .part = self};
    outside.task.whole = &outside.task;
    if (!pool->team) self->tasks++;
    run_copy(&outside, self->root, pool->pool.options.order == NS_ORDER_STOLEN, self->order);
    self->need = NEED_NO_MORE;
    pass_on(pool, self);
}

static int know_objects(serial_pool *self) {
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
        serial_part *made = &self->parts[id];
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
        self->parts[id].deferred.count = 0; /* an aborted run may have left some tasks */
    }
    for (uint32_t word = 0; word < self->words_known; word++) {
        self->acquisitions[word] += self->words[word].acquisitions;
    }
}

/* Write the recorded graph, unless a run was aborted. */
static int write_graph(serial_pool *self) {
    if (!self->recording) return self->error;
    if (self->error) self->recorder.error = self->error;
    return ns_recorder_write(&self->recorder, &self->pool, self->pool.options.record);
}

static int serial_run(ns_pool *pool, const ns_work_order *order, bool team) {
    serial_pool *self = (serial_pool *)(void *)pool;
    self->team = team;
    self->error = know_objects(self);
    if (!self->error) self->error = start_parts(self, order, team ? pool->workers : 1);
    if (!self->error) {
        const int64_t begin_ps = ns_monotonic_ps();
        ns_fiber_adopt_again(self->caller);
        ns_fiber_switch(self->caller, self->parts[0].fiber);
        self->took_ps += ns_monotonic_ps() - begin_ps;
    }
    stop_parts(self);
    return write_graph(self);
}

/* Fill the report. The makespan is the work of all tasks if this work is known, else the time of all runs. */
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
        report->words[(size_t)word * NS_SYNC_COUNTS] = self->acquisitions[word];
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

/* Open a pool. A plan is not needed, since a serial run makes no decisions. */
static int serial_open(ns_pool **pool, const ns_pool_options *options, ns_fields *plan) {
    const uint32_t workers = options->workers ? options->workers : 1;
    if (options->record && options->order != NS_ORDER_SPAWNED) return NS_ERROR_OPTION;
    serial_pool *self = calloc(1, sizeof *self);
    if (!self) return NS_ERROR_MEMORY;
    self->pool = (ns_pool){.mode = &ns_serial_mode, .tasks = &CALLS, .options = *options, .workers = workers};
    self->recording = options->record != NULL;
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

const ns_pool_operations ns_serial_mode = {
    .open = serial_open,
    .close = serial_close,
    .run = serial_run,
    .report = serial_report,
};
