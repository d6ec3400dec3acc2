/* Pools and runs in which the n-th request for memory fails, for every n in turn: each ends with an error code and one
 * sentence, and frees what it holds.
 *
 * Run as `failing_allocations MODE PLAN`, where a dash is no plan; a plan in virtual time is also run. Prints how many
 * requests were let fail, and what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"
#include "graph_program.h"
#include "numasim/runtime.h"

static int problems;

static void complain(int64_t nth, const char *what, int error) {
    printf("request %lld: %s (%d)\n", (long long)nth, what, error);
    problems++;
}

static int run_graph(ns_pool *pool) {
    ns_graph_program *program = NULL;
    int error = ns_graph_program_create(&program, pool, (ns_graph_delay){0});
    if (!error) error = ns_graph_program_run(program);
    ns_graph_program_destroy(program);
    return error;
}

static void add(ns_task *self, void *arguments) {
    int *depth = arguments, less = *depth - 1;
    char large[64] = {0};
    (void)large;
    if (less < 0) return;
    ns_spawn(self, add, &less, sizeof less);
    ns_spawn(self, add, &less, sizeof less);
    ns_join(self);
}

static int run_tree(ns_pool *pool) {
    int depth = 4;
    return ns_pool_run(pool, add, &depth, sizeof depth);
}

/* Whether the request number `nth` came up. */
static bool attempt(const ns_pool_options *options, int64_t nth) {
    ns_pool *pool = NULL;
    fail_request(nth);
    int error = ns_pool_create(&pool, options);
    if (!error && options->mode == NS_MODE_VIRTUAL) error = run_graph(pool);
    if (!error && options->mode == NS_MODE_SERIAL) error = run_tree(pool);
    const bool failed = request_has_failed();
    fail_request(0);
    if (!failed && error) complain(nth, pool ? ns_pool_problem(pool) : "no pool", error);
    if (error && error != NS_ERROR_MEMORY && error != NS_ERROR_THREAD) complain(nth, "another error", error);
    if (error && strlen(ns_error_sentence(error)) < 10) complain(nth, "no sentence", error);
    if (error && pool && !ns_pool_problem(pool)[0]) complain(nth, "a pool that cannot say why", error);
    if (!error && !pool) complain(nth, "neither an error nor a pool", error);
    ns_pool_destroy(pool);
    return failed;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    const enum ns_mode mode = (enum ns_mode)atoi(arguments[1]);
    const char *plan = strcmp(arguments[2], "-") == 0 ? NULL : arguments[2];
    const ns_pool_options options = {.mode = mode,
                                     .plan = plan,
                                     .workers = plan ? 0 : 3,
                                     .graph = mode == NS_MODE_VIRTUAL ? NS_GRAPH_IS_PROGRAM : NS_GRAPH_RECORDED};
    int64_t nth = 1;
    while (attempt(&options, nth)) nth++;
    printf("%lld requests\n", (long long)(nth - 1));
    return problems ? 1 : 0;
}
