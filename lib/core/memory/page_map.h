/* The home node of each page in regions whose pages are placed or moved during a run (model 2.2, 2.10, 4.12). Equal to
 * PageMap of engine/reference/memory/page_map.py. Pages that are placed and moved together are a unit.
 */
#pragma once

#include <stdint.h>

#include "plan/plan_reader.h"

typedef struct ns_page_map ns_page_map;

/* The node that makes an access, and the time. */
typedef struct {
    int32_t node;
    int64_t now_ps;
} ns_toucher;

/* What an access does to pages, and what the toucher pays. */
typedef struct {
    int64_t placed, migrated; /* pages */
    int64_t faults;           /* page faults, which use the address space */
    int64_t overhead_ps;      /* of the faults and migrations, at most 2^63 - 1 */
} ns_page_touch;

/* Take a map for the begin of a run of a plan, which outlives the map. Returns NULL if there is no memory. */
ns_page_map *ns_page_map_create(const ns_full_plan *plan, ns_pieces *memory);

/* Phase number `phase` starts now. Use the policy that is in force from it on. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps);

/* Use policy number `policy` of those that a controller may choose. */
void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps);

/* Make a dynamic access: unplaced pages are placed, and pages that are to migrate go to the toucher's node. Sets `bytes`
 * [nodes] to the footprint on each home afterwards, and `moved` [nodes] to the pages that came from each node. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes, int64_t *moved);

/* Set `bytes` [nodes] to the present footprint of a dynamic access on each home, without unplaced pages. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add to `pages` [nodes] how many pages of dynamic regions live on each node. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);
