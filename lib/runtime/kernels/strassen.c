/* Strassen's matrix product in Winograd's form, after BOTS Strassen (thesis section 3.6). A task for matrices of n rows
 * fills eight temporary matrices of n / 2 rows with sums, spawns seven products of such matrices, waits, and adds the
 * products. Products of matrices with at most `cutoff` rows are computed directly. The tasks are as in
 * numasim/workload/families/strassen.py with `heap: fresh`: every task has temporary matrices of its own, and is the
 * first to touch their pages.
 *
 * The numbers are small integers, so all results are exact, and the serial twin is the classical product. */
#include <string.h>

#include "kernels/kernel.h"
#include "policy/draws.h"

enum { NO_CUTOFF, MANUAL };
enum region { A, B, C, HEAP, TWIN, REGIONS };
enum { S1, S2, S3, S4, S5, S6, S7, S8, M2, M5, T1, TEMPORARIES };
enum { CHILDREN = 7, SUMS = 8, ADDITIONS = 7, MOST_LEVELS = 12, ACCESSES = 3, VALUES = 4, MOST_HEAP_GIB = 64 };
static const int64_t ELEMENT_BYTES = sizeof(double);

typedef struct {
    ns_state_memory memory;
    int64_t n, cutoff, version, cutoff_depth, rate;
    int64_t levels;             /* number of levels on which a product is split */
    int64_t spawning;           /* number of levels with products as tasks; deeper products are calls */
    int64_t first[MOST_LEVELS]; /* offset in the heap of each level's temporaries, in bytes */
    int64_t heap_bytes;
    uint32_t object[REGIONS];
    void *region[REGIONS]; /* all but the region `TWIN` are objects */
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "256", 2, 4096, NULL, "rows and columns, a power of two", NS_AT(n)},
    {"cutoff", NS_INTEGER, "64", 2, 4096, NULL, "the largest size that is multiplied directly, a power of two",
     NS_AT(cutoff)},
    {"cutoff_version", NS_CHOICE, "none", 0, 0, NS_CHOICES("none", "manual"),
     "whether calls take the place of tasks at some depth", NS_AT(version)},
    {"cutoff_depth", NS_INTEGER, "3", 1, 20, NULL, "this depth, for cutoff_version=manual", NS_AT(cutoff_depth)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "148400", 0, 1000000000000, NULL, "the declared time of the work", NS_AT(rate)},
};

/* The place of a square matrix in a region, in bytes. */
typedef struct {
    enum region region;
    int64_t offset, stride;
} place;

typedef struct {
    const state *of;
    int64_t level, number; /* number: the product's index on its level */
    place a, b, c;
    bool announced; /* whether the spawn has declared its first accesses */
} product;

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static double *row_of(const state *self, const place *at, int64_t row) {
    return (void *)((char *)self->region[at->region] + at->offset + row * at->stride);
}

static int64_t size_of(const product *self) { return self->of->n >> self->level; }

static place quadrant(const place *whole, int row, int column, int64_t half) {
    return (place){whole->region, whole->offset + row * half * whole->stride + column * half * ELEMENT_BYTES,
                   whole->stride};
}

static int64_t heap_of(const product *self) {
    const int64_t half = size_of(self) / 2;
    return self->of->first[self->level] + self->number * TEMPORARIES * half * half * ELEMENT_BYTES;
}

static place temporary(const product *self, int slot) {
    const int64_t half = size_of(self) / 2;
    return (place){HEAP, heap_of(self) + slot * half * half * ELEMENT_BYTES, half * ELEMENT_BYTES};
}

static void multiply(const state *self, const product *p) {
    const int64_t size = size_of(p);
    for (int64_t row = 0; row < size; row++) {
        const double *a = row_of(self, &p->a, row);
        double *c = row_of(self, &p->c, row);
        memset(c, 0, (size_t)size * sizeof *c);
        for (int64_t inner = 0; inner < size; inner++) {
            const double *b = row_of(self, &p->b, inner);
            for (int64_t column = 0; column < size; column++) c[column] += a[inner] * b[column];
        }
    }
}

/* to = a + sign b */
static void combine(const state *self, int64_t size, place to, place a, double sign, place b) {
    for (int64_t row = 0; row < size; row++) {
        const double *x = row_of(self, &a, row), *y = row_of(self, &b, row);
        double *z = row_of(self, &to, row);
        for (int64_t column = 0; column < size; column++) z[column] = x[column] + sign * y[column];
    }
}

static void form_sums(const product *p) {
    const state *of = p->of;
    const int64_t half = size_of(p) / 2;
    const place a11 = quadrant(&p->a, 0, 0, half), a12 = quadrant(&p->a, 0, 1, half);
    const place a21 = quadrant(&p->a, 1, 0, half), a22 = quadrant(&p->a, 1, 1, half);
    const place b11 = quadrant(&p->b, 0, 0, half), b12 = quadrant(&p->b, 0, 1, half);
    const place b21 = quadrant(&p->b, 1, 0, half), b22 = quadrant(&p->b, 1, 1, half);
    combine(of, half, temporary(p, S1), a21, 1, a22);
    combine(of, half, temporary(p, S2), temporary(p, S1), -1, a11);
    combine(of, half, temporary(p, S3), a11, -1, a21);
    combine(of, half, temporary(p, S4), a12, -1, temporary(p, S2));
    combine(of, half, temporary(p, S5), b12, -1, b11);
    combine(of, half, temporary(p, S6), b22, -1, temporary(p, S5));
    combine(of, half, temporary(p, S7), b22, -1, b12);
    combine(of, half, temporary(p, S8), temporary(p, S6), -1, b21);
}

static void add_up(const product *p) {
    const state *of = p->of;
    const int64_t half = size_of(p) / 2;
    const place c11 = quadrant(&p->c, 0, 0, half), c12 = quadrant(&p->c, 0, 1, half);
    const place c21 = quadrant(&p->c, 1, 0, half), c22 = quadrant(&p->c, 1, 1, half);
    const place m2 = temporary(p, M2), m5 = temporary(p, M5), t1 = temporary(p, T1);
    combine(of, half, t1, t1, 1, m2);
    combine(of, half, c22, c22, 1, t1);
    combine(of, half, c11, c11, 1, m2);
    combine(of, half, c12, c12, 1, t1);
    combine(of, half, c12, c12, 1, m5);
    combine(of, half, c21, c22, -1, c21);
    combine(of, half, c22, c22, 1, m5);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static ns_access whole(const state *self, const place *at, int64_t size, enum ns_access_mode mode) {
    return ns_rows(self->object[at->region], at->offset, size * ELEMENT_BYTES, size, at->stride, mode);
}

static void first_accesses(const product *p, ns_access *accesses) {
    const state *of = p->of;
    const int64_t size = size_of(p), half = size / 2;
    accesses[0] = whole(of, &p->a, size, NS_READ);
    accesses[1] = whole(of, &p->b, size, NS_READ);
    accesses[2] = p->level == of->levels
                      ? whole(of, &p->c, size, NS_WRITE)
                      : ns_piece(of->object[HEAP], heap_of(p), SUMS * half * half * ELEMENT_BYTES, NS_WRITE);
}

static void last_accesses(ns_task *self, const product *p) {
    const int64_t half = size_of(p) / 2, block = half * half * ELEMENT_BYTES;
    const ns_access accesses[] = {ns_piece(p->of->object[HEAP], heap_of(p) + M2 * block, 3 * block, NS_READ),
                                  whole(p->of, &p->c, size_of(p), NS_READ_WRITE)};
    ns_state_declare(self, &p->of->memory, accesses, 2);
}

static void products_of(const product *p, product *children) {
    const int64_t half = size_of(p) / 2;
    const place operands[CHILDREN][3] = {
        {quadrant(&p->a, 0, 0, half), quadrant(&p->b, 0, 0, half), temporary(p, M2)},
        {temporary(p, S1), temporary(p, S5), temporary(p, M5)},
        {temporary(p, S2), temporary(p, S6), temporary(p, T1)},
        {temporary(p, S3), temporary(p, S7), quadrant(&p->c, 1, 1, half)},
        {quadrant(&p->a, 0, 1, half), quadrant(&p->b, 1, 0, half), quadrant(&p->c, 0, 0, half)},
        {temporary(p, S4), quadrant(&p->b, 1, 1, half), quadrant(&p->c, 0, 1, half)},
        {quadrant(&p->a, 1, 1, half), temporary(p, S8), quadrant(&p->c, 1, 0, half)},
    };
    for (int child = 0; child < CHILDREN; child++) {
        const place *operand = operands[child];
        children[child] =
            (product){p->of, p->level + 1, p->number * CHILDREN + child, operand[0], operand[1], operand[2], false};
    }
}

static void run_product(ns_task *self, void *arguments);

static void run_children(ns_task *self, const product *p) {
    product children[CHILDREN];
    const bool spawned = p->level + 1 < p->of->spawning;
    products_of(p, children);
    for (int child = 0; child < CHILDREN; child++) {
        if (spawned) {
            ns_access accesses[ACCESSES];
            first_accesses(&children[child], accesses);
            children[child].announced = true;
            ns_state_spawn(self, &p->of->memory, run_product, &children[child], sizeof(product), accesses, ACCESSES);
        } else {
            ns_call(self, run_product, &children[child]);
        }
    }
    if (spawned) ns_join(self);
}

static void run_product(ns_task *self, void *arguments) {
    const product *p = arguments;
    const state *of = p->of;
    const int64_t size = size_of(p), half = size / 2;
    ns_access accesses[ACCESSES];
    first_accesses(p, accesses);
    if (!p->announced) ns_state_declare(self, &of->memory, accesses, ACCESSES);
    if (p->level == of->levels) {
        multiply(of, p);
        ns_work(self, ns_compute_ps(2 * size * size * size, of->rate));
        return;
    }
    form_sums(p);
    ns_work(self, ns_compute_ps(SUMS * half * half, of->rate));
    run_children(self, p);
    last_accesses(self, p);
    add_up(p);
    ns_work(self, ns_compute_ps(ADDITIONS * half * half, of->rate));
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static void lay_out_heap(state *self) {
    int64_t products = 1;
    for (int64_t level = 0; level < self->levels; level++, products *= CHILDREN) {
        const int64_t half = self->n >> (level + 1);
        self->first[level] = self->heap_bytes;
        self->heap_bytes += products * TEMPORARIES * half * half * ELEMENT_BYTES;
    }
}

static int allocate(state *self) {
    static const char *const NAME[REGIONS] = {"A", "B", "C", "heap", NULL};
    const size_t elements = (size_t)(self->n * self->n);
    const int64_t matrix_bytes = self->n * self->n * ELEMENT_BYTES;
    for (int region = 0; region < REGIONS; region++) {
        const int64_t bytes = region == HEAP ? self->heap_bytes : matrix_bytes;
        self->region[region] = ns_state_share(&self->memory, bytes, NAME[region], &self->object[region]);
        if (!self->region[region]) return NS_ERROR_MEMORY;
    }
    for (uint64_t region = A; region <= B; region++) {
        double *matrix = self->region[region];
        for (size_t at = 0; at < elements; at++) {
            matrix[at] = (double)ns_below(ns_draw(region, at), VALUES) - VALUES / 2;
        }
    }
    return NS_OK;
}

static bool is_power_of_two(int64_t value) { return (value & (value - 1)) == 0; }

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    while (self->n >> self->levels > self->cutoff) self->levels++;
    self->spawning = self->version == MANUAL ? self->cutoff_depth : self->levels + 1;
    lay_out_heap(self);
    if (!is_power_of_two(self->n) || !is_power_of_two(self->cutoff)) {
        return ns_setting_refuse(setting, "n and cutoff have to be powers of two, for example 256 and 64");
    }
    if (self->heap_bytes >> 30 >= MOST_HEAP_GIB) {
        return ns_setting_refuse(setting, "the temporaries take %lld GiB, and may take %d; n has to be smaller",
                                 (long long)(self->heap_bytes >> 30), MOST_HEAP_GIB);
    }
    return allocate(self);
}

/* Return the product of the whole matrices, to be written to region `to`. */
static product root_of(const state *self, enum region to) {
    const int64_t stride = self->n * ELEMENT_BYTES;
    return (product){self, 0, 0, {A, 0, stride}, {B, 0, stride}, {to, 0, stride}, false};
}

static int run(void *all, ns_pool *pool) {
    const product root = root_of(all, C);
    return ns_pool_run(pool, run_product, &root, sizeof root);
}

static void run_twin(void *all) {
    const product root = root_of(all, TWIN);
    multiply(all, &root);
}

/* Compare numbers and not bytes, because 0.0 and -0.0 are equal numbers. */
static bool matches(const void *all) {
    const state *self = all;
    const double *c = self->region[C], *twin = self->region[TWIN];
    for (int64_t at = 0; at < self->n * self->n; at++) {
        if (c[at] != twin[at]) return false;
    }
    return true;
}

const ns_kernel ns_strassen_kernel = {
    .name = "strassen",
    .meaning = "Strassen's matrix product, a task per half-size product (BOTS)",
    NS_KERNEL_COMMON,
    .create = create,
    .run = run,
};
