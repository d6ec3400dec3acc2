/* The simulator's engine (lib/engine) for virtual time, in C++, with an interface in C. The engine runs the phases of a
 * plan's task graph, one at each call, and calls the pool back where bodies of tasks run. A row is the entry of a task
 * in the graph; an op is one of its operations. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "plan_file.h"

typedef struct ns_virtual_engine ns_virtual_engine;

/* A controller's decisions for the next iteration. */
typedef struct {
    const ns_control *in_force; /* tiers, labels and switches of the strategy */
    int64_t policy;             /* the number of a page policy; less than 0: unchanged */
    int64_t profile_ps;         /* the cost of measuring at the end of each task */
} ns_virtual_decision;

/* The functions of a pool that the engine calls. Each returns 0, or an error that ends the run. */
typedef struct {
    void *pool;
    /* Called before a worker executes op number `op` of the graph, an op of the task of `row`, or ends the task. */
    int (*come_to)(void *pool, uint32_t worker, uint32_t row, uint32_t op);
    const int64_t *compute_ps; /* [ops] measured times of segments; NULL: the times in the plan */
    /* Get the decisions for the next iteration. `told` has the measurements so far; NULL before the first iteration.
     * `decide` is NULL if the strategy has no controller. */
    int (*decide)(void *pool, const int64_t *told, ns_virtual_decision *decision);
    char *problem; /* the place for the sentence of an engine's error */
    size_t problem_bytes;
} ns_virtual_host;

/* Make an engine for a plan, which must outlive the engine. Return 0, NS_ERROR_MEMORY, or NS_ERROR_FIELD with a
 * sentence. */
int ns_virtual_engine_create(ns_virtual_engine **self, const ns_plan_file *file, uint64_t seed, ns_virtual_host host);
void ns_virtual_engine_destroy(ns_virtual_engine *self);

/* Return the number of the next phase, or -1 behind the last phase. */
int64_t ns_virtual_engine_phase(const ns_virtual_engine *self);

/* Run the next phase. Return 0 or an error. */
int ns_virtual_engine_run(ns_virtual_engine *self);

/* Fill a report of the plan's size with the counts so far. Return false if a sum over workers may exceed 63 bits. */
bool ns_virtual_engine_report(ns_virtual_engine *self, ns_report *report);
