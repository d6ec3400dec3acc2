/* One run of a kernel: in a pool of its own, on a state of its own, beside its serial twin. */
#ifndef NS_RUN_H
#define NS_RUN_H

#include "api/report.h"
#include "driver/options/options.h"

typedef struct {
    uint64_t seed;
    bool verified, correct; /* correct where it was not verified */
    int64_t serial_ps;      /* of the serial twin, where it was verified */
    int64_t rehearsed_ps;   /* of copies of the program just before (rehearsal.h); 0 where there were none */
    int64_t hop_ps[3];      /* of a native run, from worker to worker (ring.h): before the copies, before and after the
                               run; else 0 */
    uint32_t workers;
    ns_report report;
} ns_outcome;

/* A pool; or NULL and a negative error code, with a sentence for the user in `problem`. */
int ns_run_pool(ns_pool **made, const ns_pool_options *options, char *problem, size_t bytes);

/* 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);
void ns_outcome_destroy(ns_outcome *self);

#endif
