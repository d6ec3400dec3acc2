/* The home node of each page in dynamic regions: regions whose pages are placed or moved during a run (model 2.2, 2.10,
 * 4.12). Equal to `PageMap` of engine/reference/memory/page_map.py. A unit is pages that are placed and moved
 * together. */
#pragma once

#include <stdint.h>

#include "plan/plan_reader.h"

typedef struct ns_page_map ns_page_map;

/* The node that makes an access, and the time. */
typedef struct {
    int32_t node;
    int64_t now_ps;
} ns_toucher;

/* The effects of an access on pages, and the time that the toucher pays. */
typedef struct {
    int64_t placed, migrated; /* pages */
    int64_t faults;           /* page faults, which use the address space */
    int64_t overhead_ps;      /* of the faults and migrations, at most 2^63 - 1 */
} ns_page_touch;

/* Make a map in `memory` for the begin of a run of `plan`, which outlives the map. Returns NULL without memory. */
ns_page_map *ns_page_map_create(const ns_full_plan *plan, ns_pieces *memory);

/* Phase number `phase` starts now. Use the policy that is in force from this phase on. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps);

/* Use policy number `policy` of the policies that a controller may choose. */
void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps);

/* Make an access to a dynamic region: unplaced pages are placed, and pages that are to migrate go to the toucher's
 * node. Sets `bytes` [nodes] to the resulting footprint on each home, and `moved` [nodes] to the pages that left each
 * node. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes, int64_t *moved);

/* Set `bytes` [nodes] to the present footprint of a dynamic access on each home, without unplaced pages. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add to `pages` [nodes] how many pages of dynamic regions live on each node. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);
