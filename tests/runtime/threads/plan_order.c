/* The graph of a plan as a program on threads: no task begins before all tasks that it waits for have ended.
 *
 * Run as `plan_order PLAN`. All tasks of the plan are roots of one phase. Prints how many tasks ran, and how many of
 * them began too early. */
#include <stdatomic.h>

#include "program.h"
#include "threads/worker.h"

static const ns_graph *graph;
static atomic_int *left; /* [rows] number of predecessors that have not ended */
static atomic_int ran, early;

static void run_root(ns_task *self, void *arguments) {
    (void)arguments;
    const uint32_t row = self->worker->pool->mode->row(self);
    atomic_fetch_add(&ran, 1);
    if (atomic_load(&left[row])) atomic_fetch_add(&early, 1);
    for (int64_t at = graph->successor_ptr.at[row]; at < graph->successor_ptr.at[row + 1]; at++)
        atomic_fetch_add(&left[graph->successor.at[at]], -1);
}

int main(int count, char **words) {
    ns_pool *pool;
    const ns_pool_options options = {.mode = NS_MODE_NATIVE, .plan = words[count - 1], .graph = NS_GRAPH_IS_PROGRAM};
    const int error = ns_pool_create(&pool, &options);
    if (error) fail(pool, error);
    graph = &((const ns_thread_pool *)pool)->file.plan.graph;
    left = calloc((size_t)graph->rows, sizeof *left);
    for (uint64_t at = 0; at < graph->successor.count; at++) left[graph->successor.at[at]]++;
    team(pool, run_root, NULL, 0);
    printf("%d %d\n", ran, early);
    free((void *)left);
    return finish(pool);
}
