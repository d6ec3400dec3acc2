/* The page map of a run in virtual time: which node is the home of which page, what an access finds there, and what
 * that takes (model 2.2, 2.3, 2.10). Equal to engine/reference/memory/page_map.py and timing.py for runs that nothing
 * couples.
 */
#ifndef NS_PAGES_H
#define NS_PAGES_H

#include "api/report.h"
#include "memory/page_map.h"
#include "plan_file.h"
#include "policy/similarity.h"

typedef struct ns_pages ns_pages;

/* What a segment takes on a node. Times beyond 2^63 - 1 ps come out as that. */
typedef struct {
    int64_t total_ps;
    int64_t local_ps; /* if all its bytes were local */
    int64_t owed_ps;  /* faults and migrations: overhead in front of it */
} ns_segment_time;

/* The pages of a plan, which lives as long: 0 or NS_ERROR_MEMORY. */
int ns_pages_create(ns_pages **self, const ns_plan_file *file);
void ns_pages_destroy(ns_pages *self);

/* A segment starts: its pages are placed or moved, its bytes counted. `measured_ps` is its compute time, or -1 for that
 * of the plan. */
ns_segment_time ns_pages_start(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t measured_ps);

/* The objects of a task as dispatch sees them now (thesis sections 5.3 to 5.5): their number in `objects`, which has
 * room for `most`, as many as any task has. */
uint32_t ns_pages_objects(const ns_pages *self, uint32_t task, ns_objects *objects, uint32_t most);
uint32_t ns_pages_most_objects(const ns_pages *self);

/* A phase, by its number in the plan, repeats not counted, begins now: placement may change. */
void ns_pages_start_phase(ns_pages *self, uint32_t phase, int64_t now_ps);

/* Add page_faults and node_bytes to the report. */
void ns_pages_report(const ns_pages *self, ns_report *report);

#endif
