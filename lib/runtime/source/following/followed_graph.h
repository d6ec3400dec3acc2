/* The task graph of a plan, followed by a program on threads: the present phase and iteration, the decisions for this
 * iteration, and the row of each task in the graph (model 3.6, 4.12, 4.14).
 *
 * A row is a task of the graph. The n-th task that a task spawns or calls has the n-th row that the task's row spawns.
 * Rows of tasks are known only if the strategy asks for rows, or if the graph is the program (NS_GRAPH_IS_PROGRAM). */
#pragma once

#include "control/iteration_boundary.h"
#include "execution/live_subtrees.h"
#include "execution/steps.h"
#include "execution/task_numbers.h"
#include "platform/atomics.h"
#include "threads/task_records.h"

typedef struct {
    const ns_full_plan *plan; /* NULL without a plan: nothing is followed */
    bool knows_rows;          /* whether the rows of tasks are known */
    bool holds;               /* whether tasks wait for their predecessors in the graph */
    bool counts_live;
    ns_iteration_boundary boundary;
    ns_steps steps; /* at the phase that runs, or between runs at the next phase */
    uint32_t iteration;
    ns_live_subtrees live; /* with atomic counts (noted_tasks.c) */
    ns_task_numbers numbers;
    uint32_t *depends;     /* [rows] number of predecessors */
    ns_atomic_u32 *lacks;  /* [rows] number of predecessors that have not ended, plus one until the task is spawned */
    ns_thread_task **held; /* [rows] tasks that are spawned and wait */
} ns_followed_graph;

/* Follow the graph of a plan. The plan must live as long as `self`. Return 0, or an error whose sentence the pool has.
 * The caller destroys `self` also after an error. */
int ns_followed_graph_create(ns_followed_graph *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan,
                             enum ns_graph_use use);
void ns_followed_graph_destroy(ns_followed_graph *self);

/* Note that a run, the next phase of the graph, begins; no worker works yet. Return 0, or an error as in
 * ns_followed_graph_create. */
int ns_followed_graph_begin(ns_followed_graph *self, ns_pool *pool, bool team);

/* Return the phase that runs, or between runs the next phase. */
static inline const ns_phase *ns_followed_phase(const ns_followed_graph *self) {
    return &self->plan->phases.at[self->steps.phase];
}

/* Note that a run has ended; all workers have stopped. Return whether this run ended an iteration and another iteration
 * follows: then the caller gives the measurements to the boundary and crosses the boundary. */
bool ns_followed_graph_end(ns_followed_graph *self);

/* Cross the boundary between two iterations. Return 0, or an error as in ns_followed_graph_create. */
int ns_followed_graph_cross(ns_followed_graph *self, ns_pool *pool);

/* Return the row of the next task that `parent` spawns or calls; NS_NO_ROW if the graph has no further row. */
uint32_t ns_followed_graph_child(const ns_followed_graph *self, ns_task_notes *parent);

/* Note that a root is dealt to a worker. None of its descendants has begun. */
void ns_followed_graph_root(ns_followed_graph *self, uint32_t root);

/* Note that a row's task is spawned. Return whether the task waits for predecessors of the graph. If so, the last
 * predecessor releases the task (ns_followed_graph_release). */
bool ns_followed_graph_hold(ns_followed_graph *self, ns_thread_task *task, uint32_t row);

/* Note that a predecessor of a row's task has ended. Return the task if this was the last predecessor, else NULL. */
ns_thread_task *ns_followed_graph_release(ns_followed_graph *self, uint32_t row);
