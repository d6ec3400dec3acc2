/* The recursive Fibonacci function with one task per call. Nearly all of the time is spent spawning and joining. The
 * tasks are as in numasim/workload/families/fib.py. */
#include "kernels/kernel.h"

typedef struct {
    ns_state_memory memory;
    int64_t n, spawn_ps, leaf_ps, join_ps;
    uint64_t result, twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "20", 0, 50, NULL, "the argument of the function", NS_AT(n)},
    {"spawn_ns", NS_TIME, "50", 0, 1000000000, NULL, "declared for the part of a call before its children",
     NS_AT(spawn_ps)},
    {"leaf_ns", NS_TIME, "100", 0, 1000000000, NULL, "declared for a call of 0 or 1", NS_AT(leaf_ps)},
    {"join_ns", NS_TIME, "50", 0, 1000000000, NULL, "declared for the part of a call behind its children",
     NS_AT(join_ps)},
};

typedef struct {
    const state *of;
    int64_t n;
} call;

NS_TASK(uint64_t, fib, call, c) {
    if (c.n < 2) {
        if (c.of->leaf_ps) ns_work(self, c.of->leaf_ps);
        return (uint64_t)c.n;
    }
    uint64_t a, b;
    if (c.of->spawn_ps) ns_work(self, c.of->spawn_ps);
    fib_spawn(self, &a, (call){c.of, c.n - 1});
    fib_spawn(self, &b, (call){c.of, c.n - 2});
    fib_join(self);
    if (c.of->join_ps) ns_work(self, c.of->join_ps);
    return a + b;
}

static uint64_t serial_fib(int64_t n) { return n < 2 ? (uint64_t)n : serial_fib(n - 1) + serial_fib(n - 2); }

static int run(void *whole, ns_pool *pool) {
    state *self = whole;
    return ns_pool_run(pool, fib, &(fib_order){&self->result, {self, self->n}}, sizeof(fib_order));
}

static void run_twin(void *whole) {
    state *self = whole;
    self->twin = serial_fib(self->n);
}

static bool matches(const void *whole) {
    const state *self = whole;
    return self->result == self->twin;
}

const ns_kernel ns_fib_kernel = {
    .name = "fib",
    .meaning = "the recursive Fibonacci function, a task per call",
    NS_KERNEL_COMMON,
    .run = run,
};
