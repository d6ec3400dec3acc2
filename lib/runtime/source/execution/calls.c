/* The functions that tasks call and that are the same for all ways of executing tasks (execution.h): the use of locks,
 * counters, barriers and conditions, and wrappers that measure how long segments (the parts of a task between such
 * calls) take, for the strategy's controller. */
#include <stdio.h>

#include "execution/execution.h"

static ns_thread_worker *worker_of(const ns_task *self) { return (ns_thread_worker *)self->worker; }

static ns_thread_sync *sync_of(const ns_task *self) { return ns_thread_pool_of(worker_of(self))->sync; }

static ns_sync_user *user_of(const ns_task *self) { return &worker_of(self)->sync_user; }

/* Make all tasks of the worker available to other workers, because the worker's thread may sleep now. */
static void share(const ns_task *self) { ns_thread_execution_of(worker_of(self))->share(worker_of(self)); }

/* Ignore the declared time of a segment; but in NS_MODE_PACED, add it to the worker's clock. */
void ns_thread_declare_work(ns_task *self, int64_t picoseconds) { ns_thread_pay(picoseconds, NS_RANK_SEG_END); }

void ns_thread_refuse(ns_task *self, int error, const char *sentence) {
    ns_thread_pool_note(ns_thread_pool_of(worker_of(self)), error, sentence);
}

static void refuse_word(ns_task *self, int error, const char *sentence, uint32_t object) {
    char text[256];
    snprintf(text, sizeof text, "%s: '%s'", sentence, self->worker->pool->words[object].name);
    ns_thread_refuse(self, error, text);
}

static void arrive(ns_task *self, uint32_t object) {
    if (self->worker->pool->words[object].parties > self->worker->pool->workers) {
        refuse_word(self, NS_ERROR_DEADLOCK, "a barrier is for more parties than there are workers", object);
        return;
    }
    share(self);
    ns_thread_sync_arrive(sync_of(self), object, user_of(self));
}

int64_t ns_thread_use(ns_task *self, enum ns_op op, uint32_t object, int64_t value) {
    switch (op) {
        case NS_OP_LOCK:
            if (!ns_thread_sync_lock(sync_of(self), object, user_of(self), self))
                refuse_word(self, NS_ERROR_DEADLOCK, "a task waits for a lock that it holds", object);
            return 0;
        case NS_OP_UNLOCK:
            if (!ns_thread_sync_unlock(sync_of(self), object, user_of(self), self))
                refuse_word(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold", object);
            return 0;
        case NS_OP_ATOMIC: return ns_thread_sync_fetch_add(sync_of(self), object, value);
        case NS_OP_BARRIER: arrive(self, object); return 0;
        case NS_OP_AWAIT:
            share(self);
            ns_thread_sync_await(sync_of(self), object, user_of(self));
            return 0;
        default: ns_thread_sync_signal(sync_of(self), object, (uint32_t)value, user_of(self)); return 0;
    }
}

/* ---- functions that measure -------------------------------------------------------------------------------------- */

void ns_thread_segment_begins(ns_thread_task *task) { ns_thread_notes_of(task)->began = ns_ticks(); }

void ns_thread_segment_ends(ns_thread_task *task) {
    ns_task_notes *notes = ns_thread_notes_of(task);
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!notes->began || notes->row == NS_NO_ROW) return;
    const int64_t taken_ps = ns_ticks_to_ps(pool->rate, ns_ticks() - notes->began);
    pool->graph.boundary.task_ps[notes->row] += taken_ps; /* no atomic addition: a task is on one worker at a time */
    worker->busy_ps += taken_ps;
    notes->began = 0;
}

/* End the running segment of the task. Return the functions of the pool's way of executing tasks. */
static const ns_task_operations *leave(ns_task *self) {
    ns_thread_segment_ends((ns_thread_task *)self);
    return &ns_thread_execution_of(worker_of(self))->calls;
}

#define MEASURED(NAME, PARAMETERS, ...)                   \
    static void measured_##NAME PARAMETERS {              \
        leave(self)->NAME(__VA_ARGS__);                   \
        ns_thread_segment_begins((ns_thread_task *)self); \
    }
MEASURED(spawn, (ns_task * self, const ns_work_order *order), self, order)
MEASURED(spawn_after, (ns_task * self, const ns_work_order *order), self, order)
MEASURED(call, (ns_task * self, ns_body *body, void *arguments), self, body, arguments)
MEASURED(join, (ns_task * self), self)
MEASURED(get, (ns_task * self, ns_future *future), self, future)

static int64_t measured_use(ns_task *self, enum ns_op op, uint32_t word, int64_t value) {
    const int64_t before = leave(self)->use(self, op, word, value);
    ns_thread_segment_begins((ns_thread_task *)self);
    return before;
}

const ns_task_operations ns_thread_measured_calls = {
    .spawn = measured_spawn,
    .spawn_after = measured_spawn_after,
    .call = measured_call,
    .join = measured_join,
    .get = measured_get,
    .work = ns_thread_declare_work,
    .access = ns_thread_touch,
    .use = measured_use,
    .refuse = ns_thread_refuse,
};
