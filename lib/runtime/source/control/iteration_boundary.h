/* What happens between two iterations of a run whose strategy has a controller (model 4.12), which is asked by way of
 * two files: who runs the plan decides (numasim/runtime/controlled_run.py), or has decided before.
 *
 * Before the first iteration, and between any two, a record is read from the one file:
 *
 *     i64      which of these it has: 1 tiers, 2 labels, 4 switches, 8 a page policy
 *     u64      switches, a bit for each that is on
 *     i64      the number of the page policy
 *     i64      what measuring costs at the end of each task of the iteration, in ps
 *     u8[rows] tiers, i32[rows] labels, if it has them
 *
 * And before all records but the first, what was measured is written to the other file, if there is one, in this order:
 *
 *     i64      the time at which the iteration ended
 *     i64[rows], i64[rows][nodes]     of each task's own segments in it: their time, the bytes moved by home
 *     i64[nodes][nodes], i64[workers] sums of the run so far: bytes moved by node and home, time spent executing
 *
 * All numbers are little-endian. Both files may be pipes.
 */
#ifndef NS_ITERATION_BOUNDARY_H
#define NS_ITERATION_BOUNDARY_H

#include <stdio.h>

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "record/output_file.h"

enum { NS_NO_POLICY = -1 };

typedef struct {
    const ns_full_plan *plan;
    bool controlled; /* the strategy has a controller */
    bool begun;
    FILE *controls;          /* or NULL */
    ns_output_file measures; /* its file is NULL where there is none */
    uint8_t *tier;           /* [rows] */
    int32_t *label;          /* [rows] */
    int64_t *measured;       /* as they are written: the time, */
    int64_t *task_ps, *task_bytes, *node_bytes, *busy_ps;
    /* for the iteration that comes next */
    ns_control in_force; /* tiers, labels and switches */
    int64_t profile_ps;
    int64_t policy; /* to go over to, or NS_NO_POLICY */
} ns_iteration_boundary;

/* For a pool whose plan, of `fields`, has been read, and which lives as long. 0, or an error that the pool has a
 * sentence for. To be destroyed in any case. */
int ns_boundary_create(ns_iteration_boundary *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan);
void ns_boundary_destroy(ns_iteration_boundary *self);

/* How many values `measured` has. */
size_t ns_boundary_measures(const ns_iteration_boundary *self);

/* Before a phase begins: what comes into force if that is the first one. Whether anything has; `*error` as above. */
bool ns_boundary_begin(ns_iteration_boundary *self, ns_pool *pool, int *error);

/* An iteration has ended and another one follows; all that was measured stands in `measured`, and what is of the
 * iteration begins anew. 0, or an error as above. */
int ns_boundary_cross(ns_iteration_boundary *self, ns_pool *pool);

#endif
