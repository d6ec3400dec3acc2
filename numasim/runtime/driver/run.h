/* One run of a kernel: in a pool of its own, on a state of its own, beside its serial twin. */
#ifndef NS_RUN_H
#define NS_RUN_H

#include "driver/options.h"
#include "report.h"

typedef struct {
    uint64_t seed;
    bool verified, correct; /* correct where it was not verified */
    int64_t serial_ps;      /* of the serial twin, where it was verified */
    uint32_t workers;
    ns_report report;
} ns_outcome;

/* 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);
void ns_outcome_destroy(ns_outcome *self);

#endif
