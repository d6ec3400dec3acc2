/* Memory on the node of its users, if the running system has that node. */
#ifndef NS_NEAR_MEMORY_H
#define NS_NEAR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Allocate zeroed memory at the start of a page, on `node` of the running system. For a negative node and for a node
 * that the system lacks, the memory lies on the node of the thread that touches the memory first. Returns NULL if
 * memory is short. */
void *ns_near_memory_allocate(size_t bytes, int32_t node);

/* Free memory that was allocated with that size, or NULL. */
void ns_near_memory_free(void *memory, size_t bytes);

#endif
