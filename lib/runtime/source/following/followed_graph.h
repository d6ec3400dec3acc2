/* The task graph of a plan, as a program on threads follows it: the present phase and iteration, the decisions for this
 * iteration, and the row of each task in the graph (model 3.6, 4.12, 4.14).
 *
 * The first task that a task spawns or calls is the first one that its row spawns or calls, and so on. So a program
 * follows the graph that was recorded of it, whatever else its bodies do. Rows of tasks are known only if the
 * strategy asks for rows, or if the graph itself is the program (graph_program.h).
 */
#ifndef NS_FOLLOWED_GRAPH_H
#define NS_FOLLOWED_GRAPH_H

#include "control/iteration_boundary.h"
#include "execution/live_subtrees.h"
#include "execution/steps.h"
#include "execution/task_numbers.h"
#include "platform/atomics.h"
#include "threads/task_records.h"

typedef struct {
    const ns_full_plan *plan; /* NULL without a plan: nothing is followed */
    bool knows_rows;          /* of tasks */
    bool holds;               /* tasks wait for their predecessors in the graph */
    bool counts_live;
    ns_iteration_boundary boundary;
    ns_steps steps; /* at the present run of a phase, or at the next one */
    uint32_t iteration;
    ns_live_subtrees live; /* with atomic counts: noted_tasks.c */
    ns_task_numbers numbers;
    uint32_t *depends;     /* [rows] predecessors */
    ns_atomic_u32 *lacks;  /* [rows] predecessors that have not ended, and one more until the task is spawned */
    ns_thread_task **held; /* [rows] spawned tasks that wait */
} ns_followed_graph;

/* Follow the graph of a plan that lives as long as `self`. Returns 0, or an error whose sentence the pool has. The
 * caller destroys `self` in any case. */
int ns_followed_graph_create(ns_followed_graph *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan,
                             enum ns_graph_use use);
void ns_followed_graph_destroy(ns_followed_graph *self);

/* A run begins, before any worker works: it is the next phase of the graph. Returns 0, or an error as above. */
int ns_followed_graph_begin(ns_followed_graph *self, ns_pool *pool, bool team);

/* Returns the present phase. */
static inline const ns_phase *ns_followed_phase(const ns_followed_graph *self) {
    return &self->plan->phases.at[self->steps.phase];
}

/* A run has ended, after all workers have stopped. Returns whether an iteration has ended with it and another one
 * follows: then the caller tells the boundary what was measured, and crosses it. */
bool ns_followed_graph_end(ns_followed_graph *self);

/* Cross the boundary. Returns 0, or an error as above. */
int ns_followed_graph_cross(ns_followed_graph *self, ns_pool *pool);

/* Returns the row of the next task that `parent` spawns or calls; NS_NO_ROW if the graph has none. */
uint32_t ns_followed_graph_child(const ns_followed_graph *self, ns_task_notes *parent);

/* A root is dealt; no task below the root has begun. */
void ns_followed_graph_root(ns_followed_graph *self, uint32_t root);

/* The task of a row is spawned. Returns whether it waits for others; the last of these releases it. */
bool ns_followed_graph_hold(ns_followed_graph *self, ns_thread_task *task, uint32_t row);

/* A predecessor of the task of a row has ended. Returns the task if it waited for this predecessor alone, else NULL. */
ns_thread_task *ns_followed_graph_release(ns_followed_graph *self, uint32_t row);

#endif
