#include "execution/measured_calls.h"

#include "execution/execution.h"

void ns_thread_segment_begins(ns_thread_task *task) { ns_thread_notes_of(task)->began = ns_ticks(); }

void ns_thread_segment_ends(ns_thread_task *task) {
    ns_task_notes *notes = ns_thread_notes_of(task);
    ns_thread_worker *worker = ns_thread_worker_of(task);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!notes->began || notes->row == NS_NO_ROW) return;
    const int64_t taken_ps = ns_ticks_to_ps(pool->rate, ns_ticks() - notes->began);
    pool->graph.boundary.task_ps[notes->row] += taken_ps; /* a task is on one worker at a time */
    worker->busy_ps += taken_ps;
    notes->began = 0;
}

/* The call itself. */
static const ns_task_operations *leave(ns_task *self) {
    ns_thread_segment_ends((ns_thread_task *)self);
    return &ns_thread_execution_of((ns_thread_worker *)self->worker)->calls;
}

static void come_back(ns_task *self) { ns_thread_segment_begins((ns_thread_task *)self); }

static void spawn(ns_task *self, const ns_work_order *order) {
    leave(self)->spawn(self, order);
    come_back(self);
}

static void spawn_after(ns_task *self, const ns_work_order *order) {
    leave(self)->spawn_after(self, order);
    come_back(self);
}

static void call(ns_task *self, ns_body *body, void *arguments) {
    leave(self)->call(self, body, arguments);
    come_back(self);
}

static void join(ns_task *self) {
    leave(self)->join(self);
    come_back(self);
}

static void get(ns_task *self, ns_future *future) {
    leave(self)->get(self, future);
    come_back(self);
}

static void work(ns_task *self, int64_t picoseconds) { ns_thread_declare_work(self, picoseconds); }

static void declare(ns_task *self, const ns_access *access) {
    ns_thread_execution_of((ns_thread_worker *)self->worker)->calls.access(self, access);
}

static void lock(ns_task *self, uint32_t word) {
    leave(self)->lock(self, word);
    come_back(self);
}

static void unlock(ns_task *self, uint32_t word) {
    leave(self)->unlock(self, word);
    come_back(self);
}

static int64_t add(ns_task *self, uint32_t word, int64_t value) {
    const int64_t before = leave(self)->add(self, word, value);
    come_back(self);
    return before;
}

static void arrive(ns_task *self, uint32_t word) {
    leave(self)->arrive(self, word);
    come_back(self);
}

static void await(ns_task *self, uint32_t word) {
    leave(self)->await(self, word);
    come_back(self);
}

static void signal(ns_task *self, uint32_t word, uint32_t permits) {
    leave(self)->signal(self, word, permits);
    come_back(self);
}

const ns_task_operations ns_thread_measured_calls = {
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
    .refuse = ns_thread_refuse,
};
