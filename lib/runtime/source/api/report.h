/* The counts of runs, under the names that the simulator's results have (numasim/engine/result.py). */
#pragma once

#include "base/pieces.h"
#include "generated/counters.h"

/* Compiled with NUMASIM_COUNTERS=0 (CMake: -DNUMASIM_COUNTERS=OFF), the thread mode counts only tasks: all other
 * counters, the tables of nodes and the tables of words are 0. Measurements that a strategy uses are still made. */
#ifndef NUMASIM_COUNTERS
#define NUMASIM_COUNTERS 1
#endif

/* Indices of the counters of a worker: NS_TASKS and so on. */
#define NS_COUNTER(name, NAME) NS_##NAME,
enum ns_counter { NS_EACH_COUNTER(NS_COUNTER) NS_COUNTERS };
#undef NS_COUNTER

/* The names of the counters, which are the names of columns in results. */
extern const char *const NS_COUNTER_NAME[NS_COUNTERS];

/* The number of counts of a synchronisation object: acquisitions, handoffs_local, handoffs_remote, wait_ps, hold_ps. */
enum { NS_SYNC_COUNTS = NS_SYNC_COUNTER_COUNT };

typedef struct {
    uint32_t workers, nodes;
    int64_t makespan_ps;
    uint64_t trace_hash;    /* virtual time: hash of the steps of all workers, as in the simulator; else 0 */
    int64_t page_faults;    /* virtual time: pages placed by first touch */
    int64_t *counters;      /* [workers][NS_COUNTERS] */
    int32_t *node;          /* [workers] */
    int64_t *node_attempts; /* [nodes][nodes] attempts to steal, by the thief's node and the queue's node */
    int64_t *node_success;  /* [nodes][nodes] successful attempts */
    int64_t *node_bytes;    /* [nodes][nodes] bytes of declared accesses, by the reader's node and the memory's node */
    int64_t *words;         /* [word_count][NS_SYNC_COUNTS] counts of each synchronisation object (word) */
    uint32_t word_count;
    ns_pieces memory;
} ns_report;

/* Allocate a report with these dimensions, all zero. Return 0 or NS_ERROR_MEMORY. */
int ns_report_create(ns_report *self, uint32_t workers, uint32_t nodes, uint32_t word_count);
void ns_report_destroy(ns_report *self);
