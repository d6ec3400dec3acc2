/* Blocks of zeroed memory that are allocated one by one, each by `calloc`, and freed together. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of blocks. A record of zeros is an empty list. */
typedef struct {
    void *newest;  /* the block that was allocated last; each block links to the block before */
    bool is_short; /* whether some allocation has failed */
} ns_pieces;

/* Allocate zeroed memory for `count` things of `bytes` bytes each. Returns NULL, and sets `is_short`, if this fails. */
void *ns_pieces_take(ns_pieces *self, uint64_t count, size_t bytes);

/* Free all blocks. The list is empty then. */
void ns_pieces_release(ns_pieces *self);
