/* Pools that cannot be made: whatever the caller's pointer was, it is NULL afterwards, or a pool that can be asked why.
 *
 * Run as `refused_pools PLAN...`, files that are not there or not sound; prints an error code, and why, a line.
 */
#include <stdint.h>
#include <stdio.h>

#include "numasim/runtime.h"

static const enum ns_mode MODES[] = {NS_MODE_SERIAL, NS_MODE_NATIVE, NS_MODE_EMULATED, NS_MODE_VIRTUAL,
                                     (enum ns_mode)99};

static void refuse(enum ns_mode mode, const char *plan) {
    ns_pool *pool = (ns_pool *)(uintptr_t)64; /* what an uninitialised pointer may be */
    const int error = ns_pool_create(&pool, &(ns_pool_options){.mode = mode, .plan = plan});
    printf("%d %s\n", error, pool ? ns_pool_problem(pool) : "");
    ns_pool_destroy(pool);
}

int main(int count, char **plans) {
    for (size_t mode = 0; mode < sizeof MODES / sizeof *MODES; mode++) {
        for (int plan = 1; plan < count; plan++) refuse(MODES[mode], plans[plan]);
    }
    return 0;
}
