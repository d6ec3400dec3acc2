/* The home node of each page in dynamic regions: regions whose pages are placed or moved during a run (model 2.2, 2.10,
 * 4.12). Equal to `PageMap` of engine/reference/memory/page_map.py. A unit is a number of consecutive pages that are
 * placed and moved together. A home is the node where a page lies. */
#pragma once

#include <stdint.h>

#include "plan/plan_reader.h"

typedef struct ns_page_map ns_page_map;

/* The node whose worker makes an access, and the time of the access. */
typedef struct {
    int32_t node;
    int64_t now_ps;
} ns_toucher;

/* The effects of an access on pages, and the time that the toucher pays. */
typedef struct {
    int64_t placed, migrated; /* numbers of pages */
    int64_t faults;           /* page faults by placed pages and by scans; each locks the address space */
    int64_t overhead_ps;      /* of the faults and migrations together, at most 2^63 - 1 */
} ns_page_touch;

/* Make a map in `memory` for a new run of `plan`, which outlives the map. Returns NULL if there is no memory. */
ns_page_map *ns_page_map_create(const ns_full_plan *plan, ns_pieces *memory);

/* Phase number `phase` starts now. Use the page policy that the plan has for this phase. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps);

/* Use page policy number `policy` of the policies that a controller may choose. */
void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps);

/* Make an access to a dynamic region. Unplaced pages are placed if the access writes or the page policy lets reads
 * place pages. Pages that are to migrate go to the toucher's node. Sets `bytes` [nodes] to the accessed bytes that then
 * lie on each node (unplaced pages count for the toucher's node), and `moved` [nodes] to the number of pages that left
 * each node. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes, int64_t *moved);

/* Set `bytes` [nodes] to the bytes of a dynamic access that lie on each node now. Unplaced pages do not count. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add to `pages` [nodes] how many pages of dynamic regions lie on each node. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);
