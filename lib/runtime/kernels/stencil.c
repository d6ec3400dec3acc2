/* Jacobi's iteration on a square grid: every inner point becomes the mean of its four neighbours. Iterations alternate:
 * one reads the first grid and writes the second grid, the next does the reverse. A task computes a band of rows. An
 * iteration ends when all its tasks have ended. */
#include <string.h>

#include "kernels/kernel.h"

enum { GRIDS = 2, FLOPS_PER_POINT = 4, ACCESSES = 2 };

typedef struct {
    ns_state_memory memory;
    int64_t n, iterations, rows, rate;
    uint32_t object[GRIDS];
    double *grid[GRIDS], *twin[GRIDS];
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "512", 3, 32768, NULL, "points in a row, and rows", NS_AT(n)},
    {"iterations", NS_INTEGER, "10", 1, 1000000, NULL, "how often the whole grid is computed", NS_AT(iterations)},
    {"rows", NS_INTEGER, "16", 1, 32768, NULL, "how many rows a task computes", NS_AT(rows)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "500000", 0, 1000000000000, NULL, "the declared time of the work", NS_AT(rate)},
};

typedef struct {
    const state *of;
    int64_t from; /* the grid that the task reads */
    int64_t first, last;
} band;

static void relax(double *to, const double *from, int64_t n, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; row++) {
        const double *here = from + row * n;
        for (int64_t at = 1; at < n - 1; at++) {
            to[row * n + at] = 0.25 * (here[at - n] + here[at + n] + here[at - 1] + here[at + 1]);
        }
    }
}

static void relax_band(ns_task *self, void *arguments) {
    const band *b = arguments;
    const state *of = b->of;
    relax(of->grid[1 - b->from], of->grid[b->from], of->n, b->first, b->last);
    ns_work(self, ns_compute_ps(FLOPS_PER_POINT * (b->last - b->first) * (of->n - 2), of->rate));
}

static void spawn_band(ns_task *self, const band *b) {
    const state *of = b->of;
    const int64_t row_bytes = of->n * (int64_t)sizeof(double), rows = b->last - b->first;
    const ns_access accesses[ACCESSES] = {
        ns_piece(of->object[b->from], (b->first - 1) * row_bytes, (rows + 2) * row_bytes, NS_READ),
        ns_piece(of->object[1 - b->from], b->first * row_bytes, rows * row_bytes, NS_WRITE),
    };
    ns_state_spawn(self, &of->memory, relax_band, b, sizeof *b, accesses, ACCESSES);
}

static void iterate(ns_task *self, void *arguments) {
    const state *of = *(const state **)arguments;
    for (int64_t iteration = 0; iteration < of->iterations; iteration++) {
        for (int64_t first = 1; first < of->n - 1; first += of->rows) {
            const int64_t last = first + of->rows < of->n - 1 ? first + of->rows : of->n - 1;
            spawn_band(self, &(band){of, iteration % GRIDS, first, last});
        }
        ns_join(self);
    }
}

/* Fill a grid with 1.0 in the first row, 0.5 in the first column and 0 elsewhere. */
static void fill(double *grid, int64_t n) {
    memset(grid, 0, (size_t)(n * n) * sizeof *grid);
    for (int64_t at = 0; at < n; at++) {
        grid[at * n] = 0.5;
        grid[at] = 1.0;
    }
}

static int create(void *whole, ns_setting *setting) {
    static const char *const NAME[GRIDS] = {"even", "odd"};
    state *self = whole;
    const int64_t n = self->n, bytes = n * n * (int64_t)sizeof(double);
    for (int grid = 0; grid < GRIDS; grid++) {
        self->grid[grid] = ns_state_share(&self->memory, bytes, NAME[grid], &self->object[grid]);
        self->twin[grid] = ns_state_take(&self->memory, bytes);
        if (!self->grid[grid] || !self->twin[grid]) return NS_ERROR_MEMORY;
        fill(self->grid[grid], n);
        fill(self->twin[grid], n);
    }
    return NS_OK;
}

static void run_twin(void *whole) {
    state *self = whole;
    for (int64_t iteration = 0; iteration < self->iterations; iteration++) {
        const int64_t from = iteration % GRIDS;
        relax(self->twin[1 - from], self->twin[from], self->n, 1, self->n - 1);
    }
}

static bool matches(const void *whole) {
    const state *self = whole;
    const int64_t last = self->iterations % GRIDS;
    return memcmp(self->grid[last], self->twin[last], (size_t)(self->n * self->n) * sizeof(double)) == 0;
}

const ns_kernel ns_stencil_kernel = {
    .name = "stencil",
    .meaning = "Jacobi's iteration on a square grid, a task per band of rows",
    NS_KERNEL_COMMON,
    .create = create,
    .root = iterate,
};
