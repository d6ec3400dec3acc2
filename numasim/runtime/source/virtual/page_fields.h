/* What a plan says of pages, out of its fields. */
#ifndef NS_PAGE_FIELDS_H
#define NS_PAGE_FIELDS_H

#include "field_reader.h"
#include "memory/page_map.h"

/* From the fields region_pages, stages, free_pages, access_region, ... as numasim/engine/page_fields.py names them; the
 * plan's fields live as long, and so does `*stages`, which the caller frees in any case. 0, NS_ERROR_FIELD with a
 * sentence in `plan`, or NS_ERROR_MEMORY. */
int ns_page_fields_read(ns_page_plan *self, ns_page_stage **stages, ns_field_reader *plan, uint32_t nodes);

#endif
