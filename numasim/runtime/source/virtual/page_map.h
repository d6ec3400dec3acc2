/* Where the pages of dynamic regions are while a program runs in virtual time (model 2.2, 2.10, 4.12): equal to PageMap
 * of numasim/engine/pages.py.
 */
#ifndef NS_PAGE_MAP_H
#define NS_PAGE_MAP_H

#include "field_reader.h"

typedef struct ns_page_map ns_page_map;

/* What an access does with pages. */
typedef struct {
    int64_t placed, migrated;
} ns_page_touch;

/* From the fields region_pages, stages, free_pages, access_region, ... as numasim/engine/page_fields.py names them; the
 * plan lives as long. 0, NS_ERROR_FIELD with a sentence in `plan`, or NS_ERROR_MEMORY. */
int ns_page_map_create(ns_page_map **self, ns_field_reader *plan, uint32_t nodes);
void ns_page_map_destroy(ns_page_map *self);

/* How many accesses there are, and whether the pages of one are placed or moved while the program runs. */
uint64_t ns_page_map_accesses(const ns_page_map *self);
bool ns_page_map_is_dynamic(const ns_page_map *self, uint64_t access);

/* Go over to the policy that is in force from `phase` on, phases counted without their repeats. */
void ns_page_map_start_phase(ns_page_map *self, int64_t phase);

/* Walk a dynamic access from `node`: what it finds unplaced is placed, what it finds marked moves to `node`. `bytes`
 * [nodes] is its footprint on each home afterwards, `moved` [nodes] the pages that came from each. */
ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, int32_t node, int64_t *bytes, int64_t *moved);

/* The footprint of a dynamic access on each home as it is now; unplaced pages are left out. */
void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes);

#endif
