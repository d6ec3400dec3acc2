/* The boundary between two iterations of a run whose strategy has a controller (model 4.12). The runtime talks to the
 * controller by two files. numasim/runtime/controlled_run.py makes the decisions, at the boundary or before the run.
 *
 * Before the first iteration, and between two iterations, a record of decisions is read from the file `controls`:
 *
 *     i64      the parts of the record, as a sum of: 1 tiers, 2 labels, 4 switches, 8 a page policy
 *     u64      switches, one bit for each switch that is on
 *     i64      the number of the page policy
 *     i64      the cost of measuring at the end of each task of the iteration, in ps
 *     u8[rows] tiers, i32[rows] labels, if the record has these parts
 *
 * Before each record but the first, the measurements are written to the file `measures`, if there is one, in this
 * order:
 *
 *     i64      the time at which the iteration ended
 *     i64[rows], i64[rows][nodes]     of each row's own segments in the iteration: time; bytes by node of memory
 *     i64[nodes][nodes], i64[workers] sums over the run: bytes by reader's and memory's node; time executing
 *
 * All numbers are little-endian. Both files may be pipes. */
#pragma once

#include <stdio.h>

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "record/output_file.h"

enum { NS_NO_POLICY = -1 };

typedef struct {
    const ns_full_plan *plan;
    bool controlled; /* whether the strategy has a controller */
    bool begun;
    FILE *controls;          /* or NULL */
    ns_output_file measures; /* its `file` is NULL if no measurements are written */
    uint8_t *tier;           /* [rows] */
    int32_t *label;          /* [rows] */
    int64_t *measured;       /* one array in the order of the file; it begins with the time */
    int64_t *task_ps, *task_bytes, *node_bytes, *busy_ps;
    /* decisions for the next iteration */
    ns_control in_force; /* tiers, labels and switches */
    int64_t profile_ps;
    int64_t policy; /* the next page policy, or NS_NO_POLICY */
} ns_iteration_boundary;

/* Make the boundary of a pool. The pool's plan has been read from `fields`; the plan must live as long as `self`.
 * Return 0, or an error whose sentence the pool has. The caller destroys `self` also after an error. */
int ns_boundary_create(ns_iteration_boundary *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan);
void ns_boundary_destroy(ns_iteration_boundary *self);

/* Return the number of values in `measured`. */
size_t ns_boundary_measures(const ns_iteration_boundary *self);

/* Note that a phase is about to begin. Before the first phase, read the first record. Return whether a record was read;
 * `*error` is 0 or an error as in ns_boundary_create. */
bool ns_boundary_begin(ns_iteration_boundary *self, ns_pool *pool, int *error);

/* Note that an iteration has ended and another iteration follows: write `measured`, clear the measurements of the
 * iteration, and read the next record. Return 0, or an error as in ns_boundary_create. */
int ns_boundary_cross(ns_iteration_boundary *self, ns_pool *pool);
