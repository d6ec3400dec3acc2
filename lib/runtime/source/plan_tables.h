/* A compiled strategy out of a plan's fields, and what a worker does besides searching: the rules of its thresholds,
 * its back-off and its joins.
 */
#ifndef NS_PLAN_TABLES_H
#define NS_PLAN_TABLES_H

#include "plan_file.h"
#include "policy/round.h"
#include "generated/plan_structs.h"
#include "policy/thresholds.h"

typedef struct {
    ns_plan steal;
    ns_threshold_rules thresholds;
    enum ns_threshold_time threshold_time;
    ns_backoff backoff;
    bool backoff_after_probe, backoff_counts_empty;
    int64_t refill; /* look for work while the own queue is this short; -1: while it is below its threshold s */
    enum ns_join_kind join;
    bool work_first;
    int64_t inline_resume_ppm;
    uint64_t seed;
    ns_plan_file *file; /* that they come from, or NULL */
    void *made;         /* the memory behind default tables */
} ns_plan_tables;

/* Read the plan of `fields`, which live as long: 0, NS_ERROR_FIELD with a sentence in `file->reader.problem`, or
 * NS_ERROR_MEMORY. To be destroyed in any case. */
int ns_plan_tables_read(ns_plan_tables *self, const ns_fields *fields);

/* The strategy where no plan is given: a deque for each worker, random victims, one task a steal, help while joining.
 * `node` [workers + 1] lives as long, with entries below `nodes`. 0 or NS_ERROR_MEMORY. */
int ns_plan_tables_default(ns_plan_tables *self, uint32_t workers, uint32_t nodes, const int32_t *node);

void ns_plan_tables_destroy(ns_plan_tables *self);

#endif
