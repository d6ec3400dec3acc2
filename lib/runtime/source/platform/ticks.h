/* A clock that is cheap to read: the processor's time stamp counter, held against CLOCK_MONOTONIC once, or that clock
 * itself where there is no such counter.
 */
#ifndef NS_TICKS_H
#define NS_TICKS_H

#include <stdint.h>
#include <time.h>

/* How ticks become picoseconds. */
typedef struct {
    double ps_per_tick;
} ns_tick_rate;

/* CLOCK_MONOTONIC, ps. */
static inline int64_t ns_monotonic_ps(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) * 1000;
}

static inline uint64_t ns_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return (uint64_t)ns_monotonic_ps() / 1000;
#endif
}

/* The rate, which the first call of a process measures, in some milliseconds. */
ns_tick_rate ns_tick_rate_of_process(void);

static inline int64_t ns_ticks_to_ps(ns_tick_rate self, uint64_t ticks) {
    return (int64_t)((double)ticks * self.ps_per_tick);
}

static inline uint64_t ns_ps_to_ticks(ns_tick_rate self, int64_t ps) {
    return (uint64_t)((double)ps / self.ps_per_tick);
}

/* Do nothing else for `ps`. */
void ns_spin_ps(ns_tick_rate self, int64_t ps);

#endif
