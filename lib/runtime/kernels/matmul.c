/* The matrix product C = A x B. One task spawns a task for each square block of C. (In section 3.3.2 of the thesis,
 * each element of C is a task.) The numbers are small integers, so products and sums are exact in any order. */
#include <string.h>

#include "kernels/kernel.h"
#include "policy/draws.h"

enum matrix { A, B, C, MATRICES };
enum { FLOPS_PER_PRODUCT = 2, VALUES = 16 };
static const int64_t ELEMENT_BYTES = sizeof(double);

typedef struct {
    ns_state_memory memory;
    int64_t n, block, rate;
    uint32_t object[MATRICES];
    double *matrix[MATRICES], *twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "256", 1, 16384, NULL, "rows and columns", NS_AT(n)},
    {"block", NS_INTEGER, "32", 1, 16384, NULL, "rows and columns of a task's block of C", NS_AT(block)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "600000", 0, 1000000000000, NULL, "the declared time of the work", NS_AT(rate)},
};

typedef struct {
    const state *of;
    int64_t row, column, rows, columns;
} block;

/* Compute a block of C, row by row. The inner loop reads B along a row. */
static void multiply(const state *self, double *c, const block *b) {
    const int64_t n = self->n;
    for (int64_t row = b->row; row < b->row + b->rows; row++) {
        double *to = c + row * n + b->column;
        memset(to, 0, (size_t)b->columns * sizeof *to);
        for (int64_t inner = 0; inner < n; inner++) {
            const double factor = self->matrix[A][row * n + inner], *from = self->matrix[B] + inner * n + b->column;
            for (int64_t column = 0; column < b->columns; column++) to[column] += factor * from[column];
        }
    }
}

static void multiply_block(ns_task *self, void *arguments) {
    const block *b = arguments;
    multiply(b->of, b->of->matrix[C], b);
    ns_work(self, ns_compute_ps(FLOPS_PER_PRODUCT * b->rows * b->columns * b->of->n, b->of->rate));
}

static void spawn_block(ns_task *self, const block *b) {
    const state *of = b->of;
    const int64_t row_bytes = of->n * ELEMENT_BYTES, width = b->columns * ELEMENT_BYTES;
    const int64_t column = b->column * ELEMENT_BYTES;
    const ns_access accesses[MATRICES] = {
        ns_piece(of->object[A], b->row * row_bytes, b->rows * row_bytes, NS_READ),
        ns_rows(of->object[B], column, width, of->n, row_bytes, NS_READ),
        ns_rows(of->object[C], b->row * row_bytes + column, width, b->rows, row_bytes, NS_WRITE),
    };
    ns_state_spawn(self, &of->memory, multiply_block, b, sizeof *b, accesses, MATRICES);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void spawn_blocks(ns_task *self, void *arguments) {
    const state *of = *(const state **)arguments;
    for (int64_t row = 0; row < of->n; row += of->block) {
        for (int64_t column = 0; column < of->n; column += of->block) {
            spawn_block(self,
                        &(block){of, row, column, least(of->block, of->n - row), least(of->block, of->n - column)});
        }
    }
    ns_join(self);
}

static void fill(double *matrix, int64_t elements, uint64_t stream) {
    for (int64_t at = 0; at < elements; at++) {
        matrix[at] = (double)ns_below(ns_draw(stream, (uint64_t)at), VALUES) - VALUES / 2;
    }
}

static int create(void *whole, ns_setting *setting) {
    static const char *const NAME[MATRICES] = {"A", "B", "C"};
    state *self = whole;
    const int64_t n = self->n, bytes = n * n * ELEMENT_BYTES;
    for (int at = 0; at < MATRICES; at++) {
        self->matrix[at] = ns_state_share(&self->memory, bytes, NAME[at], &self->object[at]);
        if (!self->matrix[at]) return NS_ERROR_MEMORY;
    }
    self->twin = ns_state_take(&self->memory, bytes);
    if (!self->twin) return NS_ERROR_MEMORY;
    fill(self->matrix[A], n * n, A);
    fill(self->matrix[B], n * n, B);
    return NS_OK;
}

static void run_twin(void *whole) {
    state *self = whole;
    multiply(self, self->twin, &(block){self, 0, 0, self->n, self->n});
}

static bool matches(const void *whole) {
    const state *self = whole;
    return memcmp(self->matrix[C], self->twin, (size_t)(self->n * self->n) * sizeof(double)) == 0;
}

const ns_kernel ns_matmul_kernel = {
    .name = "matmul",
    .meaning = "a matrix product, a task per block of the result (thesis section 3.3.2)",
    NS_KERNEL_COMMON,
    .create = create,
    .root = spawn_blocks,
};
