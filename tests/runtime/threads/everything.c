/* Runs a program with all features for tasks: futures, loops, long arguments, several joins, calls, teams, words. */
#include "program.h"

enum { LEAVES = 512, ROUNDS = 20, LONG_BYTES = 200, CHILDREN = 40 };

typedef struct {
    int64_t n, *result;
} fib_call;

BODY(fib) {
    const fib_call *f = arguments;
    if (f->n < 2) {
        *f->result = f->n;
        return;
    }
    int64_t a, b;
    ns_spawn(self, fib, &(fib_call){f->n - 1, &a}, sizeof(fib_call));
    ns_call(self, fib, &(fib_call){f->n - 2, &b});
    ns_join(self);
    *f->result = a + b;
}

static void mark(ns_task *self, void *marks, int64_t first, int64_t last) {
    (void)self;
    for (int64_t at = first; at < last; at++) ((uint8_t *)marks)[at]++;
}

typedef struct {
    uint8_t bytes[LONG_BYTES];
    int64_t *sum;
} long_call;

BODY(add_up) {
    const long_call *call = arguments;
    *call->sum = 0;
    for (int at = 0; at < LONG_BYTES; at++) *call->sum += call->bytes[at];
}

static void spawn_long(ns_task *self) {
    int64_t sums[CHILDREN], total = 0;
    for (int child = 0; child < CHILDREN; child++) {
        long_call call = {.sum = &sums[child]};
        memset(call.bytes, child, sizeof call.bytes);
        ns_spawn(self, add_up, &call, sizeof call);
    }
    ns_join(self);
    for (int child = 0; child < CHILDREN; child++) total += sums[child];
    require(total == (int64_t)LONG_BYTES * CHILDREN * (CHILDREN - 1) / 2, "long arguments");
}

static void await_futures(ns_task *self) {
    ns_future futures[CHILDREN];
    int64_t results[CHILDREN];
    for (int child = 0; child < CHILDREN; child++) {
        const fib_call call = {child % 10, &results[child]};
        ns_future_spawn(self, &futures[child], fib, &call, sizeof call);
    }
    static const int64_t FIB[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    for (int child = CHILDREN - 1; child >= 0; child--) {
        ns_future_get(self, &futures[child]);
        require(results[child] == FIB[child % 10], "a future");
    }
    ns_join(self);
}

BODY(everything) {
    uint8_t marks[LEAVES] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int64_t result;
        ns_spawn(self, fib, &(fib_call){11, &result}, sizeof(fib_call));
        spawn_long(self);
        await_futures(self);
        ns_parallel_for(self, 0, LEAVES, 3, mark, marks);
        ns_join(self);
        require(result == 89, "fib(11) is 89");
    }
    for (int at = 0; at < LEAVES; at++) require(marks[at] == ROUNDS, "a loop visits every index once");
}

typedef struct {
    uint32_t lock, barrier, condition, counter;
    int64_t *under_lock, *seen;
} team_call;

BODY(in_team) {
    const team_call *call = arguments;
    for (int round = 0; round < ROUNDS; round++) {
        ns_word_lock(self, call->lock);
        ++*call->under_lock;
        ns_word_unlock(self, call->lock);
        ns_word_add(self, call->counter, 2);
        ns_word_arrive(self, call->barrier);
        require(*call->under_lock == (int64_t)(round + 1) * ns_task_workers(self), "a barrier holds back");
        ns_word_arrive(self, call->barrier);
    }
    if (ns_task_worker(self) == 0) {
        ns_word_broadcast(self, call->condition);
        *call->seen = ns_word_add(self, call->counter, 0);
    }
    ns_word_await(self, call->condition);
}

static void run_team(ns_pool *pool, uint32_t workers) {
    int64_t under_lock = 0, seen = 0;
    const team_call call = {
        (uint32_t)ns_word_create(pool, "lock", NS_WORD_LOCK, 0, 1),
        (uint32_t)ns_word_create(pool, "barrier", NS_WORD_BARRIER, 0, workers),
        (uint32_t)ns_word_create(pool, "condition", NS_WORD_CONDITION, 0, workers),
        (uint32_t)ns_word_create(pool, "counter", NS_WORD_ATOMIC, 0, 1),
        &under_lock,
        &seen,
    };
    team(pool, in_team, &call, sizeof call);
    require(seen == (int64_t)2 * ROUNDS * workers, "an atomic word counts all");
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    run(pool, everything, NULL, 0);
    run(pool, everything, NULL, 0);
    run_team(pool, (uint32_t)atoi(words[1]));
    return finish(pool);
}
