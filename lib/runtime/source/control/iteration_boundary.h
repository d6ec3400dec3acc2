/* The boundary between two iterations of a run whose strategy has a controller (model 4.12). The controller is asked by
 * way of two files: numasim/runtime/controlled_run.py decides at the boundary, or has decided before.
 *
 * Before the first iteration, and between any two, a record is read from the one file:
 *
 *     i64      which of these the record has: 1 tiers, 2 labels, 4 switches, 8 a page policy
 *     u64      switches, a bit for each that is on
 *     i64      the number of the page policy
 *     i64      what measuring costs at the end of each task of the iteration, in ps
 *     u8[rows] tiers, i32[rows] labels, if it has them
 *
 * Before each record but the first, the measurements are written to the other file, if there is one, in this order:
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
    ns_output_file measures; /* with a NULL file if there is none */
    uint8_t *tier;           /* [rows] */
    int32_t *label;          /* [rows] */
    int64_t *measured;       /* in the order of the file: the time, */
    int64_t *task_ps, *task_bytes, *node_bytes, *busy_ps;
    /* for the next iteration */
    ns_control in_force; /* tiers, labels and switches */
    int64_t profile_ps;
    int64_t policy; /* the next page policy, or NS_NO_POLICY */
} ns_iteration_boundary;

/* Make the boundary of a pool whose plan, from `fields`, has been read and lives as long. Returns 0, or an error whose
 * sentence the pool has. The caller destroys `self` in any case. */
int ns_boundary_create(ns_iteration_boundary *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan);
void ns_boundary_destroy(ns_iteration_boundary *self);

/* Returns the number of values in `measured`. */
size_t ns_boundary_measures(const ns_iteration_boundary *self);

/* A phase is about to begin. Before the first phase, read the first record. Returns whether a record was read; `*error`
 * is as above. */
bool ns_boundary_begin(ns_iteration_boundary *self, ns_pool *pool, int *error);

/* An iteration has ended and another one follows: write `measured`, clear the measurements of the iteration, and read
 * the next record. Returns 0, or an error as above. */
int ns_boundary_cross(ns_iteration_boundary *self, ns_pool *pool);

#endif
