/* The LU elimination of BOTS SparseLU: which blocks the matrix has at the start, and which fill in (the same as
 * numasim/workload/algorithms/elimination.py).
 *
 * Blocks that exist at the start lie in one region in row order, those that fill in lie in another in the order of a
 * serial run.
 */
#ifndef NS_ELIMINATION_H
#define NS_ELIMINATION_H

#include <stdbool.h>
#include <stdint.h>

enum ns_block_region { NS_BLOCK_MATRIX, NS_BLOCK_FILL, NS_BLOCK_NONE };

typedef struct {
    uint8_t region; /* enum ns_block_region, in the end */
    int32_t place;  /* in it, in blocks */
    int32_t since;  /* the step that fills it in; -1: it exists at the start */
} ns_block;

typedef struct {
    int64_t blocks;    /* in a row, and rows */
    int64_t counts[2]; /* of blocks in each region */
    ns_block *block;   /* [blocks][blocks] */
} ns_elimination;

int ns_elimination_create(ns_elimination *self, int64_t blocks);
void ns_elimination_destroy(ns_elimination *self);

/* Block (row, column), and whether it exists in step `step`. */
static inline const ns_block *ns_elimination_block(const ns_elimination *self, int64_t row, int64_t column) {
    return &self->block[row * self->blocks + column];
}
static inline bool ns_elimination_has(const ns_elimination *self, int64_t row, int64_t column, int64_t step) {
    const ns_block *block = ns_elimination_block(self, row, column);
    return block->region != NS_BLOCK_NONE && block->since < step;
}

#endif
