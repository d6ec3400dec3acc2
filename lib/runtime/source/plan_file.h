/* The plan of a pool, from a file or by default: a compiled strategy and, in most files, a task graph. In addition to
 * what the simulator's engines read, the file has the parts of the times of segments (the work of a task between two
 * calls of the library), so that a measured time can replace a segment's compute time. */
#pragma once

#include "fields.h"
#include "memory/pages.h"
#include "plan/plan_reader.h"

typedef struct {
    ns_plan_reader reader;
    ns_full_plan plan;
    uint64_t seed;         /* for runs without their own seed */
    ns_i64s compute_ps;    /* [segments] time without waits for memory */
    ns_i64s settled_ps;    /* [nodes, segments] wait, from each node, for memory whose node the plan knows; or empty */
    ns_i64s local_wait_ps; /* [nodes, segments] wait if all memory were on this node; or empty */
} ns_plan_file;

/* The time of a segment on a node. Times are at most 2^63 - 1 ps. */
typedef struct {
    int64_t total_ps;
    int64_t local_ps; /* the time if all bytes were local */
    int64_t owed_ps;  /* the time of page faults and migrations before the segment */
} ns_segment_time;

/* Read and check the plan in `fields`, which must live as long as `self`. Return 0, NS_ERROR_FIELD with a sentence in
 * `reader.problem`, or NS_ERROR_MEMORY. The caller destroys `self` also after an error. */
int ns_plan_file_read(ns_plan_file *self, const ns_fields *fields);

/* Make the default plan: a deque for each worker, random victims, one task per steal; a task that joins executes other
 * tasks. `node` [workers + 1] has the node of each worker, below `nodes`, and must live as long as `self`. Return 0 or
 * NS_ERROR_MEMORY. The caller destroys `self` also after an error. */
int ns_plan_file_default(ns_plan_file *self, uint32_t workers, uint32_t nodes, const int32_t *node);

void ns_plan_file_destroy(ns_plan_file *self);

/* Return whether threads can execute the program and the strategy. If not, `reader.problem` has the reason. */
bool ns_plan_file_is_for_threads(ns_plan_file *self);

/* Start a segment on the toucher's node: in `pages`, place or move the pages of dynamic regions that the segment
 * accesses, and count the bytes that the segment moves; without a task graph there are none. `measured_ps` is the
 * segment's compute time, or -1 for the time in the plan. Return the time of the segment. */
ns_segment_time ns_plan_file_start(const ns_plan_file *self, ns_pages *pages, uint32_t segment, ns_toucher toucher,
                                   int64_t measured_ps);
