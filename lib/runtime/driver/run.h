/* One run of a kernel, with a new pool, a new state and a serial twin for comparison. */
#ifndef NS_RUN_H
#define NS_RUN_H

#include "api/report.h"
#include "driver/options.h"

typedef struct {
    uint64_t seed;
    bool verified, correct; /* correct: true if the run was not verified */
    int64_t serial_ps;      /* the time of the serial twin, if the run was verified */
    int64_t rehearsed_ps;   /* the time of a rehearsal just before the run; 0 without a rehearsal */
    int64_t hop_ps[3];      /* native runs: the time of a cache line from each worker to the next, before the rehearsal,
                               before the run and after the run; else 0 */
    uint32_t workers;
    ns_report report;
} ns_outcome;

/* Run a kernel. Return 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

/* Run a kernel on threads after a rehearsal. The rehearsal measures the serial time of the program on the hardware
 * threads of its workers.
 *
 * In a rehearsal each worker runs a copy of the program, with a state of its own, and all copies run at once: hardware
 * threads slow each other down by shared cores, caches, memory and clocks. A serial run alone cannot measure this. The
 * time of a program depends on the order of its tasks, too. Where the first worker takes the newest task from its
 * deque, its copy does so; the copies of the other workers begin with the oldest tasks, which thieves take from this
 * deque. */
int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

void ns_outcome_destroy(ns_outcome *self);

#endif
