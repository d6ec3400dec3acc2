/* Delays that keep a processor busy for a given time, as those of EPCC's benchmarks do. */
#ifndef NS_DELAY_H
#define NS_DELAY_H

#include <stdint.h>

/* How many turns of a loop take a millisecond here; 0: delays take no time. */
typedef struct {
    int64_t turns_per_ms;
} ns_delay;

/* The fastest of some trials, in the thread's own CPU time; found out once, so that all delays of a process are of one
 * length. */
ns_delay ns_delay_calibrate(void);

/* Take about `picoseconds`. */
static inline void ns_delay_take(const ns_delay *self, int64_t picoseconds) {
    int64_t turns = (int64_t)((double)picoseconds * 1e-9 * (double)self->turns_per_ms);
    for (; turns > 0; turns--) __asm__ volatile("" ::: "memory");
}

#endif
