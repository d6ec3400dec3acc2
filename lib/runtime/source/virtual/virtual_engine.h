/* The simulator's engine (lib/engine) as virtual time uses it: a phase at a time, on the plan of a file, with
 * bodies of the pool. In C, but for its source.
 */
#ifndef NS_VIRTUAL_ENGINE_H
#define NS_VIRTUAL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/report.h"
#include "plan_file.h"

typedef struct ns_virtual_engine ns_virtual_engine;

/* What a controller has decided for the iteration that comes next. */
typedef struct {
    const ns_control *in_force; /* tiers, labels and switches */
    int64_t policy;             /* the number of a page policy, or less than 0: that which is in force */
    int64_t profile_ps;
} ns_virtual_decision;

/* What the engine asks of a pool. Functions return 0, or an error that ends the run. */
typedef struct {
    void *pool;
    /* The worker has come to the op number `op` of the graph, which is of the task of `row`; behind the task's last op,
     * it ends. */
    int (*come_to)(void *pool, uint32_t worker, uint32_t row, uint32_t op);
    const int64_t *compute_ps; /* [ops] what segments have computed that the engine has come to; NULL: as planned */
    /* Before the first iteration, `told` is NULL, or between two, when `told` is what was measured: what comes into
     * force. NULL: the strategy has no controller. */
    int (*decide)(void *pool, const int64_t *told, ns_virtual_decision *decision);
    char *problem; /* why a run has ended that no function has ended */
    size_t problem_bytes;
} ns_virtual_host;

/* An engine for the plan, which lives as long: 0, NS_ERROR_MEMORY, or NS_ERROR_FIELD with a problem. */
int ns_virtual_engine_create(ns_virtual_engine **self, const ns_plan_file *file, uint64_t seed, ns_virtual_host host);
void ns_virtual_engine_destroy(ns_virtual_engine *self);

/* The number of the phase that comes next, or -1 behind the last one. */
int64_t ns_virtual_engine_phase(const ns_virtual_engine *self);

/* Run that phase. */
int ns_virtual_engine_run(ns_virtual_engine *self);

/* What has been counted so far; false where sums of it may not fit 63 bits. `report` has the size of the plan. */
bool ns_virtual_engine_report(ns_virtual_engine *self, ns_report *report);

#endif
