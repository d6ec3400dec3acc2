/* Checks that reductions give the same result to the last bit for any number of workers: a loop combines the halves of
 * halved ranges, and children are combined in the order of spawns. The program computes the expected result
 * serially. */
#include "program.h"

enum { TERMS = 100, ROUNDS = 4, DIGITS = 16 };

/* ---- sums of numbers of very different sizes --------------------------------------------------------------------- */

static double number(int64_t at) { return (at % 3 ? 1e-9 : 1e9) / (double)(at * at % 97 + 1); }

static double sum_of(int64_t first, int64_t last) {
    double sum = 0;
    for (int64_t at = first; at < last; at++) sum += number(at);
    return sum;
}

static void sum_piece(ns_task *self, void *arguments, int64_t first, int64_t last, void *value) {
    (void)self, (void)arguments;
    *(double *)value = sum_of(first, last);
}

static void add(void *value, const void *next) { *(double *)value += *(const double *)next; }

static double sum_of_halves(int64_t first, int64_t last, int64_t grain) {
    if (last - first <= grain) return sum_of(first, last);
    const int64_t middle = first + (last - first) / 2;
    return sum_of_halves(first, middle, grain) + sum_of_halves(middle, last, grain);
}

static void check_sums(ns_task *self) {
    const int64_t grains[] = {1, 7, 64, 5000};
    for (int each = 0; each < 4; each++) {
        double sum = 0.125;
        require(!ns_parallel_reduce(self, -1000, 3001, grains[each], sum_piece, add, NULL, &sum, sizeof sum),
                "there is memory for a reduction");
        require(sum == 0.125 + sum_of_halves(-1000, 3001, grains[each]), "a sum is that of the tree of halves");
        require(!ns_parallel_reduce(self, 5, 5, 1, sum_piece, add, NULL, &sum, sizeof sum) &&
                    sum == 0.125 + sum_of_halves(-1000, 3001, grains[each]),
                "nothing is added for no index");
    }
}

/* ---- long values, whose order matters ---------------------------------------------------------------------------- */

/* A text of the digits of all indices, of which only the last are kept, so that no combination is commutative. */
typedef struct {
    char digits[DIGITS * 8];
    int64_t first, last;
} text;

static void write_piece(ns_task *self, void *arguments, int64_t first, int64_t last, void *value) {
    text *made = value;
    (void)self, (void)arguments;
    memset(made, 0, sizeof *made);
    for (int64_t at = first; at < last; at++) {
        memmove(made->digits, made->digits + 1, sizeof made->digits - 1);
        made->digits[sizeof made->digits - 1] = (char)('a' + at % 26);
    }
    made->first = first;
    made->last = last;
}

static void append(void *value, const void *next) {
    text *left = value;
    const text *right = next;
    require(left->last == right->first, "neighbours are combined, the left one first");
    const int64_t count = right->last - right->first, room = (int64_t)sizeof left->digits;
    const size_t kept = count < room ? (size_t)(room - count) : 0;
    memmove(left->digits, left->digits + sizeof left->digits - kept, kept);
    memcpy(left->digits + kept, right->digits + kept, sizeof left->digits - kept);
    left->last = right->last;
}

static void check_texts(ns_task *self) {
    for (int64_t grain = 1; grain < 300; grain = 3 * grain + 1) {
        text all = {.first = 3, .last = 3}, expected;
        write_piece(self, NULL, 3, 1003, &expected);
        require(!ns_parallel_reduce(self, 3, 1003, grain, write_piece, append, NULL, &all, sizeof all),
                "there is memory for a reduction of long values");
        require(!memcmp(&all, &expected, sizeof all), "long values are combined in their order");
    }
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t at, beside[4];
} child;

static void contribute(ns_task *self, void *arguments, void *term) {
    const child *c = arguments;
    (void)self;
    require(*(double *)term == 0, "a term is zero before");
    *(double *)term = number(c->at);
}

static void check_children(ns_task *self) {
    double sum = 0.5, expected = 0.5;
    ns_reduction reduction = {.value = &sum, .bytes = sizeof sum, .combine = add};
    for (int round = 0; round < 2; round++) {
        for (int64_t at = 0; at < TERMS; at++) {
            expected += number(at);
            require(!ns_reduce_spawn(self, &reduction, contribute, &(child){.at = at}, sizeof(child)),
                    "there is memory for a term");
        }
        ns_reduce_join(self, &reduction);
        require(sum == expected, "terms are combined in the order of their spawns");
    }
}

BODY(check) {
    for (int round = 0; round < ROUNDS; round++) {
        check_sums(self);
        check_texts(self);
        check_children(self);
    }
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    run(pool, check, NULL, 0);
    return finish(pool);
}
