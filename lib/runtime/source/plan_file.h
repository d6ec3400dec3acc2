/* A plan out of a file for the runtime: everything that the engines are given, and what segments are made of, so that
 * one may take as long as it is measured to.
 */
#ifndef NS_PLAN_FILE_H
#define NS_PLAN_FILE_H

#include "fields.h"
#include "memory/pages.h"
#include "plan/plan_reader.h"

typedef struct {
    ns_plan_reader reader;
    ns_full_plan plan;
    uint64_t seed;                     /* of runs that are given none */
    ns_i64s compute_ps;                /* [segments] */
    ns_i64s settled_ps, local_wait_ps; /* [nodes, segments] how long a segment waits for accesses whose homes are known,
                                          and for all of them if they were local; empty where there are none */
} ns_plan_file;

/* What a segment takes on a node. Times beyond 2^63 - 1 ps come out as that. */
typedef struct {
    int64_t total_ps;
    int64_t local_ps; /* if all its bytes were local */
    int64_t owed_ps;  /* faults and migrations: overhead in front of it */
} ns_segment_time;

/* Read and check the plan of `fields`, which live as long: 0, NS_ERROR_FIELD with a sentence in `reader.problem`, or
 * NS_ERROR_MEMORY. It is to be destroyed in any case. */
int ns_plan_file_read(ns_plan_file *self, const ns_fields *fields);
void ns_plan_file_destroy(ns_plan_file *self);

/* Whether threads can execute the program and the strategy, as far as the plan's fields tell; else there is a sentence.
 */
bool ns_plan_file_is_for_threads(ns_plan_file *self);

/* A segment starts: its pages, of those of the file's plan, are placed or moved, its bytes counted. `measured_ps` is
 * its compute time, or -1 for that of the plan. */
ns_segment_time ns_plan_file_start(const ns_plan_file *self, ns_pages *pages, uint32_t segment, ns_toucher toucher,
                                   int64_t measured_ps);

#endif
