/* Memory of a case: at the same addresses and all zero in every schedule; stands in for source/platform/near_memory.c.
 */
#ifndef NS_ARENA_H
#define NS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forget all that was allocated. */
void ns_arena_clear(void);

bool ns_arena_holds(const void *location);

/* What is allocated, as words. */
const uint64_t *ns_arena_words(size_t *count);

/* Where a location is, for people. */
void ns_arena_describe(const void *location, char *text, size_t bytes);

#endif
