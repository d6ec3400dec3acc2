/* The pages of a run: what segments wait for those that are placed or moved during it, which bytes are moved, and what
 * new tasks are about and where that is at home now (model 2.2, 2.3, 2.10 and 4.5; thesis 5.3 to 5.5). Equal to
 * engine/reference/memory/memory_system.py and page_map.py.
 */
#ifndef NUMASIM_MEMORY_PAGES_H
#define NUMASIM_MEMORY_PAGES_H

#include "base/wide.h"
#include "memory/page_map.h"
#include "policy/similarity.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NS_MISS_BYTES = 64 }; /* that a miss brings */

typedef struct {
    const ns_full_plan *plan;
    ns_page_map *map;
    int64_t *bytes, *moved;   /* [nodes] of the access touched last: its bytes by home, the pages that came from each */
    int64_t *node_bytes;      /* [nodes][nodes] moved by each node from and to each home */
    int64_t placed, migrated; /* pages */
    ns_objects *objects;      /* of the task described last */
    int64_t *similarity;      /* [nodes] likewise */
} ns_pages;

/* The pages of a plan, which lives as long: false where there is no memory. To be destroyed in any case. */
bool ns_pages_create(ns_pages *self, const ns_full_plan *plan);
void ns_pages_destroy(ns_pages *self);

/* How long `bytes` take that come line by line, `misses` / 1000 lines at a time; false where that is more than products
 * of 64 bits hold. */
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

/* The row that an item has in a table over the distinct offsets that items give. */
static inline int64_t ns_table_row(int64_t divisor, bool by_quotient, bool by_remainder, int64_t item) {
    if (by_quotient && by_remainder) return item;
    if (by_quotient) return item / divisor;
    return by_remainder ? item % divisor : 0;
}

/* [nodes] what `node` has moved from and to each home, to be added to. */
static inline int64_t *ns_pages_bytes_of(const ns_pages *self, int32_t node) {
    return self->node_bytes + (uint64_t)(uint32_t)node * self->plan->nodes;
}

/* Count what the accesses of a segment move whose homes are known before the run. */
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

/* Let a dynamic access find its pages; `bytes` and `moved` are its. */
ns_page_touch ns_pages_touch(ns_pages *self, uint64_t access, ns_toucher toucher);

/* A segment starts: let all such accesses of it find their pages, and count their bytes. How long it waits, `wait_ps`
 * for the others; what faults and migrations take is added to `owed_ps`. Times beyond 2^63 - 1 come out as that. */
int64_t ns_pages_wait_ps(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t wait_ps, int64_t *owed_ps);

/* Let `task` be about the objects of a row of the graph, or of an item of a range, as they are now. They live until the
 * next call. */
void ns_pages_describe(ns_pages *self, uint64_t row, ns_new_task *task);
void ns_pages_describe_item(ns_pages *self, uint64_t family, int64_t item, ns_new_task *task);

#ifdef __cplusplus
}
#endif

#endif
