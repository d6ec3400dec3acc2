/* Clocks: CLOCK_MONOTONIC, the CPU time of a thread, and ticks, which are cheap to read. A tick is a count of the
 * processor's time stamp counter, whose rate is measured once against CLOCK_MONOTONIC. On a processor without such a
 * counter, a tick is 1 ns of CLOCK_MONOTONIC. If workers run in turns (turns/), a tick is 1 ps of a worker's clock. */
#pragma once

#include <stdint.h>
#include <time.h>

#ifdef NS_TURNS
#include "turns/turns.h"
#endif

static inline int64_t ns_clock_ps(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) * 1000;
}

static inline int64_t ns_monotonic_ps(void) {
#ifdef NS_TURNS
    return ns_turns_now_ps();
#else
    return ns_clock_ps(CLOCK_MONOTONIC);
#endif
}

/* Return the CPU time of the calling thread, in ps. Other programs on the computer do not add to this time. */
static inline int64_t ns_cpu_ps(void) { return ns_clock_ps(CLOCK_THREAD_CPUTIME_ID); }

/* Return how long one call of ns_cpu_ps takes: the least of many measurements, since interruptions only add time. */
int64_t ns_cpu_clock_cost_ps(void);

typedef struct {
    double ps_per_tick;
} ns_tick_rate;

static inline uint64_t ns_ticks(void) {
#if defined(NS_TURNS)
    return (uint64_t)ns_turns_now_ps();
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)ns_monotonic_ps() / 1000;
#endif
}

/* Return the rate of ticks. The first call in a process measures the rate, which takes some milliseconds. */
ns_tick_rate ns_tick_rate_of_process(void);

static inline int64_t ns_ticks_to_ps(ns_tick_rate self, uint64_t ticks) {
    return (int64_t)((double)ticks * self.ps_per_tick);
}

static inline uint64_t ns_ps_to_ticks(ns_tick_rate self, int64_t ps) {
    return (uint64_t)((double)ps / self.ps_per_tick);
}

/* Spin for `ps` picoseconds. */
void ns_spin_ps(ns_tick_rate self, int64_t ps);
