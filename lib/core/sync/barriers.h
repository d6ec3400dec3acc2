/* Simulated barriers: when a barrier opens, and when each of its parties (the workers that meet there) goes on, for
 * each kind of barrier (model 5.4). The costs are transfers of cache lines. Equal to engine/reference/sync/barriers.py,
 * which defines the kinds. */
#pragma once

#include "sync/locks.h"

/* The arrival of a worker of `node` at a barrier at `time_ps`. The worker leaves the barrier at `leave_ps`. */
typedef struct {
    int64_t time_ps, leave_ps;
    uint32_t worker;
    int32_t node;
} ns_arrival;

/* The cache lines of a barrier. */
typedef struct {
    ns_line shared;
    ns_line *of_worker; /* [workers] the line of each worker */
    ns_line *of_node;   /* [nodes] the line of each node */
} ns_barrier;

/* Return the time at which the barrier opens, in ps, from the `count` arrivals of its parties, which are different
 * workers. Sets `leave_ps` of the arrivals, and reorders them. `leaders` is scratch memory for `count` arrivals. Times
 * are at most 2^63 - 1. */
int64_t ns_barrier_open(enum ns_barrier_kind kind, const ns_transfers *transfers, ns_barrier *barrier,
                        ns_arrival *arrivals, uint32_t count, ns_arrival *leaders);
