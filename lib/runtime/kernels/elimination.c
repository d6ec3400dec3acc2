#include "kernels/elimination.h"

#include <stdlib.h>

#include "numasim/runtime.h"

/* Three diagonals; elsewhere even rows and columns only, and of those every third row right of the diagonal and every
 * third column below it. */
static bool exists_at_first(int64_t row, int64_t column) {
    const int64_t distance = row < column ? column - row : row - column, smaller = row < column ? row : column;
    return distance <= 1 || (row % 2 == 0 && column % 2 == 0 && smaller % 3 == 0);
}

static void add(ns_elimination *self, int64_t row, int64_t column, enum ns_block_region region, int64_t since) {
    self->block[row * self->blocks + column] =
        (ns_block){(uint8_t)region, (int32_t)self->counts[region]++, (int32_t)since};
}

static void fill_in(ns_elimination *self, int64_t step) {
    for (int64_t row = step + 1; row < self->blocks; row++) {
        if (!ns_elimination_has(self, row, step, step)) continue;
        for (int64_t column = step + 1; column < self->blocks; column++) {
            const bool updated = ns_elimination_has(self, step, column, step);
            const bool missing = ns_elimination_block(self, row, column)->region == NS_BLOCK_NONE;
            if (updated && missing) add(self, row, column, NS_BLOCK_FILL, step);
        }
    }
}

int ns_elimination_create(ns_elimination *self, int64_t blocks) {
    *self = (ns_elimination){.blocks = blocks, .block = malloc((size_t)(blocks * blocks) * sizeof(ns_block))};
    if (!self->block) return NS_ERROR_MEMORY;
    for (int64_t row = 0; row < blocks; row++) {
        for (int64_t column = 0; column < blocks; column++) {
            self->block[row * blocks + column] = (ns_block){.region = NS_BLOCK_NONE};
            if (exists_at_first(row, column)) add(self, row, column, NS_BLOCK_MATRIX, -1);
        }
    }
    for (int64_t step = 0; step < blocks; step++) fill_in(self, step);
    return NS_OK;
}

void ns_elimination_destroy(ns_elimination *self) { free(self->block); }
