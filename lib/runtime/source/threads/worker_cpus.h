/* Which CPU each worker of a pool is pinned to. */
#ifndef NS_WORKER_CPUS_H
#define NS_WORKER_CPUS_H

#include "numasim/topology.h"
#include "threads/worker.h"

/* Set `cpu` [workers], and whether the pool is crowded: a worker's hardware thread in the plan's machine where this
 * system may be that machine, else the i-th that the process may use; -1 where there are more workers than these.
 * 0, NS_ERROR_MEMORY or NS_ERROR_FIELD. */
int ns_thread_choose_cpus(ns_thread_pool *pool, const ns_topology *here, int32_t *cpu);

#endif
