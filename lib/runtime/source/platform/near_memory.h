/* Memory near those that use it, where the running system has their node. */
#ifndef NS_NEAR_MEMORY_H
#define NS_NEAR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, at the start of a page, that lies on `node` of the running system where it has such a node, and
 * elsewhere (or for a negative node) on that of the thread which touches it first. NULL where memory is short. */
void *ns_near_memory_allocate(size_t bytes, int32_t node);

/* Free what was allocated with that size. NULL is allowed. */
void ns_near_memory_free(void *memory, size_t bytes);

#endif
