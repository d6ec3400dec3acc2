/* Memory on the node of its users, if the running system has this node. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Allocate zeroed memory, aligned to a page, on `node` of the running system. If `node` is negative or does not exist,
 * each page is on the node of the thread that touches the page first. Return NULL if memory is short. */
void *ns_near_memory_allocate(size_t bytes, int32_t node);

/* Free memory that was allocated with size `bytes`, or NULL. */
void ns_near_memory_free(void *memory, size_t bytes);
