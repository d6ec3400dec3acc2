/* Tasks as programs see them: every call goes to the mode in which the task runs. */
#include "operations.h"

void ns_spawn_slowly(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    self->operations->spawn(self, &order);
}

void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count) {
    const ns_work_order order = {body, arguments, bytes, accesses, count, NULL};
    self->operations->spawn(self, &order);
}

void ns_call_slowly(ns_task *self, ns_body *body, void *arguments) { self->operations->call(self, body, arguments); }

void ns_join_slowly(ns_task *self) { self->operations->join(self); }

void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes, .future = future};
    *future = (ns_future){0};
    self->operations->spawn(self, &order);
}

void ns_future_get(ns_task *self, ns_future *future) { self->operations->get(self, future); }

uint32_t ns_task_worker(const ns_task *self) { return self->worker->id; }

uint32_t ns_task_workers(const ns_task *self) { return self->worker->pool->workers; }

uint32_t ns_task_node(const ns_task *self) { return (uint32_t)self->worker->node; }

void ns_work(ns_task *self, int64_t picoseconds) { self->operations->work(self, picoseconds); }

void ns_access_declare(ns_task *self, const ns_access *access) { self->operations->access(self, access); }

void ns_word_lock(ns_task *self, uint32_t word) { self->operations->lock(self, word); }

void ns_word_unlock(ns_task *self, uint32_t word) { self->operations->unlock(self, word); }

int64_t ns_word_add(ns_task *self, uint32_t word, int64_t value) { return self->operations->add(self, word, value); }

void ns_word_arrive(ns_task *self, uint32_t word) { self->operations->arrive(self, word); }

void ns_word_await(ns_task *self, uint32_t word) { self->operations->await(self, word); }

void ns_word_signal(ns_task *self, uint32_t word) { self->operations->signal(self, word, 1); }

void ns_word_broadcast(ns_task *self, uint32_t word) {
    self->operations->signal(self, word, self->worker->pool->words[word].parties);
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
