/* The home (the node where a page lies) of each page of the dynamic regions: regions of memory whose pages are placed
 * or moved during a run (model 2.2, 2.10, 4.12). Equal to `PageMap` of engine/reference/memory/page_map.py. A unit is a
 * group of consecutive pages of a region that are placed and moved together. A page policy says where a page goes at
 * its first touch, and whether and when pages move later. The toucher is the worker that makes an access. */
#pragma once

#include <stdint.h>

#include "plan/plan_reader.h"

typedef struct ns_page_map ns_page_map;

/* The node of the toucher, and the time of the access. */
typedef struct {
    int32_t node;
    int64_t now_ps;
} ns_toucher;

/* The effects of an access on pages. */
typedef struct {
    int64_t placed, migrated; /* numbers of pages */
    int64_t faults;      /* page faults: one for each placed page, and for each page of a unit with a hinting fault */
    int64_t overhead_ps; /* time of all these faults and migrations, at most 2^63 - 1 */
} ns_page_touch;

/* Make a map in `memory` for a new run of `plan`, which must outlive the map. Returns NULL if memory is short. */
ns_page_map *ns_page_map_create(const ns_full_plan *plan, ns_pieces *memory);

/* Note that phase number `phase` starts now, and use the page policy that the plan gives for this phase. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps);

/* Use page policy number `policy`, from 0, which the strategy's controller has chosen. */
void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps);

/* Make access number `access` of the plan, which is to a dynamic region. Places the accessed pages without a home if
 * the access writes or the page policy lets reads place pages, and migrates pages that the policy moves to the
 * toucher's node. Sets `bytes` [nodes] to the accessed bytes that then lie on each node (pages without a home count for
 * the toucher's node), and `moved` [nodes] to the number of pages that left each node. Returns the effects. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes, int64_t *moved);

/* Set `bytes` [nodes] to the bytes of access number `access` that lie on each node now, without placing pages. Bytes
 * without a home do not count. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add the number of pages of dynamic regions that lie on each node to `pages` [nodes]. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);
