/* The simulator's engine (lib/engine) for virtual time: it runs a phase at a time, on the plan of a file, with bodies
 * of a pool. An interface in C to a source in C++.
 */
#ifndef NS_VIRTUAL_ENGINE_H
#define NS_VIRTUAL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "plan_file.h"

typedef struct ns_virtual_engine ns_virtual_engine;

/* The decisions of a controller for the next iteration. */
typedef struct {
    const ns_control *in_force; /* tiers, labels and switches */
    int64_t policy;             /* the number of a page policy; less than 0: unchanged */
    int64_t profile_ps;
} ns_virtual_decision;

/* Functions of a pool that the engine calls. They return 0, or an error that ends the run. */
typedef struct {
    void *pool;
    /* A worker has come to op number `op` of the graph, of the task of `row`. Behind its last op the task ends. */
    int (*come_to)(void *pool, uint32_t worker, uint32_t row, uint32_t op);
    const int64_t *compute_ps; /* [ops] the measured times of segments; NULL: as planned */
    /* Get the decisions for the next iteration. `told` has the measurements; NULL before the first iteration. The
     * function is NULL if the strategy has no controller. */
    int (*decide)(void *pool, const int64_t *told, ns_virtual_decision *decision);
    char *problem; /* the sentence of an error of the engine */
    size_t problem_bytes;
} ns_virtual_host;

/* Make an engine for a plan that lives as long. Returns 0, NS_ERROR_MEMORY, or NS_ERROR_FIELD with a sentence. */
int ns_virtual_engine_create(ns_virtual_engine **self, const ns_plan_file *file, uint64_t seed, ns_virtual_host host);
void ns_virtual_engine_destroy(ns_virtual_engine *self);

/* Returns the number of the next phase, or -1 behind the last phase. */
int64_t ns_virtual_engine_phase(const ns_virtual_engine *self);

/* Run the next phase. Returns 0 or an error. */
int ns_virtual_engine_run(ns_virtual_engine *self);

/* Fill a report of the plan's size with the counts so far. Returns false if sums may not fit 63 bits. */
bool ns_virtual_engine_report(ns_virtual_engine *self, ns_report *report);

#endif
