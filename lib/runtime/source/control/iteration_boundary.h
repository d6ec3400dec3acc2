/* The boundary between two iterations of a program whose strategy has a controller: Python code that gets measurements
 * of an iteration and makes decisions for the next (model 4.12). The runtime talks to the controller by two files,
 * which numasim/runtime/controlled_run.py writes and reads. A row is an entry (task) of the plan's task graph. Tiers
 * (enum ns_tier) and labels (units of workers) of tasks, and switches of levels, are parts of a strategy.
 *
 * Before the first iteration, and between two iterations, a record of decisions is read from the file `controls`:
 *
 *     i64      the parts of the record that count, as a sum of: 1 tiers, 2 labels, 4 switches, 8 a page policy
 *     u64      switches, one bit for each switch that is on
 *     i64      the number of the page policy
 *     i64      the cost of measuring at the end of each task of the iteration, in ps
 *     u8[rows] tiers, i32[rows] labels, if the record has these parts
 *
 * Before each record but the first, the measurements are written to the file `measures`, if there is one:
 *
 *     i64      the time at which the iteration ended, in ps
 *     i64[rows], i64[rows][nodes]     of each task in the iteration, without its children: ps; bytes by node of memory
 *     i64[nodes][nodes], i64[workers] since the run began: bytes by nodes of reader and memory; ps of executing tasks
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
    bool controlled;         /* whether the strategy has a controller; if not, the boundary does nothing */
    bool begun;              /* whether the first record has been read */
    FILE *controls;          /* or NULL */
    ns_output_file measures; /* its `file` is NULL if no measurements are written */
    uint8_t *tier;           /* [rows] the tiers that were read last */
    int32_t *label;          /* [rows] the labels that were read last */
    int64_t *measured;       /* one array in the order of the file `measures`; it begins with the time */
    int64_t *task_ps, *task_bytes, *node_bytes, *busy_ps; /* where the other parts begin in this array */
    ns_control in_force;                                  /* tiers, labels and switches for the next iteration */
    int64_t profile_ps;                                   /* the cost of measuring a task in the next iteration */
    int64_t policy;                                       /* the page policy for the next iteration, or NS_NO_POLICY */
} ns_iteration_boundary;

/* Make the boundary of a pool whose plan has been read from `fields`. The plan must live as long as `self`. Return 0;
 * or an error, with a sentence in the pool. The caller destroys `self` also after an error. */
int ns_boundary_create(ns_iteration_boundary *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan);
void ns_boundary_destroy(ns_iteration_boundary *self);

/* Return the number of values in `measured`. */
size_t ns_boundary_measures(const ns_iteration_boundary *self);

/* Read the first record if a phase is the first to begin. Return whether this is so; set `*error` to 0 or an error as
 * in ns_boundary_create. */
bool ns_boundary_begin(ns_iteration_boundary *self, ns_pool *pool, int *error);

/* Go from an iteration to the next: write `measured`, clear the measurements of the iteration, and read the next
 * record. Return 0, or an error as in ns_boundary_create. */
int ns_boundary_cross(ns_iteration_boundary *self, ns_pool *pool);
