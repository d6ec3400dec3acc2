/* The memory of a run: how long segments (pieces of a task's program) wait for accesses to dynamic regions, how many
 * bytes move between nodes, and where the objects of new tasks are (model 2.2, 2.3, 2.10 and 4.5; thesis 5.3 to 5.5).
 * Equal to engine/reference/memory/memory_system.py and page_map.py. A region of memory is dynamic if its pages are
 * placed or moved during a run. The home of a page is the node where it lies. An item is one of many similar tasks
 * without entries of their own in the task graph; a family is such a set of tasks. */
#pragma once

#include "base/wide.h"
#include "memory/page_map.h"
#include "policy/dispatch.h"

enum { NS_MISS_BYTES = 64 }; /* the bytes that one cache miss brings */

typedef struct {
    const ns_full_plan *plan;
    ns_page_map *map;
    int64_t *bytes, *moved; /* [nodes] of the last access: bytes on each node; pages that left each node */
    int64_t *node_bytes; /* [nodes][nodes] bytes that workers of a node (row) have moved from and to a node's memory */
    int64_t placed, migrated; /* numbers of pages so far in the run */
    ns_objects *objects;      /* objects of the task that `ns_pages_describe...` described last */
    int64_t *similarity;      /* [nodes] memory for `ns_new_task.similarity` of this task */
    ns_pieces memory;
} ns_pages;

/* Initialise `self` for a plan, which must outlive `self`. Returns false if memory is short. The caller releases
 * `memory` in either case. */
bool ns_pages_create(ns_pages *self, const ns_full_plan *plan);

/* Set `*time_ps` to the time to load `bytes` bytes in cache lines: a line takes `latency_ps`, and `misses` / 1000 lines
 * are loaded at the same time. Returns false if the computation overflows 64 bits. */
static inline bool ns_misses_fit(int64_t bytes, int64_t latency_ps, int64_t misses, int64_t *time_ps) {
    const int64_t lines = bytes / NS_MISS_BYTES + (bytes % NS_MISS_BYTES != 0);
    *time_ps = 0;
    if (!bytes) return true;
    if (__builtin_mul_overflow(lines, latency_ps, time_ps) || __builtin_mul_overflow(*time_ps, 1000, time_ps)) {
        return false;
    }
    *time_ps = *time_ps / misses + (*time_ps % misses != 0);
    return true;
}

/* Return the row for item number `item` in a table that has a row for each item / divisor (if `by_quotient`), for each
 * item % divisor (if `by_remainder`), for each item (if both), or one row for all items (if neither). */
static inline int64_t ns_table_row(int64_t divisor, bool by_quotient, bool by_remainder, int64_t item) {
    if (by_quotient && by_remainder) return item;
    if (by_quotient) return item / divisor;
    return by_remainder ? item % divisor : 0;
}

/* Return [nodes] the bytes that workers of `node` have moved from and to each node's memory, for reading and adding. */
static inline int64_t *ns_pages_bytes_of(const ns_pages *self, int32_t node) {
    return self->node_bytes + (uint64_t)(uint32_t)node * self->plan->nodes;
}

/* Count the bytes that a worker of `node` moves for a segment's accesses to regions that are not dynamic. */
static inline void ns_pages_count_settled(ns_pages *self, uint32_t segment, int32_t node) {
    const uint32_t nodes = self->plan->nodes;
    if (!self->plan->times.traffic.count) return;
    const int64_t *traffic = self->plan->times.traffic.at + (uint64_t)segment * nodes;
    int64_t *bytes = ns_pages_bytes_of(self, node);
    for (uint32_t home = 0; home < nodes; home++) bytes[home] += traffic[home];
}

/* Return whether a segment has accesses to dynamic regions. */
static inline bool ns_pages_are_open(const ns_full_plan *plan, uint32_t segment) {
    return plan->open.ptr.count && plan->open.ptr.at[segment] != plan->open.ptr.at[segment + 1];
}

/* Make access number `access`, which is to a dynamic region. Sets `self->bytes` and `self->moved`. Returns the effects
 * on pages, and adds them to `placed` and `migrated`. */
ns_page_touch ns_pages_touch(ns_pages *self, uint64_t access, ns_toucher toucher);

/* Start a segment: make all its accesses to dynamic regions, and count the bytes that they move. Returns how long the
 * segment waits for memory: `wait_ps`, which is for its other accesses, plus the wait for these. Adds the time of page
 * faults and migrations to `*owed_ps`. Times are at most 2^63 - 1. */
int64_t ns_pages_wait_ps(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t wait_ps, int64_t *owed_ps);

/* Set the objects of `task`, with their present homes: the objects of the task in row `row` of the graph, or of item
 * number `item` of a family. The objects are valid until the next call of either function. */
void ns_pages_describe(ns_pages *self, uint64_t row, ns_new_task *task);
void ns_pages_describe_item(ns_pages *self, uint64_t family, int64_t item, ns_new_task *task);
