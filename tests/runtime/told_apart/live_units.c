/* Subtrees that come through gates: how many of them a NUMA node has at work at once, at most (model 4.14).
 *
 * Run as `live_units record FILE` for the task graph, and as `live_units run PLAN` on threads, with a plan of that
 * graph in which depth 1 has the roots of subtrees. Prints the number of subtrees, and the most of a node that were
 * live.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "numasim/runtime.h"

enum { SUBTREES = 24, LEAVES = 6, MOST_NODES = 8 };

static atomic_int live[MOST_NODES], most, begun, leaves;

static void leaf(ns_task *self, void *arguments) {
    (void)self, (void)arguments;
    atomic_fetch_add(&leaves, 1);
    for (volatile int turn = 0; turn < 2000; turn++) {
    }
}

static void subtree(ns_task *self, void *arguments) {
    (void)arguments;
    const uint32_t node = ns_task_node(self);
    const int now = atomic_fetch_add(&live[node], 1) + 1;
    int before = atomic_load(&most);
    while (before < now && !atomic_compare_exchange_weak(&most, &before, now)) {
    }
    atomic_fetch_add(&begun, 1);
    for (int at = 0; at < LEAVES; at++) ns_spawn(self, leaf, NULL, 0);
    ns_join(self);
    atomic_fetch_add(&live[node], -1);
}

static void whole(ns_task *self, void *arguments) {
    (void)arguments;
    for (int at = 0; at < SUBTREES; at++) ns_spawn(self, subtree, NULL, 0);
    ns_join(self);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    const bool records = strcmp(arguments[1], "record") == 0;
    const ns_pool_options options = records ? (ns_pool_options){.mode = NS_MODE_SERIAL, .record = arguments[2]}
                                            : (ns_pool_options){.mode = NS_MODE_NATIVE, .plan = arguments[2]};
    ns_pool *pool;
    int error = ns_pool_create(&pool, &options);
    if (!error) error = ns_pool_run(pool, whole, NULL, 0);
    if (error) fprintf(stderr, "%s\n", pool ? ns_pool_problem(pool) : ns_error_sentence(error));
    ns_pool_destroy(pool);
    printf("%d %d\n", begun, most);
    return error || leaves != SUBTREES * LEAVES;
}
