/* Tasks as programs see them: every call goes to the mode in which the task runs. */
#include "api/operations.h"
#include "queues/lane.h"

/* The task that the mode knows: the program may stand in a part of it. */
static ns_task *whole_of(const ns_task *self) { return self->whole ? self->whole : (ns_task *)(uintptr_t)self; }

static const ns_task_operations *operations_of(const ns_task *self) { return self->worker->pool->tasks; }

void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    if (!self->whole && bytes <= NS_INLINED_BYTES && ns_lane_pushes(self)) {
        ns_lane_settle(self);
        ns_lane_fill(ns_lane_top_of(self), body, arguments, bytes);
        ns_lane_move_top(self, self->children + 1);
        return;
    }
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    operations_of(self)->spawn(whole_of(self), &order);
}

void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count) {
    const ns_work_order order = {
        .body = body, .arguments = arguments, .bytes = bytes, .accesses = accesses, .access_count = count};
    operations_of(self)->spawn(whole_of(self), &order);
}

void ns_spawn_after(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_dependence *dependences,
                    uint32_t count) {
    const ns_work_order order = {
        .body = body, .arguments = arguments, .bytes = bytes, .dependences = dependences, .dependence_count = count};
    operations_of(self)->spawn_after(whole_of(self), &order);
}

void ns_call(ns_task *self, ns_body *body, void *arguments) {
    operations_of(self)->call(whole_of(self), body, arguments);
}

void ns_join(ns_task *self) { operations_of(self)->join(whole_of(self)); }

void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes, .future = future};
    *future = (ns_future){0};
    operations_of(self)->spawn(whole_of(self), &order);
}

void ns_future_get(ns_task *self, ns_future *future) { operations_of(self)->get(whole_of(self), future); }

uint32_t ns_task_worker(const ns_task *self) { return whole_of(self)->worker->id; }

uint32_t ns_task_workers(const ns_task *self) { return self->worker->pool->workers; }

uint32_t ns_task_node(const ns_task *self) { return (uint32_t)whole_of(self)->worker->node; }

void ns_work_said(ns_task *self, int64_t picoseconds) { operations_of(self)->work(whole_of(self), picoseconds); }

void ns_access_declare(ns_task *self, const ns_access *access) { operations_of(self)->access(whole_of(self), access); }

void ns_word_lock(ns_task *self, uint32_t word) { operations_of(self)->lock(whole_of(self), word); }

void ns_word_unlock(ns_task *self, uint32_t word) { operations_of(self)->unlock(whole_of(self), word); }

int64_t ns_word_add(ns_task *self, uint32_t word, int64_t value) {
    return operations_of(self)->add(whole_of(self), word, value);
}

void ns_word_arrive(ns_task *self, uint32_t word) { operations_of(self)->arrive(whole_of(self), word); }

void ns_word_await(ns_task *self, uint32_t word) { operations_of(self)->await(whole_of(self), word); }

void ns_word_signal(ns_task *self, uint32_t word) { operations_of(self)->signal(whole_of(self), word, 1); }

void ns_word_broadcast(ns_task *self, uint32_t word) {
    operations_of(self)->signal(whole_of(self), word, self->worker->pool->words[word].parties);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t begin, end, grain;
    ns_loop_body *body;
    void *arguments;
} loop;

static void run_loop(ns_task *self, void *arguments) {
    const loop *whole = arguments;
    loop rest = *whole;
    while (rest.end - rest.begin > rest.grain) {
        const int64_t middle = rest.begin + (rest.end - rest.begin) / 2;
        const loop right = {middle, rest.end, rest.grain, rest.body, rest.arguments};
        ns_spawn(self, run_loop, &right, sizeof right);
        rest.end = middle;
    }
    if (rest.begin < rest.end) rest.body(self, rest.arguments, rest.begin, rest.end);
    ns_join(self);
}

void ns_parallel_for(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_loop_body *body, void *arguments) {
    run_loop(self, &(loop){begin, end, grain > 0 ? grain : 1, body, arguments});
}
