/* LU decomposition of a sparse matrix of blocks, after the version of BOTS SparseLU in which one task creates all other
 * tasks (thesis section 3.6). In each step, this task factors the diagonal block itself, spawns the divisions of the
 * blocks right of and below the diagonal block, waits, spawns an update for every pair of divided blocks, and waits.
 * An update of a block that is not stored, because it was zero, fills the block in. The tasks are as in
 * numasim/workload/families/sparselu.py, except that this first update writes the block without reading it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel.h"
#include "policy/draws.h"

enum operation { FACTOR, FORWARD, BACKWARD, UPDATE };
enum region { MATRIX, FILL, NONE };
enum { REGIONS = 2, MOST_ACCESSES = 3 };

typedef struct {
    float *of[REGIONS];
} numbers;

/* A block of the matrix. Blocks that exist at the start are in one region, in row order. Blocks that fill in are in
 * another region, in the order in which a serial run fills them in. */
typedef struct {
    uint8_t region; /* enum region */
    int32_t place;  /* index in the region, counted in blocks */
    int32_t since;  /* the step that fills the block in; -1: it exists at the start */
} block_info;

typedef struct {
    ns_state_memory memory;
    int64_t blocks;          /* number of blocks in a row, and of rows */
    int64_t counts[REGIONS]; /* number of blocks in each region */
    block_info *block;       /* [blocks][blocks] */
    int64_t size, rate;
    uint32_t object[REGIONS];
    numbers numbers, twin;
    float *original; /* a copy of the matrix region before the run */
} state;

static const ns_parameter PARAMETERS[] = {
    {"blocks", NS_INTEGER, "16", 1, 256, NULL, "blocks in a row, and rows of blocks", NS_AT(blocks)},
    {"block_size", NS_INTEGER, "32", 1, 4096, NULL, "numbers in a row of a block, and rows", NS_AT(size)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "117200", 0, 1000000000000, NULL, "the declared time of the work", NS_AT(rate)},
};

/* An operation on block (row, column) in step `step` of the decomposition. */
typedef struct {
    const state *of;
    enum operation operation;
    int64_t row, column, step;
} step;

/* ---- which blocks exist (numasim/workload/families/sparselu.py) -------------------------------------------------- */

static const block_info *info_of(const state *self, int64_t row, int64_t column) {
    return &self->block[row * self->blocks + column];
}

/* Return whether block (row, column) exists when step k begins. */
static bool has(const state *self, int64_t row, int64_t column, int64_t k) {
    const block_info *block = info_of(self, row, column);
    return block->region != NONE && block->since < k;
}

/* Return whether a block exists at the start. These are the blocks on the diagonal and on both diagonals beside it.
 * Other blocks exist in even rows and even columns: right of the diagonal in every third row, and below the diagonal in
 * every third column. */
static bool exists_at_first(int64_t row, int64_t column) {
    const int64_t distance = row < column ? column - row : row - column, smaller = row < column ? row : column;
    return distance <= 1 || (row % 2 == 0 && column % 2 == 0 && smaller % 3 == 0);
}

static void add(state *self, int64_t row, int64_t column, enum region region, int64_t since) {
    self->block[row * self->blocks + column] =
        (block_info){(uint8_t)region, (int32_t)self->counts[region]++, (int32_t)since};
}

static void fill_in(state *self, int64_t k) {
    for (int64_t row = k + 1; row < self->blocks; row++) {
        if (!has(self, row, k, k)) continue;
        for (int64_t column = k + 1; column < self->blocks; column++) {
            const bool updated = has(self, k, column, k);
            if (updated && info_of(self, row, column)->region == NONE) add(self, row, column, FILL, k);
        }
    }
}

static int find_blocks(state *self) {
    self->block = ns_state_take(&self->memory, self->blocks * self->blocks * (int64_t)sizeof *self->block);
    if (!self->block) return NS_ERROR_MEMORY;
    for (int64_t row = 0; row < self->blocks; row++) {
        for (int64_t column = 0; column < self->blocks; column++) {
            self->block[row * self->blocks + column] = (block_info){.region = NONE};
            if (exists_at_first(row, column)) add(self, row, column, MATRIX, -1);
        }
    }
    for (int64_t k = 0; k < self->blocks; k++) fill_in(self, k);
    return NS_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static void factor(float *diagonal, int64_t size) {
    for (int64_t k = 0; k < size; k++) {
        for (int64_t i = k + 1; i < size; i++) {
            diagonal[i * size + k] /= diagonal[k * size + k];
            for (int64_t j = k + 1; j < size; j++)
                diagonal[i * size + j] -= diagonal[i * size + k] * diagonal[k * size + j];
        }
    }
}

/* Divide a block right of the diagonal block by the lower half of the diagonal block. */
static void divide_forward(const float *diagonal, float *block, int64_t size) {
    for (int64_t k = 0; k < size; k++) {
        for (int64_t i = k + 1; i < size; i++) {
            for (int64_t j = 0; j < size; j++) block[i * size + j] -= diagonal[i * size + k] * block[k * size + j];
        }
    }
}

/* Divide a block below the diagonal block by the upper half of the diagonal block. */
static void divide_backward(const float *diagonal, float *block, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        for (int64_t k = 0; k < size; k++) {
            block[i * size + k] /= diagonal[k * size + k];
            for (int64_t j = k + 1; j < size; j++) block[i * size + j] -= block[i * size + k] * diagonal[k * size + j];
        }
    }
}

static void update(const float *left, const float *above, float *block, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        for (int64_t k = 0; k < size; k++) {
            for (int64_t j = 0; j < size; j++) block[i * size + j] -= left[i * size + k] * above[k * size + j];
        }
    }
}

static float *block_at(const state *self, const numbers *in, int64_t row, int64_t column) {
    const block_info *block = info_of(self, row, column);
    return in->of[block->region] + block->place * self->size * self->size;
}

/* Return whether an operation is the first update of a block that did not exist at the start. */
static bool is_first(const step *s) {
    return s->operation == UPDATE && info_of(s->of, s->row, s->column)->since == s->step;
}

static void operate(const step *s, const numbers *in) {
    const state *of = s->of;
    const int64_t size = of->size, k = s->step;
    float *block = block_at(of, in, s->row, s->column);
    if (is_first(s)) memset(block, 0, (size_t)(size * size) * sizeof *block);
    switch (s->operation) {
        case FACTOR: factor(block, size); break;
        case FORWARD: divide_forward(block_at(of, in, k, k), block, size); break;
        case BACKWARD: divide_backward(block_at(of, in, k, k), block, size); break;
        case UPDATE: update(block_at(of, in, s->row, k), block_at(of, in, k, s->column), block, size); break;
    }
}

/* Return the number of floating-point operations of an operation, as sparselu.py counts them. */
static int64_t flops(enum operation operation, int64_t size) {
    const int64_t divisions = size * (size - 1) / 2, updates = size * (size - 1) * (2 * size - 1) / 3;
    switch (operation) {
        case FACTOR: return divisions + updates;
        case FORWARD: return size * size * (size - 1);
        case BACKWARD: return size * size * size;
        case UPDATE: break;
    }
    return 2 * size * size * size;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static ns_access access_to(const state *self, int64_t row, int64_t column, enum ns_access_mode mode) {
    const block_info *block = info_of(self, row, column);
    const int64_t bytes = self->size * self->size * (int64_t)sizeof(float);
    return ns_piece(self->object[block->region], block->place * bytes, bytes, mode);
}

/* Write the accesses of an operation to `accesses`. Return the number of accesses. */
static uint32_t accesses_of(const step *s, ns_access *accesses) {
    const state *of = s->of;
    const int64_t k = s->step;
    uint32_t count = 0;
    if (s->operation == UPDATE) {
        accesses[count++] = access_to(of, s->row, k, NS_READ);
        accesses[count++] = access_to(of, k, s->column, NS_READ);
    } else if (s->operation != FACTOR) {
        accesses[count++] = access_to(of, k, k, NS_READ);
    }
    accesses[count++] = access_to(of, s->row, s->column, is_first(s) ? NS_WRITE : NS_READ_WRITE);
    return count;
}

static void run_step(ns_task *self, void *arguments) {
    const step *s = arguments;
    operate(s, &s->of->numbers);
    ns_work(self, ns_compute_ps(flops(s->operation, s->of->size), s->of->rate));
}

static void spawn_step(ns_task *self, const step *s) {
    ns_access accesses[MOST_ACCESSES];
    const uint32_t count = accesses_of(s, accesses);
    ns_state_spawn(self, &s->of->memory, run_step, s, sizeof *s, accesses, count);
}

static void spawn_divisions(ns_task *self, const state *of, int64_t k) {
    for (int64_t column = k + 1; column < of->blocks; column++) {
        if (has(of, k, column, k)) spawn_step(self, &(step){of, FORWARD, k, column, k});
    }
    for (int64_t row = k + 1; row < of->blocks; row++) {
        if (has(of, row, k, k)) spawn_step(self, &(step){of, BACKWARD, row, k, k});
    }
}

static void spawn_updates(ns_task *self, const state *of, int64_t k) {
    for (int64_t row = k + 1; row < of->blocks; row++) {
        for (int64_t column = k + 1; column < of->blocks && has(of, row, k, k); column++) {
            if (has(of, k, column, k)) spawn_step(self, &(step){of, UPDATE, row, column, k});
        }
    }
}

static void decompose(ns_task *self, void *arguments) {
    const state *of = *(const state **)arguments;
    for (int64_t k = 0; k < of->blocks; k++) {
        step diagonal = {of, FACTOR, k, k, k};
        ns_access access;
        ns_state_declare(self, &of->memory, &access, accesses_of(&diagonal, &access));
        run_step(self, &diagonal);
        spawn_divisions(self, of, k);
        ns_join(self);
        spawn_updates(self, of, k);
        ns_join(self);
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const state *self, int region) {
    return (size_t)(self->counts[region] * self->size * self->size) * sizeof(float);
}

/* Fill the matrix with random numbers from -1 to 1. Each number on the diagonal is larger than the sum of the other
 * numbers in its row. */
static void fill(state *self, float *matrix) {
    const int64_t size = self->size, in_block = size * size;
    for (int64_t at = 0; at < self->counts[MATRIX] * in_block; at++) {
        matrix[at] = (float)ns_below(ns_draw(0, (uint64_t)at), 1 << 16) / (1 << 15) - 1;
    }
    for (int64_t k = 0; k < self->blocks; k++) {
        float *block = matrix + info_of(self, k, k)->place * in_block;
        for (int64_t at = 0; at < size; at++) block[at * size + at] += (float)(self->blocks * size);
    }
}

static int create(void *whole, ns_setting *setting) {
    static const char *const NAME[REGIONS] = {"matrix", "fill"};
    state *self = whole;
    if (find_blocks(self)) return NS_ERROR_MEMORY;
    for (int region = 0; region < REGIONS; region++) {
        const int64_t bytes = (int64_t)bytes_of(self, region);
        self->numbers.of[region] = ns_state_share(&self->memory, bytes, NAME[region], &self->object[region]);
        self->twin.of[region] = ns_state_take(&self->memory, bytes);
        if (!self->numbers.of[region] || !self->twin.of[region]) return NS_ERROR_MEMORY;
    }
    self->original = ns_state_take(&self->memory, (int64_t)bytes_of(self, MATRIX));
    if (!self->original) return NS_ERROR_MEMORY;
    fill(self, self->numbers.of[MATRIX]);
    memcpy(self->original, self->numbers.of[MATRIX], bytes_of(self, MATRIX));
    memcpy(self->twin.of[MATRIX], self->numbers.of[MATRIX], bytes_of(self, MATRIX));
    return NS_OK;
}

static void run_twin(void *whole) {
    state *self = whole;
    const int64_t blocks = self->blocks;
    for (int64_t k = 0; k < blocks; k++) {
        operate(&(step){self, FACTOR, k, k, k}, &self->twin);
        for (int64_t at = k + 1; at < blocks; at++) {
            if (has(self, k, at, k)) operate(&(step){self, FORWARD, k, at, k}, &self->twin);
            if (has(self, at, k, k)) operate(&(step){self, BACKWARD, at, k, k}, &self->twin);
        }
        for (int64_t row = k + 1; row < blocks; row++) {
            for (int64_t column = k + 1; column < blocks; column++) {
                if (!has(self, row, k, k) || !has(self, k, column, k)) continue;
                operate(&(step){self, UPDATE, row, column, k}, &self->twin);
            }
        }
    }
}

/* ---- the error of the factors ------------------------------------------------------------------------------------ */

/* The part of the matrix that is multiplied with a vector: the whole matrix; the upper half with the diagonal; or the
 * lower half with ones on the diagonal. */
enum half { ALL, UPPER, LOWER };

/* Return the number at a row and a column of the whole matrix; 0 if this place is not in the given half. */
static double number_of(const float *block, enum half half, int64_t row, int64_t column, int64_t place) {
    if (half == LOWER && row == column) return 1;
    const bool inside = half == ALL || (half == UPPER ? column >= row : column < row);
    return inside ? (double)block[place] : 0;
}

/* to = (a half of the matrix) from */
static void apply(const state *self, const numbers *in, enum half half, const double *from, double *to) {
    const int64_t size = self->size, blocks = self->blocks;
    for (int64_t i = 0; i < blocks * blocks; i++) {
        const int64_t row = i / blocks * size, column = i % blocks * size;
        const block_info *block = &self->block[i];
        if (block->region == NONE || !in->of[block->region]) continue;
        const float *at = block_at(self, in, i / blocks, i % blocks);
        for (int64_t place = 0; place < size * size; place++) {
            const int64_t r = row + place / size, c = column + place % size;
            to[r] += number_of(at, half, r, c, place) * from[c];
        }
    }
}

/* Return whether the product of the factors L and U equals the matrix up to rounding errors. Product and matrix are
 * compared by their products with a vector of ones. An error is at most n epsilon |L| |U| (Higham, Accuracy and
 * Stability of Numerical Algorithms, theorem 9.3). The numbers on the diagonal are near n, so the sum of a row of |L|
 * |U| is at most 4 n. */
static bool is_factored(const state *self) {
    const int64_t n = self->blocks * self->size;
    double *vectors = calloc((size_t)(4 * n), sizeof *vectors);
    double worst = 0;
    if (!vectors) return false;
    double *ones = vectors, *above = vectors + n, *product = vectors + 2 * n, *expected = vectors + 3 * n;
    for (int64_t at = 0; at < n; at++) ones[at] = 1;
    apply(self, &self->numbers, UPPER, ones, above);
    apply(self, &self->numbers, LOWER, above, product);
    apply(self, &(numbers){{self->original, NULL}}, ALL, ones, expected);
    for (int64_t at = 0; at < n; at++) worst = fmax(worst, fabs(product[at] - expected[at]));
    free(vectors);
    return worst <= 4 * (double)n * (double)n * 0x1p-23;
}

/* Return whether the result equals the serial twin bit by bit, and is a pair of factors of the matrix. */
static bool matches(const void *whole) {
    const state *self = whole;
    for (int region = 0; region < REGIONS; region++) {
        if (memcmp(self->numbers.of[region], self->twin.of[region], bytes_of(self, region)) != 0) return false;
    }
    return is_factored(self);
}

const ns_kernel ns_sparselu_kernel = {
    .name = "sparselu",
    .meaning = "LU decomposition of a sparse matrix of blocks, one task creating all others (BOTS)",
    NS_KERNEL_COMMON,
    .create = create,
    .root = decompose,
};
