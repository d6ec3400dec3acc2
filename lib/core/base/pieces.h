/* Memory that is taken in pieces, one `calloc` each. All pieces are released together. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of pieces. A record of zeros has no pieces. */
typedef struct {
    void *newest;  /* the pieces are linked, the newest first */
    bool is_short; /* whether there was no memory for some piece */
} ns_pieces;

/* Return memory of zeros for `count` things of `bytes` bytes each, or NULL if there is no memory. */
void *ns_pieces_take(ns_pieces *self, uint64_t count, size_t bytes);

void ns_pieces_release(ns_pieces *self);
