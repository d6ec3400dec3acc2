/* Tiled Cholesky factorisation, right-looking (Buttari, Langou, Kurzak, Dongarra 2009). Step k factors tile (k, k),
 * divides the tiles below it by the factor, and updates every tile (i, j) with k < j <= i. Only tiles on and below the
 * diagonal are stored, row by row, and each tile contiguously.
 *
 * The tasks and their order, times and accesses are as in numasim/workload/families/cholesky.py. With the parameter
 * `dependences`, a task waits only for the earlier writers of its own tiles, as with OpenMP's `depend`. Without the
 * parameter, the task that creates all other tasks joins after the factorisation, after the divisions and after the
 * updates of every step. These joins keep every dependence, but workers wait for each other more often. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel.h"
#include "policy/draws.h"

enum { MOST_TILES = 3 };

typedef struct {
    ns_state_memory memory;
    int64_t tiles, size, rate, dependences;
    uint32_t object;
    double *matrix, *twin, *original;
} state;

static const ns_parameter PARAMETERS[] = {
    {"tiles", NS_INTEGER, "16", 1, 256, NULL, "tiles in a row, and rows of tiles", NS_AT(tiles)},
    {"tile_size", NS_INTEGER, "32", 1, 1024, NULL, "numbers in a row of a tile, and rows", NS_AT(size)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "100000", 0, 1000000000, NULL, "the declared time of the work", NS_AT(rate)},
    {"dependences", NS_INTEGER, "0", 0, 1, NULL,
     "whether a task waits only for the tasks that write its tiles, and not for whole steps", NS_AT(dependences)},
};

/* The operation of step k on tile (i, j), k <= j <= i. It factors the tile if i = j = k, divides the tile if i > j = k,
 * and updates the tile if j > k. */
typedef struct {
    const state *of;
    int64_t i, j, k;
} step;

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t at = 0; at < count; at++) sum += a[at] * b[at];
    return sum;
}

/* Replace the lower half of a tile by its Cholesky factor. The upper half is not changed. */
static void factor(double *tile, int64_t size) {
    for (int64_t column = 0; column < size; column++) {
        double *diagonal = tile + column * size;
        diagonal[column] = sqrt(diagonal[column] - dot(diagonal, diagonal, column));
        for (int64_t row = column + 1; row < size; row++) {
            double *left = tile + row * size;
            left[column] = (left[column] - dot(left, diagonal, column)) / diagonal[column];
        }
    }
}

/* Solve X L^T = tile for X, where L is the lower half of `diagonal`. */
static void divide(const double *diagonal, double *tile, int64_t size) {
    for (int64_t row = 0; row < size; row++) {
        double *left = tile + row * size;
        for (int64_t column = 0; column < size; column++) {
            const double *above = diagonal + column * size;
            left[column] = (left[column] - dot(left, above, column)) / above[column];
        }
    }
}

/* tile -= left above^T. For a tile on the diagonal only the lower half is updated. */
static void update(const double *left, const double *above, double *tile, int64_t size, bool on_diagonal) {
    for (int64_t row = 0; row < size; row++) {
        const int64_t columns = on_diagonal ? row + 1 : size;
        for (int64_t column = 0; column < columns; column++) {
            tile[row * size + column] -= dot(left + row * size, above + column * size, size);
        }
    }
}

/* Return how many tiles are stored before tile (row, column). */
static int64_t place_of(int64_t row, int64_t column) { return row * (row + 1) / 2 + column; }

static double *tile_at(const state *self, double *matrix, int64_t row, int64_t column) {
    return matrix + place_of(row, column) * self->size * self->size;
}

static void operate(const step *s, double *matrix) {
    const state *of = s->of;
    double *tile = tile_at(of, matrix, s->i, s->j);
    if (s->j > s->k) {
        update(tile_at(of, matrix, s->i, s->k), tile_at(of, matrix, s->j, s->k), tile, of->size, s->i == s->j);
    } else if (s->i > s->k) {
        divide(tile_at(of, matrix, s->k, s->k), tile, of->size);
    } else {
        factor(tile, of->size);
    }
}

/* Return the number of floating-point operations of the step (LAPACK Working Note 41). */
static int64_t flops(const step *s) {
    const int64_t size = s->of->size;
    if (s->j > s->k) return s->i > s->j ? 2 * size * size * size : size * size * (size + 1);
    return s->i > s->k ? size * size * size : size * (size + 1) * (2 * size + 1) / 6;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static void run_step(ns_task *self, void *arguments) {
    const step *s = arguments;
    operate(s, s->of->matrix);
    ns_work(self, ns_compute_ps(flops(s), s->of->rate));
}

/* The tiles that a task reads and writes. */
typedef struct {
    ns_access accesses[MOST_TILES];
    ns_dependence dependences[MOST_TILES];
    uint32_t count;
} tiles;

static void add_tile(tiles *all, const state *of, int64_t row, int64_t column, enum ns_access_mode mode) {
    const int64_t bytes = of->size * of->size * (int64_t)sizeof(double);
    ns_access *access = &all->accesses[all->count];
    *access = ns_piece(of->object, place_of(row, column) * bytes, bytes, mode);
    all->dependences[all->count++] = (ns_dependence){
        .address = tile_at(of, of->matrix, row, column),
        .direction = mode == NS_READ ? NS_DIRECTION_IN : NS_DIRECTION_INOUT,
        .access = of->memory.objects ? access : NULL,
    };
}

static void spawn_step(ns_task *self, const step *s) {
    const state *of = s->of;
    tiles all = {.count = 0};
    if (s->j > s->k) add_tile(&all, of, s->i, s->k, NS_READ);
    if (s->j > s->k && s->i > s->j) add_tile(&all, of, s->j, s->k, NS_READ);
    if (s->j == s->k && s->i > s->k) add_tile(&all, of, s->k, s->k, NS_READ);
    add_tile(&all, of, s->i, s->j, NS_READ_WRITE);
    if (of->dependences)
        ns_spawn_after(self, run_step, s, sizeof *s, all.dependences, all.count);
    else
        ns_state_spawn(self, &of->memory, run_step, s, sizeof *s, all.accesses, all.count);
}

/* Wait for all tasks that have been spawned, unless dependences of single tasks order the tasks. */
static void end_part(ns_task *self, const state *of) {
    if (!of->dependences) ns_join(self);
}

static void decompose(ns_task *self, void *arguments) {
    const state *of = *(const state **)arguments;
    for (int64_t k = 0; k < of->tiles; k++) {
        spawn_step(self, &(step){of, k, k, k});
        end_part(self, of);
        for (int64_t i = k + 1; i < of->tiles; i++) spawn_step(self, &(step){of, i, k, k});
        end_part(self, of);
        for (int64_t i = k + 1; i < of->tiles; i++) {
            for (int64_t j = k + 1; j <= i; j++) spawn_step(self, &(step){of, i, j, k});
        }
        end_part(self, of);
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const state *self) {
    return (size_t)(place_of(self->tiles, 0) * self->size * self->size) * sizeof(double);
}

/* Fill the tiles on and below the diagonal of a symmetric n x n matrix with random numbers from -1 to 1, and add n to
 * each number on the diagonal. The number is then at least the sum of the absolute values of the other numbers in its
 * row, so the matrix is positive definite. */
static void fill(const state *self, double *matrix) {
    const int64_t numbers = place_of(self->tiles, 0) * self->size * self->size;
    for (int64_t at = 0; at < numbers; at++) {
        matrix[at] = (double)ns_below(ns_draw(0, (uint64_t)at), 1 << 16) / (1 << 15) - 1;
    }
    for (int64_t k = 0; k < self->tiles; k++) {
        double *tile = tile_at(self, matrix, k, k);
        for (int64_t at = 0; at < self->size; at++) tile[at * self->size + at] += (double)(self->tiles * self->size);
    }
}

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    self->matrix = ns_state_share(&self->memory, (int64_t)bytes_of(self), "matrix", &self->object);
    self->twin = ns_state_take(&self->memory, (int64_t)bytes_of(self));
    self->original = ns_state_take(&self->memory, (int64_t)bytes_of(self));
    if (!self->matrix || !self->twin || !self->original) return NS_ERROR_MEMORY;
    fill(self, self->original);
    memcpy(self->matrix, self->original, bytes_of(self));
    memcpy(self->twin, self->original, bytes_of(self));
    return NS_OK;
}

static void run_twin(void *whole) {
    state *self = whole;
    for (int64_t k = 0; k < self->tiles; k++) {
        for (int64_t i = k; i < self->tiles; i++) operate(&(step){self, i, k, k}, self->twin);
        for (int64_t i = k + 1; i < self->tiles; i++) {
            for (int64_t j = k + 1; j <= i; j++) operate(&(step){self, i, j, k}, self->twin);
        }
    }
}

/* ---- the error of the factor ------------------------------------------------------------------------------------- */

/* Return the number at a row and a column of the whole matrix, on or below the diagonal. */
static double number_at(const state *self, double *matrix, int64_t row, int64_t column) {
    const int64_t size = self->size;
    return tile_at(self, matrix, row / size, column / size)[row % size * size + column % size];
}

/* Multiply L L^T and the matrix with a vector of ones. Return the largest difference between the two products.
 * `vectors` has three vectors of n zeros. */
static double difference_of(const state *self, double *vectors) {
    const int64_t n = self->tiles * self->size;
    double *columns = vectors, *product = vectors + n, *expected = vectors + 2 * n;
    double worst = 0;
    for (int64_t row = 0; row < n; row++) {
        for (int64_t column = 0; column <= row; column++) {
            const double number = number_at(self, self->original, row, column);
            columns[column] += number_at(self, self->matrix, row, column);
            expected[row] += number;
            if (column < row) expected[column] += number;
        }
    }
    for (int64_t row = 0; row < n; row++) {
        for (int64_t column = 0; column <= row; column++) {
            product[row] += number_at(self, self->matrix, row, column) * columns[column];
        }
    }
    for (int64_t row = 0; row < n; row++) worst = fmax(worst, fabs(product[row] - expected[row]));
    return worst;
}

/* Return whether L L^T equals the matrix up to rounding errors. An error is at most n epsilon |L| |L^T|, and no entry
 * of |L| |L^T| is above n + 1, the bound of the entries on the diagonal (Higham, Accuracy and Stability of Numerical
 * Algorithms, section 10.1). A row has n entries. Both products with the vector of ones have rounding errors, which
 * doubles the bound. */
static bool is_factored(const state *self) {
    const double n = (double)(self->tiles * self->size);
    double *vectors = calloc((size_t)(3 * self->tiles * self->size), sizeof *vectors);
    if (!vectors) return false;
    const double worst = difference_of(self, vectors);
    free(vectors);
    return worst <= 2 * n * (n + 1) * (n + 1) * 0x1p-52;
}

/* Return whether the result equals the serial twin bit by bit, and is a factor of the matrix. */
static bool matches(const void *whole) {
    const state *self = whole;
    return memcmp(self->matrix, self->twin, bytes_of(self)) == 0 && is_factored(self);
}

const ns_kernel ns_cholesky_kernel = {
    .name = "cholesky",
    .meaning = "Cholesky factorisation of a matrix of tiles, one task creating all others",
    NS_KERNEL_COMMON,
    .create = create,
    .root = decompose,
};
