/* When a barrier opens and when each of its parties goes on, for every kind of barrier (model 5.4); equal to
 * engine/reference/sync/barriers.py, which says what the kinds are.
 */
#ifndef NUMASIM_SYNC_BARRIERS_H
#define NUMASIM_SYNC_BARRIERS_H

#include "sync/locks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A worker has come to a barrier on `node`, and leaves it. */
typedef struct {
    int64_t time_ps, leave_ps;
    uint32_t worker;
    int32_t node;
} ns_arrival;

/* The lines that a barrier is made of. */
typedef struct {
    ns_line shared;
    ns_line *of_worker; /* [workers] */
    ns_line *of_node;   /* [nodes] */
} ns_barrier;

/* The time at which the barrier opens, all having come; sets `leave_ps` of the `count` arrivals, of different workers,
 * and reorders them. `leaders` has room for as many. Times beyond 2^63 - 1 come out as that. */
int64_t ns_barrier_open(enum ns_barrier_kind kind, const ns_transfers *transfers, ns_barrier *barrier,
                        ns_arrival *arrivals, uint32_t count, ns_arrival *leaders);

#ifdef __cplusplus
}
#endif

#endif
