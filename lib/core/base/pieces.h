/* Memory that is taken in pieces and released all at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: no pieces. */
typedef struct {
    void *newest;  /* the pieces are linked, the newest first */
    bool is_short; /* whether memory for a piece was short */
} ns_pieces;

/* Return memory for `count` things of `bytes` bytes each, all zero; NULL if there is no memory. */
void *ns_pieces_take(ns_pieces *self, uint64_t count, size_t bytes);

void ns_pieces_release(ns_pieces *self);
