/* The Fourier transform of n = 2^k complex numbers with radices 8 and 16, after BOTS FFT. The first run of tasks
 * computes the roots of unity, and the second run transforms. A transform of more than 32 numbers has three parts, and
 * waits for its children after each part. It spawns the unshuffling of its input, then a transform for every residue
 * class of indices, then the butterflies with their twiddle factors. A loop over more than 127 items is split into two
 * halves, one task each. Input and output swap roles at every level. The tasks are as in
 * numasim/workload/families/fft.py. */
#include <math.h>
#include <stdlib.h>

#include "kernels/kernel.h"
#include "policy/draws.h"

enum region { IN, OUT, ROOTS, REGIONS };
enum { LARGEST_BASE = 32, LOOP_CUTOFF = 128, LINE_BYTES = 64, MOST_ACCESSES = 3 };
enum { ROOT_FLOPS = 40, TWIDDLE_FLOPS = 6, BUTTERFLY_FLOPS = 5 };

typedef struct {
    double re, im;
} complex;
static const int64_t ELEMENT_BYTES = sizeof(complex);

typedef struct {
    ns_state_memory memory;
    int64_t n, rate;
    uint32_t object[REGIONS];
    complex *data[REGIONS]; /* the transform overwrites region `IN` */
    complex *input, *twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "65536", 2, 16777216, NULL, "complex numbers, a power of two", NS_AT(n)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_flops", NS_INTEGER, "500000", 0, 1000000000000, NULL, "the declared time of the work", NS_AT(rate)},
};

/* A transform of the numbers [first, first + length) of region `from`. The result goes to the other region. */
typedef struct {
    const state *of;
    enum region from;
    int64_t first, length;
    bool announced; /* whether the spawn of the task has declared its accesses */
} transform;

/* The items [first, first + length) of a loop over `classes` items. The loop is a part of the transform, with radix
 * `radix`, of the numbers from `origin` on of region `from`. */
typedef struct {
    const state *of;
    enum loop { ROOTS_LOOP, UNSHUFFLE_LOOP, TWIDDLE_LOOP } loop;
    enum region from;
    int64_t origin, radix, classes, first, length;
    bool announced;
} loop;

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static complex times(complex a, complex b) { return (complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static complex plus(complex a, complex b) { return (complex){a.re + b.re, a.im + b.im}; }
static complex minus(complex a, complex b) { return (complex){a.re - b.re, a.im - b.im}; }

/* exp(-2 pi i k / n) */
static complex root_of_unity(int64_t k, int64_t n) {
    const double angle = -2 * 3.141592653589793 * (double)k / (double)n;
    return (complex){cos(angle), sin(angle)};
}

static int64_t log2_of(int64_t power) {
    int64_t bits = 0;
    while (power >> (bits + 1)) bits++;
    return bits;
}

static void swap(complex *a, complex *b) {
    const complex kept = *a;
    *a = *b;
    *b = kept;
}

static void reverse_bits(complex *x, int64_t length) {
    for (int64_t at = 1, reversed = 0; at < length; at++) {
        int64_t bit = length >> 1;
        for (; reversed & bit; bit >>= 1) reversed ^= bit;
        reversed ^= bit;
        if (at < reversed) swap(&x[at], &x[reversed]);
    }
}

/* Transform `x` in place, with radix 2. `roots` are the roots of unity of order `order`. */
static void transform_in_place(complex *x, int64_t length, const complex *roots, int64_t order) {
    reverse_bits(x, length);
    for (int64_t half = 1; half < length; half *= 2) {
        const int64_t step = order / (2 * half);
        for (int64_t begin = 0; begin < length; begin += 2 * half) {
            for (int64_t at = 0; at < half; at++) {
                const complex a = x[begin + at], b = times(x[begin + at + half], roots[at * step]);
                x[begin + at] = plus(a, b);
                x[begin + at + half] = minus(a, b);
            }
        }
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* For the numbers k of the loop (at most n / 2), compute root k and its conjugate, root n - k. */
static void make_roots(const loop *l) {
    complex *roots = l->of->data[ROOTS];
    for (int64_t k = l->first; k < l->first + l->length; k++) {
        const complex root = root_of_unity(k, l->of->n);
        roots[k] = root;
        roots[l->of->n - k] = (complex){root.re, -root.im};
    }
}

static void unshuffle(const loop *l) {
    const complex *from = l->of->data[l->from] + l->origin;
    complex *to = l->of->data[OUT - l->from] + l->origin;
    for (int64_t item = l->first; item < l->first + l->length; item++) {
        for (int64_t part = 0; part < l->radix; part++) to[part * l->classes + item] = from[item * l->radix + part];
    }
}

static void combine(const loop *l) {
    const int64_t n = l->of->n, step = n / (l->radix * l->classes);
    const complex *from = l->of->data[l->from] + l->origin, *roots = l->of->data[ROOTS];
    complex *to = l->of->data[OUT - l->from] + l->origin, x[LARGEST_BASE];
    for (int64_t item = l->first; item < l->first + l->length; item++) {
        for (int64_t part = 0; part < l->radix; part++) {
            x[part] = times(from[part * l->classes + item], roots[item * part * step]);
        }
        transform_in_place(x, l->radix, roots, n);
        for (int64_t part = 0; part < l->radix; part++) to[part * l->classes + item] = x[part];
    }
}

/* Return the access of a loop to the numbers of its items: one piece in each residue class. */
static ns_access classes_of(const loop *l, enum region region, enum ns_access_mode mode) {
    ns_access access =
        ns_piece(l->of->object[region], (l->origin + l->first) * ELEMENT_BYTES, l->length * ELEMENT_BYTES, mode);
    access.rows = l->radix;
    access.stride = l->classes * ELEMENT_BYTES;
    return access;
}

/* Return the access of a loop to the roots of unity. It reads one root per item and class but the first. */
static ns_access roots_of(const loop *l) {
    const int64_t step_bytes = l->of->n / (l->radix * l->classes) * ELEMENT_BYTES;
    ns_access access = ns_piece(l->of->object[ROOTS], l->first * step_bytes, l->length * ELEMENT_BYTES, NS_READ);
    if (step_bytes != ELEMENT_BYTES) {
        access.row_bytes = LINE_BYTES;
        access.rows = l->length;
        access.stride = step_bytes;
        access.pattern = NS_STRIDED;
    }
    access.passes = (uint32_t)l->radix - 1;
    return access;
}

/* Write the accesses of a loop that is not split to `accesses`. Return the number of accesses. */
static uint32_t accesses_of_loop(const loop *l, ns_access *accesses) {
    const state *of = l->of;
    const int64_t bytes = l->length * ELEMENT_BYTES;
    if (l->loop == ROOTS_LOOP) {
        accesses[0] = ns_piece(of->object[ROOTS], l->first * ELEMENT_BYTES, bytes, NS_WRITE);
        accesses[1] = ns_piece(of->object[ROOTS], (of->n + 1 - l->first - l->length) * ELEMENT_BYTES, bytes, NS_WRITE);
        return 2;
    }
    if (l->loop == UNSHUFFLE_LOOP) {
        accesses[0] =
            ns_piece(of->object[l->from], (l->origin + l->first * l->radix) * ELEMENT_BYTES, bytes * l->radix, NS_READ);
        accesses[1] = classes_of(l, OUT - l->from, NS_WRITE);
        return 2;
    }
    accesses[0] = classes_of(l, l->from, NS_READ);
    accesses[1] = roots_of(l);
    accesses[2] = classes_of(l, OUT - l->from, NS_WRITE);
    return 3;
}

static int64_t flops_of(const loop *l) {
    switch (l->loop) {
        case ROOTS_LOOP: return ROOT_FLOPS * l->length;
        case UNSHUFFLE_LOOP: return 0;
        case TWIDDLE_LOOP: break;
    }
    return (BUTTERFLY_FLOPS * l->radix * log2_of(l->radix) + TWIDDLE_FLOPS * (l->radix - 1)) * l->length;
}

/* Return whether a loop is split. For the loop over roots, BOTS compares the length minus one. */
static bool is_split(const loop *l) { return l->length - (l->loop == ROOTS_LOOP) >= LOOP_CUTOFF; }

static void run_loop(ns_task *self, void *arguments);

static void spawn_loop(ns_task *self, loop l) {
    ns_access accesses[MOST_ACCESSES];
    const uint32_t count = is_split(&l) ? 0 : accesses_of_loop(&l, accesses);
    l.announced = true;
    ns_state_spawn(self, &l.of->memory, run_loop, &l, sizeof l, accesses, count);
}

static void split_loop(ns_task *self, const loop *l) {
    loop lower = *l, upper = *l;
    lower.length = (l->length + (l->loop == ROOTS_LOOP)) / 2;
    upper.first += lower.length;
    upper.length -= lower.length;
    spawn_loop(self, lower);
    spawn_loop(self, upper);
    ns_join(self);
}

static void run_loop(ns_task *self, void *arguments) {
    static void (*const RUN[])(const loop *l) = {
        [ROOTS_LOOP] = make_roots, [UNSHUFFLE_LOOP] = unshuffle, [TWIDDLE_LOOP] = combine};
    const loop *l = arguments;
    ns_access accesses[MOST_ACCESSES];
    if (is_split(l)) {
        split_loop(self, l);
        return;
    }
    if (!l->announced) ns_state_declare(self, &l->of->memory, accesses, accesses_of_loop(l, accesses));
    RUN[l->loop](l);
    ns_work(self, ns_compute_ps(flops_of(l), l->of->rate));
}

/* ---- transforms -------------------------------------------------------------------------------------------------- */

/* Return the number of parts into which BOTS divides a transform; 1 for a base case, which BOTS does not divide. */
static int64_t radix_of(int64_t length) {
    if (length <= LARGEST_BASE) return 1;
    const bool by_eight = length <= 256 || (length >= 1024 && length <= 4096);
    return by_eight ? 8 : 16;
}

/* Write the accesses of a base case to `accesses`. Return their number, or 0 if BOTS divides the transform. */
static uint32_t accesses_of_base(const transform *t, ns_access *accesses) {
    const int64_t place = t->first * ELEMENT_BYTES, bytes = t->length * ELEMENT_BYTES;
    if (radix_of(t->length) > 1) return 0;
    accesses[0] = ns_piece(t->of->object[t->from], place, bytes, NS_READ);
    accesses[1] = ns_piece(t->of->object[OUT - t->from], place, bytes, NS_WRITE);
    return 2;
}

static void run_base(ns_task *self, const transform *t) {
    const complex *from = t->of->data[t->from] + t->first;
    complex *to = t->of->data[OUT - t->from] + t->first;
    for (int64_t at = 0; at < t->length; at++) to[at] = from[at];
    transform_in_place(to, t->length, t->of->data[ROOTS], t->of->n);
    ns_work(self, ns_compute_ps(BUTTERFLY_FLOPS * t->length * log2_of(t->length), t->of->rate));
}

static void run_transform(ns_task *self, void *arguments);

static void spawn_classes(ns_task *self, const transform *t, int64_t radix) {
    const int64_t length = t->length / radix;
    for (int64_t part = 0; part < radix; part++) {
        const transform inner = {t->of, OUT - t->from, t->first + part * length, length, true};
        ns_access accesses[MOST_ACCESSES];
        const uint32_t count = accesses_of_base(&inner, accesses);
        ns_state_spawn(self, &t->of->memory, run_transform, &inner, sizeof inner, accesses, count);
    }
    ns_join(self);
}

static void run_transform(ns_task *self, void *arguments) {
    const transform *t = arguments;
    const int64_t radix = radix_of(t->length), classes = t->length / radix;
    if (radix == 1) {
        ns_access accesses[MOST_ACCESSES];
        if (!t->announced) ns_state_declare(self, &t->of->memory, accesses, accesses_of_base(t, accesses));
        run_base(self, t);
        return;
    }
    loop part = {t->of, UNSHUFFLE_LOOP, t->from, t->first, radix, classes, 0, classes, false};
    spawn_loop(self, part);
    ns_join(self);
    spawn_classes(self, t, radix);
    part.loop = TWIDDLE_LOOP;
    spawn_loop(self, part);
    ns_join(self);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static int create(void *whole, ns_setting *setting) {
    static const char *const NAME[REGIONS] = {"in", "out", "roots"};
    state *self = whole;
    const int64_t n = self->n;
    if (n & (n - 1)) return ns_setting_refuse(setting, "n has to be a power of two, for example %d", 1 << log2_of(n));
    for (int region = 0; region < REGIONS; region++) {
        const int64_t bytes = (n + (region == ROOTS)) * ELEMENT_BYTES;
        self->data[region] = ns_state_share(&self->memory, bytes, NAME[region], &self->object[region]);
        if (!self->data[region]) return NS_ERROR_MEMORY;
    }
    self->input = ns_state_take(&self->memory, n * ELEMENT_BYTES);
    self->twin = ns_state_take(&self->memory, n * ELEMENT_BYTES);
    if (!self->input || !self->twin) return NS_ERROR_MEMORY;
    for (uint64_t at = 0; at < (uint64_t)n; at++) {
        const double re = (double)(ns_draw(0, at) >> 11), im = (double)(ns_draw(1, at) >> 11);
        self->input[at] = (complex){re * 0x1p-52 - 1, im * 0x1p-52 - 1};
        self->data[IN][at] = self->input[at];
    }
    return NS_OK;
}

static int run(void *whole, ns_pool *pool) {
    state *self = whole;
    const loop roots = {self, ROOTS_LOOP, IN, 0, 1, 1, 0, self->n / 2 + 1, false};
    const int error = ns_pool_run(pool, run_loop, &roots, sizeof roots);
    if (error) return error;
    return ns_pool_run(pool, run_transform, &(transform){self, IN, 0, self->n, false}, sizeof(transform));
}

/* Compute the serial twin's transform with radix 2 only, from roots of its own. */
static void run_twin(void *whole) {
    state *self = whole;
    complex *roots = malloc((size_t)self->n * sizeof *roots);
    if (!roots) return; /* a result of zeros, which the comparison finds to be wrong */
    for (int64_t k = 0; k < self->n; k++) roots[k] = root_of_unity(k, self->n);
    for (int64_t at = 0; at < self->n; at++) self->twin[at] = self->input[at];
    transform_in_place(self->twin, self->n, roots, self->n);
    free(roots);
}

/* Return whether the result and the twin differ only by rounding. The error of each is at most 3.5 log2(n) epsilon
 * times its Euclidean norm (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2). So they differ by at
 * most twice this error, and a little more for the errors of the twiddle factors. */
static bool matches(const void *whole) {
    const state *self = whole;
    const double relative = 16 * (double)log2_of(self->n) * 0x1p-52;
    double differing = 0, norm = 0;
    for (int64_t at = 0; at < self->n; at++) {
        const complex difference = minus(self->data[OUT][at], self->twin[at]);
        differing += difference.re * difference.re + difference.im * difference.im;
        norm += self->twin[at].re * self->twin[at].re + self->twin[at].im * self->twin[at].im;
    }
    return differing <= relative * relative * norm;
}

const ns_kernel ns_fft_kernel = {
    .name = "fft",
    .meaning = "the Fourier transform with radices 8 and 16 (BOTS)",
    NS_KERNEL_COMMON,
    .create = create,
    .run = run,
};
