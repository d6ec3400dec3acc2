/* The Cholesky factorisation of a matrix in tiles. Each task declares the tiles that it reads and writes. Only these
 * declarations order the tasks. The program reads like a serial program, and its tasks run in parallel as far as the
 * data allow.
 *
 *     cc -std=c11 -O2 cholesky.c $(numasim-runtime --cflags --libs) -lm -o cholesky
 *     ./cholesky 20 64      20 by 20 tiles of 64 by 64 numbers
 */
#include <math.h>
#include <numasim/runtime.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int tiles, size;
    double **tile; /* [tiles * tiles]; only tiles on and below the diagonal exist */
} matrix;

static double *at(const matrix *m, int row, int column) { return m->tile[row * m->tiles + column]; }

/* Replace the diagonal tile by its Cholesky factor. */
NS_TASK(int, factor, double *, tile, int, size) {
    (void)self;
    for (int j = 0; j < size; j++) {
        for (int i = j; i < size; i++) {
            double sum = tile[i * size + j];
            for (int k = 0; k < j; k++) sum -= tile[i * size + k] * tile[j * size + k];
            tile[i * size + j] = i == j ? sqrt(sum) : sum / tile[j * size + j];
        }
    }
    return 0;
}

/* Divide a tile below the diagonal by the factor of the diagonal tile. */
NS_TASK(int, divide, const double *, diagonal, double *, tile, int, size) {
    (void)self;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            double sum = tile[i * size + j];
            for (int k = 0; k < j; k++) sum -= tile[i * size + k] * diagonal[j * size + k];
            tile[i * size + j] = sum / diagonal[j * size + j];
        }
    }
    return 0;
}

/* Subtract the product of two tiles of the column from a tile to the right of the column. */
NS_TASK(int, update, const double *, left, const double *, above, double *, tile, int, size) {
    (void)self;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            for (int k = 0; k < size; k++) tile[i * size + j] -= left[i * size + k] * above[j * size + k];
        }
    }
    return 0;
}

NS_TASK(int, decompose, const matrix *, m) {
    for (int k = 0; k < m->tiles; k++) {
        double *diagonal = at(m, k, k);
        factor_spawn_after(self, NS_DEPEND(NS_INOUT(diagonal)), NULL, diagonal, m->size);
        for (int i = k + 1; i < m->tiles; i++) {
            double *tile = at(m, i, k);
            divide_spawn_after(self, NS_DEPEND(NS_IN(diagonal), NS_INOUT(tile)), NULL, diagonal, tile, m->size);
        }
        for (int i = k + 1; i < m->tiles; i++) {
            for (int j = k + 1; j <= i; j++) {
                double *left = at(m, i, k), *above = at(m, j, k), *tile = at(m, i, j);
                update_spawn_after(self, NS_DEPEND(NS_IN(left), NS_IN(above), NS_INOUT(tile)), NULL, left, above, tile,
                                   m->size);
            }
        }
    }
    return 0;
}

/* Return the largest difference between L L^T and the matrix in one column. Only rounding causes a difference. */
static double largest_difference(const matrix *m, const matrix *factor, int column) {
    const int size = m->size, n = m->tiles * size;
    double largest = 0;
    for (int row = column; row < n; row++) {
        double sum = 0;
        for (int k = 0; k <= column; k++) {
            sum += at(factor, row / size, k / size)[row % size * size + k % size] *
                   at(factor, column / size, k / size)[column % size * size + k % size];
        }
        largest = fmax(largest, fabs(sum - at(m, row / size, column / size)[row % size * size + column % size]));
    }
    return largest;
}

/* Return a positive definite matrix: each number on the diagonal is above the sum of its row. */
static matrix made(int tiles, int size) {
    const matrix m = {tiles, size, calloc((size_t)(tiles * tiles), sizeof(double *))};
    for (int row = 0; row < tiles; row++) {
        for (int column = 0; column <= row; column++) {
            double *tile = malloc((size_t)(size * size) * sizeof(double));
            for (int i = 0; i < size * size; i++)
                tile[i] = 1.0 / (1 + row * size + i / size + column * size + i % size);
            for (int i = 0; row == column && i < size; i++) tile[i * size + i] = 2.0 * tiles * size;
            m.tile[row * tiles + column] = tile;
        }
    }
    return m;
}

static void destroy(matrix m) {
    for (int each = 0; each < m.tiles * m.tiles; each++) free(m.tile[each]);
    free(m.tile);
}

int main(int count, char **words) {
    const int tiles = count > 1 ? atoi(words[1]) : 20, size = count > 2 ? atoi(words[2]) : 64;
    const matrix original = made(tiles, size), m = made(tiles, size);
    const ns_pool_options options = {.mode = NS_MODE_NATIVE};
    ns_pool *pool = NULL;

    int error = ns_pool_create(&pool, &options);
    if (!error) error = ns_pool_run(pool, decompose, &(decompose_order){NULL, &m}, sizeof(decompose_order));
    if (error) fprintf(stderr, "cholesky: %s\n", pool ? ns_pool_problem(pool) : ns_error_sentence(error));
    if (!error)
        printf("%d by %d: %s\n", tiles * size, tiles * size,
               largest_difference(&original, &m, tiles * size / 2) < 1e-9 ? "factored" : "wrong");
    ns_pool_destroy(pool);
    destroy(original);
    destroy(m);
    return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
