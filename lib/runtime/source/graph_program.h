/* The task graph of a plan, run as a program: each op of a task is a call of a function of numasim/runtime.h. So any
 * program of the simulator can run in virtual time, with the same counts, and also on threads. On threads, segments
 * keep processors busy for their compute time.
 */
#ifndef NS_GRAPH_PROGRAM_H
#define NS_GRAPH_PROGRAM_H

#include <stdbool.h>

#include "numasim/runtime.h"

typedef struct ns_graph_program ns_graph_program;

/* The function that spends the time of a segment on threads. */
typedef struct {
    void (*take)(const void *context, int64_t picoseconds);
    const void *context;
} ns_graph_delay;

/* Make the program of the plan of `pool`. The pool was made with NS_GRAPH_IS_PROGRAM; the program's words are
 * registered with the pool. Return 0, NS_ERROR_UNSUPPORTED, NS_ERROR_FIELD or NS_ERROR_MEMORY. */
int ns_graph_program_create(ns_graph_program **self, ns_pool *pool, ns_graph_delay delay);
void ns_graph_program_destroy(ns_graph_program *self);

/* Run all phases, each as often as the plan says. Return 0 or the error of a run. */
int ns_graph_program_run(ns_graph_program *self);

/* Return whether every task has run as often as its phase. */
bool ns_graph_program_is_complete(const ns_graph_program *self);

#endif
