/* seeds MODE PLAN FIRST COUNT: run fib(8) in turns under the plan, with COUNT seeds from FIRST on. Print the sentence
 * of each run that fails, and a sentence for each run with a wrong result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

typedef struct {
    int64_t n, *result;
} fib_call;

static void fib(ns_task *self, void *arguments) {
    const fib_call *f = arguments;
    int64_t a = 0, b = 0;
    if (f->n < 2) {
        *f->result = f->n;
        return;
    }
    ns_spawn(self, fib, &(fib_call){f->n - 1, &a}, sizeof(fib_call));
    ns_spawn(self, fib, &(fib_call){f->n - 2, &b}, sizeof(fib_call));
    ns_join(self);
    *f->result = a + b;
}

int main(int count, char **words) {
    if (count != 5) return 2;
    const uint64_t first = strtoull(words[3], NULL, 10), seeds = strtoull(words[4], NULL, 10);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const enum ns_mode mode = strcmp(words[1], "paced") ? NS_MODE_TURNS : NS_MODE_PACED;
        const ns_pool_options options = {.mode = mode, .plan = words[2], .seed = seed};
        int64_t result = 0;
        ns_pool *pool;
        int error = ns_pool_create(&pool, &options);
        if (!error) error = ns_pool_run(pool, fib, &(fib_call){8, &result}, sizeof(fib_call));
        if (error)
            printf("%s\n", ns_pool_problem(pool));
        else if (result != 21)
            printf("a wrong result (seed %llu)\n", (unsigned long long)seed);
        ns_pool_destroy(pool);
    }
    return 0;
}
