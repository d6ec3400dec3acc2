/* The task graph of a plan, followed by a program on threads: which phase (a part of the program, one run of the pool)
 * and which iteration is running, what the strategy has decided for this iteration, and to which row (entry) of the
 * graph each task belongs (model 3.6, 4.12, 4.14). The n-th task that a task spawns or calls belongs to the n-th row
 * that the row of the task spawns or calls. Rows are known only if the strategy asks for them, or if the graph is the
 * program (NS_GRAPH_IS_PROGRAM). A predecessor of a task is a task that must end before the task begins. */
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
    ns_live_subtrees live; /* counts of live subtrees, changed atomically (noted_tasks.c) */
    ns_task_numbers numbers;
    uint32_t *depends;     /* [rows] number of predecessors of each task */
    ns_atomic_u32 *lacks;  /* [rows] number of predecessors that have not ended, plus one until the task is spawned */
    ns_thread_task **held; /* [rows] the task of each row, from its spawn on */
} ns_followed_graph;

/* Begin to follow the graph of a plan, which must live as long as `self`. Return 0; or an error, with a sentence in the
 * pool. The caller destroys `self` also after an error. */
int ns_followed_graph_create(ns_followed_graph *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan,
                             enum ns_graph_use use);
void ns_followed_graph_destroy(ns_followed_graph *self);

/* Note that a run of the next phase begins, before the workers work. Return 0, or an error as in
 * ns_followed_graph_create. */
int ns_followed_graph_begin(ns_followed_graph *self, ns_pool *pool, bool team);

/* Return the phase that runs, or between runs the next phase. */
static inline const ns_phase *ns_followed_phase(const ns_followed_graph *self) {
    return &self->plan->phases.at[self->steps.phase];
}

/* Note that a run has ended, after all workers have stopped. Return whether the strategy has a controller, and another
 * iteration follows: then the caller stores the measurements in `boundary`, and calls ns_followed_graph_cross. */
bool ns_followed_graph_end(ns_followed_graph *self);

/* Give the measurements to the controller, and take over its decisions for the next iteration. Return 0, or an error as
 * in ns_followed_graph_create. */
int ns_followed_graph_cross(ns_followed_graph *self, ns_pool *pool);

/* Return the row of the next task that `parent` spawns or calls; NS_NO_ROW if the graph has no further row. */
uint32_t ns_followed_graph_child(const ns_followed_graph *self, ns_task_notes *parent);

/* Prepare the tree of a root for a new run: no task of the tree has been spawned. */
void ns_followed_graph_root(ns_followed_graph *self, uint32_t root);

/* Note that the task of a row is spawned. Return whether the task has to wait for predecessors. If so, the end of the
 * last predecessor releases the task (ns_followed_graph_release). */
bool ns_followed_graph_hold(ns_followed_graph *self, ns_thread_task *task, uint32_t row);

/* Note that a predecessor of the task of a row has ended. Return the task if the task is spawned and waits for no other
 * predecessor, else NULL. */
ns_thread_task *ns_followed_graph_release(ns_followed_graph *self, uint32_t row);
