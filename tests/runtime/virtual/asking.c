/* Asks for virtual time without a plan, and prints the error and its reason. */
#include <numasim/runtime.h>
#include <stdio.h>

int main(void) {
    ns_pool *pool;
    const int error = ns_pool_create(&pool, &(ns_pool_options){.mode = NS_MODE_VIRTUAL});
    printf("%d %s\n", error, ns_pool_problem(pool));
    return ns_pool_destroy(pool);
}
