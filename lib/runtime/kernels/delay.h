/* Delays that keep a processor busy for a given time, as the delays of EPCC's benchmarks do. */
#ifndef NS_DELAY_H
#define NS_DELAY_H

#include <stdint.h>

/* How many iterations of a loop take a millisecond on this machine; 0: delays take no time. */
typedef struct {
    int64_t turns_per_ms;
} ns_delay;

/* Measure the iterations per millisecond: the fastest of some trials, by the CPU time of the thread. A process measures
 * once, so that all its delays have the same length. */
ns_delay ns_delay_calibrate(void);

/* Keep the processor busy for about `picoseconds`. */
static inline void ns_delay_take(const ns_delay *self, int64_t picoseconds) {
    int64_t turns = (int64_t)((double)picoseconds * 1e-9 * (double)self->turns_per_ms);
    for (; turns > 0; turns--) __asm__ volatile("" ::: "memory");
}

#endif
