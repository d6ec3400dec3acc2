/* The pages of a run: how long segments wait for accesses to dynamic regions, which bytes move, and where the objects
 * of new tasks are (model 2.2, 2.3, 2.10 and 4.5; thesis 5.3 to 5.5). Equal to engine/reference/memory/memory_system.py
 * and page_map.py. A region is dynamic if its pages are placed or moved during a run. */
#pragma once

#include "base/wide.h"
#include "memory/page_map.h"
#include "policy/dispatch.h"

enum { NS_MISS_BYTES = 64 }; /* the bytes that one cache miss brings */

typedef struct {
    const ns_full_plan *plan;
    ns_page_map *map;
    int64_t *bytes, *moved; /* [nodes] of the last access: bytes on each node, pages that left each node */
    int64_t *node_bytes;    /* [nodes][nodes] bytes moved by the workers of a node (row), from and to a node's memory */
    int64_t placed, migrated; /* numbers of pages, for the whole run */
    ns_objects *objects;      /* of the task that `ns_pages_describe...` described last */
    int64_t *similarity;      /* [nodes] memory for `ns_new_task.similarity` of that task */
    ns_pieces memory;
} ns_pages;

/* Prepare the pages of a plan that outlives `self`. Returns false if there is no memory. Release `memory` in either
 * case. */
bool ns_pages_create(ns_pages *self, const ns_full_plan *plan);

/* Set `*time_ps` to the time in which `bytes` bytes come as cache lines. A line takes `latency_ps`, and `misses` / 1000
 * lines come at the same time. Returns false if a product does not fit into 64 bits. */
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

/* The row of item number `item` in a table whose rows depend on item div `divisor`, on item mod `divisor`, on both or
 * on neither. */
static inline int64_t ns_table_row(int64_t divisor, bool by_quotient, bool by_remainder, int64_t item) {
    if (by_quotient && by_remainder) return item;
    if (by_quotient) return item / divisor;
    return by_remainder ? item % divisor : 0;
}

/* [nodes] the bytes that workers of `node` have moved from and to each node's memory. The caller may add to them. */
static inline int64_t *ns_pages_bytes_of(const ns_pages *self, int32_t node) {
    return self->node_bytes + (uint64_t)(uint32_t)node * self->plan->nodes;
}

/* Count the bytes of those accesses of a segment whose pages have known homes before the run. */
static inline void ns_pages_count_settled(ns_pages *self, uint32_t segment, int32_t node) {
    const uint32_t nodes = self->plan->nodes;
    if (!self->plan->times.traffic.count) return;
    const int64_t *traffic = self->plan->times.traffic.at + (uint64_t)segment * nodes;
    int64_t *bytes = ns_pages_bytes_of(self, node);
    for (uint32_t home = 0; home < nodes; home++) bytes[home] += traffic[home];
}

/* Whether a segment has accesses whose pages are placed or moved during the run. */
static inline bool ns_pages_are_open(const ns_full_plan *plan, uint32_t segment) {
    return plan->open.ptr.count && plan->open.ptr.at[segment] != plan->open.ptr.at[segment + 1];
}

/* Make an access to a dynamic region. Sets `self->bytes` and `self->moved`. */
ns_page_touch ns_pages_touch(ns_pages *self, uint64_t access, ns_toucher toucher);

/* A segment starts: make its dynamic accesses and count their bytes. Returns how long the segment waits for all its
 * accesses, of which `wait_ps` is for its other accesses. Adds the time of faults and migrations to `owed_ps`. No time
 * is above 2^63 - 1. */
int64_t ns_pages_wait_ps(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t wait_ps, int64_t *owed_ps);

/* Give `task` the objects of a row of the graph or of item `item` of range `family`, with the objects' present homes.
 * The next such call overwrites the objects. */
void ns_pages_describe(ns_pages *self, uint64_t row, ns_new_task *task);
void ns_pages_describe_item(ns_pages *self, uint64_t family, int64_t item, ns_new_task *task);
