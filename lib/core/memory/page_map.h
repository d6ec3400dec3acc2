/* Which node is the home of which page, for the regions whose pages are placed or moved during a run (model 2.2, 2.10,
 * 4.12): equal to PageMap of engine/reference/memory/page_map.py. Pages that are placed and moved together are a unit.
 */
#ifndef NUMASIM_MEMORY_PAGE_MAP_H
#define NUMASIM_MEMORY_PAGE_MAP_H

#include <stdint.h>

#include "plan/plan_reader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_page_map ns_page_map;

/* Who makes an access, and when. */
typedef struct {
    int32_t node;
    int64_t now_ps;
} ns_toucher;

/* What an access does with pages, and what the toucher pays for it. */
typedef struct {
    int64_t placed, migrated; /* pages */
    int64_t faults;           /* page faults, which use the address space */
    int64_t overhead_ps;      /* of the faults and migrations, at most 2^63 - 1 */
} ns_page_touch;

/* The map before a run. The plan lives as long. NULL where there is no memory. */
ns_page_map *ns_page_map_create(const ns_full_plan *plan);
void ns_page_map_destroy(ns_page_map *self);

/* Go over to the policy that is in force from `phase` on, which starts now, phases counted without their repeats. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps);

/* Go over to the policy of that number among those that a controller may choose. */
void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps);

/* Walk a dynamic access: what it finds unplaced is placed, what is to migrate goes to the toucher's node. `bytes`
 * [nodes] is its footprint on each home afterwards, `moved` [nodes] the pages that came from each. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes, int64_t *moved);

/* The footprint of a dynamic access on each home as it is now; unplaced pages are left out. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add to `pages` [nodes] how many pages of dynamic regions live on each node. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);

#ifdef __cplusplus
}
#endif

#endif
