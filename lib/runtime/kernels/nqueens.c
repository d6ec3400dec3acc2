/* The number of ways to put n queens on a board so that none attacks another, after BOTS N-Queens. A task tries one
 * column of the next row. If the queen can stand there, the task spawns one task for every column of the following row.
 * From row `cutoff` on, a task searches the remaining rows itself, without child tasks. The tasks are as in
 * numasim/workload/families/nqueens.py. */
#include "kernels/kernel.h"

enum { MOST_QUEENS = 16 };

/* The numbers of solutions for n = 1, 2, ... (OEIS A000170). The kernel and its twin both call `stands`. Only these
 * numbers therefore check `stands`. */
static const int64_t KNOWN[] = {1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184};

typedef struct {
    ns_state_memory memory;
    int64_t n, cutoff, row_ps;
    int64_t depth; /* the row from which the search is serial */
    int64_t solutions, twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "8", 1, 15, NULL, "queens, rows and columns", NS_AT(n)},
    {"cutoff", NS_INTEGER, "0", 0, 15, NULL, "the row from which on the search is serial; 0: none", NS_AT(cutoff)},
    {"row_ns", NS_TIME, "2", 0, 1000000000, NULL, "declared for the test against one earlier row", NS_AT(row_ps)},
};

/* Queens in the rows 0 to `row`. The queen in row `row` has not been tested. */
typedef struct {
    const state *of;
    int64_t *solutions;
    int64_t row;
    signed char column[MOST_QUEENS];
} board;

static bool stands(const board *self) {
    const int column = self->column[self->row];
    for (int64_t row = 0; row < self->row; row++) {
        const int distance = (int)(self->row - row), across = self->column[row] - column;
        if (across == 0 || across == distance || across == -distance) return false;
    }
    return true;
}

/* Return the number of solutions that begin with the rows of `self`, in which no queens attack each other. For each
 * place that the search tries, add the number of earlier rows plus one to `*units`. */
static int64_t search(board *self, int64_t *units) {
    const int64_t n = self->of->n;
    int64_t found = 0;
    if (self->row == n - 1) return 1;
    self->row++;
    for (signed char column = 0; column < n; column++) {
        self->column[self->row] = column;
        *units += self->row + 1;
        if (stands(self)) found += search(self, units);
    }
    self->row--;
    return found;
}

static void try_column(ns_task *self, void *arguments);

/* Spawn a task for every column of the next row. Return the number of solutions that these tasks find. */
static int64_t spawn_tries(ns_task *self, const board *before) {
    const int64_t n = before->of->n;
    int64_t found[MOST_QUEENS], all = 0;
    board next = *before;
    next.row++;
    for (signed char column = 0; column < n; column++) {
        next.column[next.row] = column;
        next.solutions = &found[column];
        ns_spawn(self, try_column, &next, sizeof next);
    }
    ns_join(self);
    for (int64_t column = 0; column < n; column++) all += found[column];
    return all;
}

static void try_column(ns_task *self, void *arguments) {
    board *tried = arguments;
    const state *of = tried->of;
    int64_t units = tried->row + 1, found = 0;
    const bool standing = stands(tried);
    if (standing && tried->row < of->depth - 1) {
        ns_work(self, units * of->row_ps);
        found = spawn_tries(self, tried);
    } else {
        if (standing) found = search(tried, &units);
        ns_work(self, units * of->row_ps);
    }
    *tried->solutions = found;
}

static void begin(ns_task *self, void *arguments) {
    state *of = *(state **)arguments;
    of->solutions = spawn_tries(self, &(board){.of = of, .row = -1});
}

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    self->depth = self->cutoff && self->cutoff < self->n ? self->cutoff : self->n;
    return NS_OK;
}

static void run_twin(void *whole) {
    state *self = whole;
    int64_t units = 0;
    self->twin = search(&(board){.of = self, .row = -1}, &units);
}

static bool matches(const void *whole) {
    const state *self = whole;
    return self->solutions == self->twin && self->twin == KNOWN[self->n - 1];
}

const ns_kernel ns_nqueens_kernel = {
    .name = "nqueens",
    .meaning = "the number of ways to put n queens on a board so that none attacks another (BOTS)",
    NS_KERNEL_COMMON,
    .create = create,
    .root = begin,
};
