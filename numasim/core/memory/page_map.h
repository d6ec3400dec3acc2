/* Which node is the home of which page, for the regions whose pages are placed or moved during a run (model 2.2, 2.10,
 * 4.12): equal to PageMap of numasim/engine/pages.py. Pages that are placed and moved together are a unit.
 */
#ifndef NUMASIM_MEMORY_PAGE_MAP_H
#define NUMASIM_MEMORY_PAGE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nodes of regions in CSR form: of a region none, one for all its units, or one for each. */
typedef struct {
    const int64_t *ptr; /* [regions + 1] */
    const int32_t *node;
} ns_region_nodes;

/* What is done with pages from a phase on. */
typedef struct {
    int64_t phase;
    ns_region_nodes wish; /* of pages that are placed; where nothing is said, they go to the toucher */
    bool reads_place;
    bool marks; /* every page that is placed when the phase starts migrates to its next toucher */
} ns_page_stage;

/* What a plan says of pages and of the accesses to them. */
typedef struct {
    uint32_t nodes;
    int64_t page_bytes;
    uint64_t regions, accesses;
    const int64_t *region_pages, *unit_pages; /* [regions] */
    const uint8_t *dynamic;                   /* [regions] whether pages are placed or moved during the run */
    ns_region_nodes home;                     /* of dynamic regions before the run */
    const ns_page_stage *stages;              /* [stage_count] by phase; the first one is in force before the run */
    uint64_t stage_count;
    const int64_t *free_pages;  /* [nodes], or NULL where memory is not looked at */
    const int64_t *by_distance; /* [nodes][nodes] the nodes from each on, nearest first; likewise */
    const uint32_t *access_region;
    const int64_t *offset, *row_bytes, *rows, *stride; /* [accesses] */
    const uint8_t *writes;                             /* [accesses] */
} ns_page_plan;

typedef struct ns_page_map ns_page_map;

/* What an access does with pages. */
typedef struct {
    int64_t placed, migrated;
} ns_page_touch;

/* The map before a run. The plan's arrays live as long. NULL where there is no memory. */
ns_page_map *ns_page_map_create(const ns_page_plan *plan);
void ns_page_map_destroy(ns_page_map *self);

/* Go over to the policy that is in force from `phase` on, phases counted without their repeats. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase);

/* Walk a dynamic access from `node`: what it finds unplaced is placed, what it finds marked moves to `node`. `bytes`
 * [nodes] is its footprint on each home afterwards, `moved` [nodes] the pages that came from each. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, int32_t node, int64_t *bytes, int64_t *moved);

/* The footprint of a dynamic access on each home as it is now; unplaced pages are left out. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

/* Add to `pages` [nodes] how many pages of dynamic regions live on each node. */
void ns_page_map_count(const ns_page_map *self, int64_t *pages);

#ifdef __cplusplus
}
#endif

#endif
