/* Memory that is taken piece by piece, and given back all at once. */
#ifndef NS_ARENA_H
#define NS_ARENA_H

#include <stddef.h>

typedef struct {
    void *newest; /* of its chunks */
    size_t used, room;
} ns_arena;

/* `bytes` bytes, aligned as those of malloc are, which are not set; NULL where memory is short. */
void *ns_arena_take(ns_arena *self, size_t bytes);

/* Give back all of it; what begins as all zero need not be created. */
void ns_arena_destroy(ns_arena *self);

#endif
