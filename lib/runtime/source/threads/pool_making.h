/* Making a pool of threads, without its threads. */
#ifndef NS_POOL_MAKING_H
#define NS_POOL_MAKING_H

#include "threads/worker.h"

/* All of a pool but its threads: 0 or a negative error code. A pool that is made, even with an error, owns the plan
 * (which may be NULL). `mode` is what its operations are. */
int ns_thread_pool_make(ns_thread_pool **self, const ns_pool_options *options, ns_fields *plan,
                        const ns_pool_operations *mode);
void ns_thread_pool_free(ns_thread_pool *self);

/* What a worker's thread allocates itself, where it runs: 0 or NS_ERROR_MEMORY. */
int ns_thread_worker_settle(ns_thread_worker *worker);

#endif
