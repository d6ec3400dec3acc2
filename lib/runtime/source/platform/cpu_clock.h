/* The CPU time of the calling thread: what work has taken, whatever else the computer does. */
#ifndef NS_CPU_CLOCK_H
#define NS_CPU_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t ns_cpu_ps(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) * 1000;
}

/* What reading it takes, which is in every time between two readings: the least of many, as interruptions only add. */
int64_t ns_cpu_clock_cost_ps(void);

#endif
