/* The memory of a case: at the same addresses and all zero in every schedule. It replaces the functions of
 * source/platform/near_memory.h. */
#ifndef NS_ARENA_H
#define NS_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Free all memory. */
void ns_arena_clear(void);

bool ns_arena_holds(const void *location);

/* Returns the allocated memory as words. */
const uint64_t *ns_arena_words(size_t *count);

/* Describe a location for people. */
void ns_arena_describe(const void *location, char *text, size_t bytes);

#endif
