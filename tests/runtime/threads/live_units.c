/* Subtrees behind gates: the largest number of live subtrees that a NUMA node has at the same time (model 4.14).
 *
 * `live_units record FILE` records the task graph. `live_units 0 PLAN` runs on threads, with a plan of this graph in
 * which the tasks at depth 1 are the roots of subtrees. Prints the number of subtrees, and the largest number of live
 * subtrees of a node. */
#include <stdatomic.h>

#include "program.h"

enum { SUBTREES = 24, LEAVES = 6, MOST_NODES = 8 };

static atomic_int live[MOST_NODES], most, begun, leaves;

BODY(leaf) {
    atomic_fetch_add(&leaves, 1);
    for (volatile int turn = 0; turn < 2000; turn++) {
    }
}

BODY(subtree) {
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

BODY(whole) {
    for (int at = 0; at < SUBTREES; at++) ns_spawn(self, subtree, NULL, 0);
    ns_join(self);
}

int main(int count, char **words) {
    ns_pool *pool;
    if (strcmp(words[1], "record"))
        pool = pool_of(count, words);
    else if (ns_pool_create(&pool, &(ns_pool_options){.record = words[2]}))
        return 2;
    run(pool, whole, NULL, 0);
    printf("%d %d\n", begun, most);
    require(leaves == SUBTREES * LEAVES, "all leaves run");
    return finish(pool);
}
