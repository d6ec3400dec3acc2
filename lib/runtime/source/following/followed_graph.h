/* The task graph of a plan, as far as a program on threads follows it: where it is in its phases and iterations, what
 * has been decided for the present one, and which row of the graph each task is (model 3.6, 4.12, 4.14).
 *
 * The first task that a task spawns or calls is the first that its row spawns or calls, and so on. So a program follows
 * the graph that was recorded of it, whatever else its bodies do. Tasks are only known by their rows where the strategy
 * asks for that, or the graph itself is the program (graph_program.h).
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
    ns_steps steps; /* the run of a phase that is on, or comes next */
    uint32_t iteration;
    ns_live_subtrees live; /* its counts are atomic here: live_gates.h */
    ns_task_numbers numbers;
    uint32_t *depends;     /* [rows] predecessors */
    ns_atomic_u32 *lacks;  /* [rows] those that have not ended, and one until the task is there */
    ns_thread_task **held; /* [rows] tasks that are there and wait */
} ns_followed_graph;

/* For a pool with that plan, which lives as long. 0, or an error that
 * the pool has a sentence for. To be destroyed in any case. */
int ns_followed_graph_create(ns_followed_graph *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan,
                             enum ns_graph_use use);
void ns_followed_graph_destroy(ns_followed_graph *self);

/* A run begins, while no worker works: it is the next phase of the graph. 0, or an error as above. */
int ns_followed_graph_begin(ns_followed_graph *self, ns_pool *pool, bool team);

/* The phase that is on. */
static inline const ns_phase *ns_followed_phase(const ns_followed_graph *self) {
    return &self->plan->phases.at[self->steps.phase];
}

/* The run has ended, likewise; whether an iteration has ended with it and another one follows, so that the boundary is
 * to be told what was measured, and to be crossed. */
bool ns_followed_graph_end(ns_followed_graph *self);

/* Cross the boundary: 0, or an error as above. */
int ns_followed_graph_cross(ns_followed_graph *self, ns_pool *pool);

/* The row of the next task that `parent` spawns or calls; NS_NO_ROW where the graph has none. */
uint32_t ns_followed_graph_child(const ns_followed_graph *self, ns_task_notes *parent);

/* A root comes, of which all tasks below it are yet to come. */
void ns_followed_graph_root(ns_followed_graph *self, uint32_t root);

/* The task of a row is there. Whether it waits for others, the last of which finds it. */
bool ns_followed_graph_hold(ns_followed_graph *self, ns_thread_task *task, uint32_t row);

/* A predecessor of the task of that row has ended: the task, if it waited for that one alone, or NULL. */
ns_thread_task *ns_followed_graph_release(ns_followed_graph *self, uint32_t row);

#endif
