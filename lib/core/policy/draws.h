/* Counter-based random numbers: each number is a function of the seed, an `ns_draw_class`, an id (of the worker or task
 * that draws) and a counter. A stream is the sequence of numbers with one seed, class and id.
 *
 * The generator is splitmix64 (Steele, Lea and Flood, OOPSLA 2014) whose state is computed from the counter.
 * numasim/draws.py defines the same numbers for the reference engine. */
#pragma once

#include <stdint.h>

#define NS_GAMMA UINT64_C(0x9E3779B97F4A7C15)

/* The kinds of decisions for which random numbers are drawn. */
enum ns_draw_class {
    NS_DRAW_VICTIM = 1,
    NS_DRAW_DURATION = 3,
    NS_DRAW_DISPATCH = 5,
    NS_DRAW_CONFLICT = 6,
    NS_DRAW_WORKER_SPEED = 7
};

/* A stream, of which `drawn` numbers have been used. */
typedef struct {
    uint64_t base;
    uint64_t drawn;
} ns_stream;

/* The 64-bit finaliser of splitmix64, a bijection. */
static inline uint64_t ns_mix(uint64_t z) {
    z ^= z >> 30;
    z *= UINT64_C(0xBF58476D1CE4E5B9);
    z ^= z >> 27;
    z *= UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The `base` of the stream with the `ns_draw_class` `kind` and the id `ident`. */
static inline uint64_t ns_base(uint64_t seed, uint64_t kind, uint64_t ident) {
    return ns_mix(seed ^ ns_mix(kind * NS_GAMMA + ident + 1));
}

/* The seed for the random durations of tasks in run number `turn` of their phase, from 0. For run 0 this is `seed`. */
static inline uint64_t ns_turn_seed(uint64_t seed, uint64_t turn) { return seed ^ ns_mix(turn * NS_GAMMA); }

/* The k-th (from zero) number of the stream that starts at `base`. */
static inline uint64_t ns_draw(uint64_t base, uint64_t k) { return ns_mix(base + (k + 1) * NS_GAMMA); }

/* Map a 64-bit number to [0, n) by a 128-bit product. */
static inline uint64_t ns_below(uint64_t x, uint64_t n) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)x * n >> 64);
}

/* Draw the next number of the stream, mapped to [0, n). */
static inline uint64_t ns_stream_below(ns_stream *self, uint64_t n) {
    return ns_below(ns_draw(self->base, self->drawn++), n);
}
