/* A merge sort in four parts with parallel merges, after BOTS Sort (thesis section 3.6). A task spawns the sorts of the
 * four quarters of its numbers and waits. Then it spawns the merge of the first two quarters and the merge of the last
 * two quarters, both into the temporary array, and waits. Then it calls the merge of the two halves into the original
 * array. A merge takes the middle number of its longer sorted run, finds the place of this number in the shorter run,
 * and spawns a merge of the smaller and one of the larger numbers. The input and the tasks are as in
 * numasim/workload/families/sort.py. */
#include <string.h>

#include "kernels/kernel.h"

enum array { ARRAY, TEMPORARY, ARRAYS };
enum { QUARTERS = 4, SMALL_SORT = 16, MOST_ACCESSES = 3 };
static const int64_t ELEMENT_BYTES = sizeof(int64_t);

typedef struct {
    ns_state_memory memory;
    int64_t n, quicksort_cutoff, merge_cutoff, rate;
    uint32_t object[ARRAYS];
    int64_t *array[ARRAYS], *twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"n", NS_INTEGER, "1000000", 4, 134217728, NULL, "numbers", NS_AT(n)},
    {"quicksort_cutoff", NS_INTEGER, "2048", 4, 134217728, NULL, "arrays with fewer numbers are sorted serially",
     NS_AT(quicksort_cutoff)},
    {"merge_cutoff", NS_INTEGER, "2048", 2, 134217728, NULL,
     "merges whose shorter run has at most so many numbers are serial", NS_AT(merge_cutoff)},
    NS_OBJECTS_PARAMETER,
    {"ps_per_1000_comparisons", NS_INTEGER, "7983000", 0, 1000000000000, NULL, "the declared time of the work",
     NS_AT(rate)},
};

typedef struct {
    const state *of;
    int64_t low, size;
} sort;

/* A merge of [low1, low1 + size1) and [low2, low2 + size2) of an array into [target, ..) of the other array. */
typedef struct {
    const state *of;
    enum array from;
    int64_t low1, size1, low2, size2, target;
    bool announced; /* whether the spawn of the task has declared its accesses */
} merge;

/* ---- serial parts ------------------------------------------------------------------------------------------------ */

static void sort_by_insertion(int64_t *numbers, int64_t size) {
    for (int64_t at = 1; at < size; at++) {
        const int64_t number = numbers[at];
        int64_t to = at;
        for (; to > 0 && numbers[to - 1] > number; to--) numbers[to] = numbers[to - 1];
        numbers[to] = number;
    }
}

static void swap(int64_t *a, int64_t *b) {
    const int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Move the median of the first, the middle and the last number to the middle place. Return the median. */
static int64_t pivot_of(int64_t *numbers, int64_t size) {
    int64_t *first = numbers, *middle = numbers + size / 2, *last = numbers + size - 1;
    if (*middle < *first) swap(middle, first);
    if (*last < *middle) swap(last, middle);
    if (*middle < *first) swap(middle, first);
    return *middle;
}

/* Sort by partition. Only the smaller part is sorted by recursion, so that the stack stays shallow. */
static void quicksort(int64_t *numbers, int64_t size) {
    while (size > SMALL_SORT) {
        const int64_t pivot = pivot_of(numbers, size);
        int64_t low = 0, high = size - 1;
        while (low <= high) {
            while (numbers[low] < pivot) low++;
            while (numbers[high] > pivot) high--;
            if (low <= high) swap(&numbers[low++], &numbers[high--]);
        }
        if (high + 1 < size - low) {
            quicksort(numbers, high + 1);
            numbers += low;
            size -= low;
        } else {
            quicksort(numbers + low, size - low);
            size = high + 1;
        }
    }
    sort_by_insertion(numbers, size);
}

static void merge_serially(const merge *m) {
    const int64_t *a = m->of->array[m->from] + m->low1, *b = m->of->array[m->from] + m->low2;
    const int64_t *a_end = a + m->size1, *b_end = b + m->size2;
    int64_t *to = m->of->array[ARRAYS - 1 - m->from] + m->target;
    while (a < a_end && b < b_end) *to++ = *b < *a ? *b++ : *a++;
    memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *to);
}

/* Return how many numbers of a sorted run are less than or equal to `pivot`. */
static int64_t rank_of(const int64_t *run, int64_t size, int64_t pivot) {
    int64_t low = 0, high = size;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (run[middle] <= pivot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- merges ------------------------------------------------------------------------------------------------------ */

/* Return a copy of the merge in which the longer run is first. */
static merge ordered(const merge *m) {
    merge right = *m;
    if (m->size2 > m->size1) {
        right.low1 = m->low2;
        right.size1 = m->size2;
        right.low2 = m->low1;
        right.size2 = m->size1;
    }
    return right;
}

static bool is_serial(const merge *m) { return m->size2 <= m->of->merge_cutoff; }

/* Write the accesses of a serial merge to `accesses`. Return the number of accesses. */
static uint32_t accesses_of_merge(const merge *m, ns_access *accesses) {
    const state *of = m->of;
    const uint32_t from = of->object[m->from], to = of->object[ARRAYS - 1 - m->from];
    if (!is_serial(m)) return 0;
    accesses[0] = ns_piece(from, m->low1 * ELEMENT_BYTES, m->size1 * ELEMENT_BYTES, NS_READ);
    accesses[1] = ns_piece(to, m->target * ELEMENT_BYTES, (m->size1 + m->size2) * ELEMENT_BYTES, NS_WRITE);
    if (!m->size2) return 2;
    accesses[2] = ns_piece(from, m->low2 * ELEMENT_BYTES, m->size2 * ELEMENT_BYTES, NS_READ);
    return 3;
}

static void run_merge(ns_task *self, void *arguments);

static void spawn_merge(ns_task *self, const merge *m) {
    merge right = ordered(m);
    ns_access accesses[MOST_ACCESSES];
    const uint32_t count = accesses_of_merge(&right, accesses);
    right.announced = true;
    ns_state_spawn(self, &m->of->memory, run_merge, &right, sizeof right, accesses, count);
}

/* Find the place of the longer run's middle number in the shorter run. Merge smaller and larger numbers in tasks. */
static void split_merge(ns_task *self, const merge *m) {
    const int64_t *numbers = m->of->array[m->from];
    const int64_t half = m->size1 / 2, pivot = numbers[m->low1 + half];
    const int64_t rank = rank_of(numbers + m->low2, m->size2, pivot);
    merge below = *m, above = *m;
    m->of->array[ARRAYS - 1 - m->from][m->target + half + rank] = pivot;
    below.size1 = half;
    below.size2 = rank;
    above.low1 += half + 1;
    above.size1 -= half + 1;
    above.low2 += rank;
    above.size2 -= rank;
    above.target += half + rank + 1;
    spawn_merge(self, &below);
    spawn_merge(self, &above);
    ns_join(self);
}

static void run_merge(ns_task *self, void *arguments) {
    const merge *m = arguments;
    ns_access accesses[MOST_ACCESSES];
    if (!m->announced) ns_state_declare(self, &m->of->memory, accesses, accesses_of_merge(m, accesses));
    if (is_serial(m)) {
        merge_serially(m);
        ns_work(self, ns_compute_ps(m->size1 + m->size2, m->of->rate));
    } else {
        split_merge(self, m);
    }
}

/* ---- sorts ------------------------------------------------------------------------------------------------------- */

/* Return size * ceil(log2(size)): the number of comparisons of a sort. */
static int64_t comparisons(int64_t size) {
    int64_t bits = 0;
    while ((size - 1) >> bits) bits++;
    return size * bits;
}

static void run_sort(ns_task *self, void *arguments);

static void spawn_sort(ns_task *self, const sort *s) {
    const state *of = s->of;
    const ns_access access =
        ns_piece(of->object[ARRAY], s->low * ELEMENT_BYTES, s->size * ELEMENT_BYTES, NS_READ_WRITE);
    ns_state_spawn(self, &of->memory, run_sort, s, sizeof *s, &access, s->size < of->quicksort_cutoff);
}

static void split_sort(ns_task *self, const sort *s) {
    const state *of = s->of;
    const int64_t quarter = s->size / QUARTERS, half = 2 * quarter, rest = s->size - half;
    for (int64_t part = 0; part < QUARTERS; part++) {
        const int64_t size = part < QUARTERS - 1 ? quarter : s->size - part * quarter;
        spawn_sort(self, &(sort){of, s->low + part * quarter, size});
    }
    ns_join(self);
    const int64_t low = s->low, middle = low + half;
    spawn_merge(self, &(merge){of, ARRAY, low, quarter, low + quarter, quarter, low, false});
    spawn_merge(self, &(merge){of, ARRAY, middle, quarter, middle + quarter, rest - quarter, middle, false});
    ns_join(self);
    merge back = {of, TEMPORARY, low, half, middle, rest, low, false};
    back = ordered(&back);
    ns_call(self, run_merge, &back);
}

static void run_sort(ns_task *self, void *arguments) {
    const sort *s = arguments;
    const state *of = s->of;
    if (s->size >= of->quicksort_cutoff) {
        split_sort(self, s);
        return;
    }
    quicksort(of->array[ARRAY] + s->low, s->size);
    ns_work(self, ns_compute_ps(comparisons(s->size), of->rate));
}

static void begin(ns_task *self, void *arguments) {
    const sort *s = arguments;
    const ns_access access = ns_piece(s->of->object[ARRAY], 0, s->size * ELEMENT_BYTES, NS_READ_WRITE);
    ns_state_declare(self, &s->of->memory, &access, s->size < s->of->quicksort_cutoff);
    run_sort(self, arguments);
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* Write the numbers 0 to n - 1 in the order of BOTS. BOTS swaps number i with a number drawn by a linear congruential
 * generator. */
static void fill(int64_t *numbers, int64_t n) {
    uint64_t drawn = 1;
    for (int64_t at = 0; at < n; at++) numbers[at] = at;
    for (int64_t at = 0; at < n; at++) {
        drawn = drawn * 1103515245 + 12345;
        swap(&numbers[at], &numbers[drawn % (uint64_t)n]);
    }
}

static int create(void *whole, ns_setting *setting) {
    static const char *const NAME[ARRAYS] = {"array", "temporary"};
    state *self = whole;
    const int64_t n = self->n;
    for (int array = 0; array < ARRAYS; array++) {
        self->array[array] = ns_state_share(&self->memory, n * ELEMENT_BYTES, NAME[array], &self->object[array]);
    }
    self->twin = ns_state_take(&self->memory, n * ELEMENT_BYTES);
    if (!self->array[ARRAY] || !self->array[TEMPORARY] || !self->twin) return NS_ERROR_MEMORY;
    fill(self->array[ARRAY], n);
    memcpy(self->twin, self->array[ARRAY], (size_t)n * sizeof(int64_t));
    return NS_OK;
}

static int run(void *whole, ns_pool *pool) {
    const state *self = whole;
    return ns_pool_run(pool, begin, &(sort){self, 0, self->n}, sizeof(sort));
}

static void run_twin(void *whole) {
    state *self = whole;
    quicksort(self->twin, self->n);
}

static bool matches(const void *whole) {
    const state *self = whole;
    return memcmp(self->array[ARRAY], self->twin, (size_t)self->n * sizeof(int64_t)) == 0;
}

const ns_kernel ns_mergesort_kernel = {
    .name = "mergesort",
    .meaning = "a merge sort in four parts that merges in parallel (BOTS Sort)",
    NS_KERNEL_COMMON,
    .create = create,
    .run = run,
};
