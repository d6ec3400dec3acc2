/* Saturating sums and products: a result beyond 2^63 - 1 becomes 2^63 - 1. */
#pragma once

#include <stdint.h>

__extension__ typedef __int128 ns_wide;
__extension__ typedef unsigned __int128 ns_uwide;

/* The lesser of `value` and 2^63 - 1. */
static inline int64_t ns_saturate(ns_wide value) { return value < INT64_MAX ? (int64_t)value : INT64_MAX; }

/* The lesser of a + b and 2^63 - 1, for a, b >= 0. */
static inline int64_t ns_sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t ns_multiply(int64_t a, int64_t b) { return ns_saturate((ns_wide)a * b); }
