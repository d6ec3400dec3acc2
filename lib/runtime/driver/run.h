/* One run of a kernel: in a pool of its own, on a state of its own, beside its serial twin. */
#ifndef NS_RUN_H
#define NS_RUN_H

#include "api/report.h"
#include "driver/options.h"

typedef struct {
    uint64_t seed;
    bool verified, correct; /* correct where it was not verified */
    int64_t serial_ps;      /* of the serial twin, where it was verified */
    int64_t rehearsed_ps;   /* of a rehearsal just before; 0 where there was none */
    int64_t hop_ps[3];      /* of a native run, a cache line's time from each worker to the next: before the rehearsal,
                               before and after the run; else 0 */
    uint32_t workers;
    ns_report report;
} ns_outcome;

/* Run a kernel. Returns 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

/* Run a kernel on threads after a rehearsal: what the program takes serially, on the hardware threads of its workers.
 *
 * In a rehearsal each worker runs a copy of the program, with a state of its own, all at once: hardware threads take
 * speed from each other, by shared cores, caches, memory and clocks, which no run alone can measure. What a program
 * takes depends on its order, too. Where the first worker takes the newest task from its deque, its copy does so, and
 * the copies of the others begin with the oldest tasks, which thieves take from that deque. */
int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

void ns_outcome_destroy(ns_outcome *self);

#endif
