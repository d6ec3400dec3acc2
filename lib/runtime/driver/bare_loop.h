/* The bare loop: work stealing simulated event by event by as little as that takes, to compare engines with. It has one
 * pending event a worker in a winner tree, durations drawn by the number of the task and a hash of all events, as the
 * engines have; but one machine, one strategy and no effects, and no choice of any of it.
 *
 * A worker takes the task that its queue got last, and the oldest one of another queue, drawn evenly, where its own is
 * empty; a probe takes 100 ns on the node and 300 ns beyond.
 */
#ifndef NS_BARE_LOOP_H
#define NS_BARE_LOOP_H

#include <stdint.h>

enum { NS_BARE_MOST_WORKERS = 4096 };

typedef struct {
    uint64_t events, tasks, steals, makespan_ns, hash;
    int64_t took_ps; /* of the wall clock */
} ns_bare_result;

/* `tasks` independent tasks of 500 to 1,499 ns, dealt to all workers. 0 or NS_ERROR_MEMORY. */
int ns_bare_independent(ns_bare_result *result, uint32_t workers, uint32_t nodes, uint64_t tasks);

/* The calls of fib(n), and the ends of those that have children. 0 or NS_ERROR_MEMORY. */
int ns_bare_fib(ns_bare_result *result, uint32_t workers, uint32_t nodes, uint32_t n);

#endif
