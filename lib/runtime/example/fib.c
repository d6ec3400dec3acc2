/* The smallest program on the task runtime: Fibonacci numbers by their recursive definition, one task for each call.
 *
 *     cc -std=c11 -O2 fib.c $(numasim-runtime --cflags --libs) -o fib
 *     ./fib 30              on all hardware threads, victims drawn at random
 *     ./fib 30 domains.plan by a plan; `numasim strategy compile topology-aware -o domains.plan` writes this plan */
#include <inttypes.h>
#include <numasim/runtime.h>
#include <stdio.h>
#include <stdlib.h>

NS_TASK(uint64_t, fib, uint32_t, n) {
    if (n < 2) return n;
    uint64_t a, b; /* the children store their results here; fib_join waits for both results */
    fib_spawn(self, &a, n - 1);
    fib_spawn(self, &b, n - 2);
    fib_join(self);
    return a + b;
}

int main(int count, char **words) {
    const uint32_t n = count > 1 ? (uint32_t)strtoul(words[1], NULL, 10) : 30;
    const ns_pool_options options = {.mode = NS_MODE_NATIVE, .plan = count > 2 ? words[2] : NULL};
    ns_pool *pool = NULL;
    uint64_t result = 0;

    int error = ns_pool_create(&pool, &options);
    if (!error) error = ns_pool_run(pool, fib, &(fib_order){&result, n}, sizeof(fib_order));
    if (error) fprintf(stderr, "fib: %s\n", pool ? ns_pool_problem(pool) : ns_error_sentence(error));
    if (!error) printf("fib(%" PRIu32 ") = %" PRIu64 "\n", n, result);
    ns_pool_destroy(pool);
    return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
