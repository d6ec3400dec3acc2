#include "threads/memory_accesses.h"

#include <string.h>

#include "threads/worker.h"

void ns_thread_touch(ns_task *self, const ns_access *access) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->emulation.is_on || access->pattern > NS_CHASE) return;
    int64_t *bytes = worker->search.bytes;
    memset(bytes, 0, pool->tables.steal.nodes * sizeof *bytes);
    ns_object_homes_find(pool->homes, access, worker->base.node, bytes);
#if NUMASIM_COUNTERS
    for (uint32_t home = 0; home < pool->tables.steal.nodes; home++) worker->node_bytes[home] += bytes[home];
#endif
    const enum ns_access_pattern pattern = access->pattern;
    const int64_t extra_ps = ns_emulation_access(&pool->emulation, worker->base.node, pattern, bytes);
    ns_thread_count(worker, NS_INFLATION_NUMA_PS, extra_ps);
}
