/* The graph of a plan as a program on threads: no task begins before all tasks have ended for which it waits.
 *
 * Run as `plan_order PLAN`. In the plan, the only segment of task i takes i + 1 nanoseconds. Prints how many tasks ran,
 * and how many of them began too early.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_program.h"
#include "threads/worker.h"

static const ns_graph *graph;
static atomic_int *left; /* [rows] number of predecessors that have not ended */
static atomic_int ran, wrong;

static void take(const void *context, int64_t picoseconds) {
    (void)context;
    const int64_t row = picoseconds / 1000 - 1;
    atomic_fetch_add(&ran, 1);
    if (atomic_load(&left[row])) atomic_fetch_add(&wrong, 1);
    for (int64_t at = graph->successor_ptr.at[row]; at < graph->successor_ptr.at[row + 1]; at++)
        atomic_fetch_add(&left[graph->successor.at[at]], -1);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    ns_pool *pool;
    ns_graph_program *program = NULL;
    int error = ns_pool_create(
        &pool, &(ns_pool_options){.mode = NS_MODE_NATIVE, .plan = arguments[1], .graph = NS_GRAPH_IS_PROGRAM});
    if (!error) {
        graph = &((const ns_thread_pool *)pool)->file.plan.graph;
        left = calloc((size_t)graph->rows, sizeof *left);
        for (uint64_t at = 0; at < graph->successor.count; at++) left[graph->successor.at[at]]++;
        error = ns_graph_program_create(&program, pool, (ns_graph_delay){take, NULL});
    }
    if (!error) error = ns_graph_program_run(program);
    if (error) fprintf(stderr, "%s\n", pool ? ns_pool_problem(pool) : ns_error_sentence(error));
    const bool complete = !error && ns_graph_program_is_complete(program);
    ns_graph_program_destroy(program);
    ns_pool_destroy(pool);
    free((void *)left);
    printf("%d %d\n", ran, wrong);
    return !complete;
}
