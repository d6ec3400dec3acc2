#include "threads/worker_cpus.h"

#include <stdlib.h>
#include <string.h>

/* The order in which machines number their hardware threads: the first ones of all cores node by node, then the second
 * ones (numasim/machine/topology.py). */
static int by_thread(const void *one, const void *other) {
    const ns_cpu *a = one, *b = other;
    if (a->sibling != b->sibling) return a->sibling < b->sibling ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* The CPUs that are hardware threads `thread` of the plan's machine, if this system has all of them. */
static int find_planned_cpus(const int32_t *thread, uint32_t workers, const ns_topology *here, int32_t *cpu) {
    for (uint32_t id = 0; id < workers; id++) {
        if (thread[id] < 0 || (uint32_t)thread[id] >= here->cpu_count) return NS_OK;
    }
    ns_cpu *ordered = malloc(here->cpu_count * sizeof *ordered);
    if (!ordered) return NS_ERROR_MEMORY;
    memcpy(ordered, here->cpu, here->cpu_count * sizeof *ordered);
    qsort(ordered, here->cpu_count, sizeof *ordered, by_thread);
    for (uint32_t id = 0; id < workers; id++) cpu[id] = (int32_t)ordered[thread[id]].id;
    free(ordered);
    return NS_OK;
}

int ns_thread_choose_cpus(ns_thread_pool *pool, const ns_topology *here, int32_t *cpu) {
    uint64_t count = 0;
    const uint32_t workers = pool->base.workers;
    pool->crowded = workers > here->cpu_count;
    for (uint32_t id = 0; id < workers; id++) cpu[id] = pool->crowded ? -1 : (int32_t)here->cpu[id].id;
    if (!pool->plan || pool->crowded || pool->base.options.mode != NS_MODE_NATIVE) return NS_OK;
    const int32_t *thread = ns_fields_array(pool->plan, "thread", NS_FIELD_I32, &count);
    if (!thread) return NS_OK;
    if (count == workers) return find_planned_cpus(thread, workers, here, cpu);
    return ns_pool_fail(&pool->base, NS_ERROR_FIELD, "thread has %llu entries for %u workers",
                        (unsigned long long)count, workers);
}
