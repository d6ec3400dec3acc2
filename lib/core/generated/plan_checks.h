/* Generated from numasim/schema by `python -m numasim.schema.generate_c`: not to be edited. */
#pragma once

#include "plan/plan_reader.h"

/* Functions that check conditions of a plan beyond types, sizes and bounds, and compute members.
 * Each function is called when its structure has been read, the function of the whole plan last. A function
 * keeps the first mistake in the reader, and returns whether there is no mistake. */
bool ns_segment_times_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_times *self);
bool ns_graph_check(ns_plan_reader *reader, ns_full_plan *plan, ns_graph *self);
bool ns_memory_check(ns_plan_reader *reader, ns_full_plan *plan, ns_memory *self);
bool ns_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_accesses *self);
bool ns_open_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_open_accesses *self);
bool ns_amounts_check(ns_plan_reader *reader, ns_full_plan *plan, ns_amounts *self);
bool ns_family_check(ns_plan_reader *reader, ns_full_plan *plan, ns_family *self);
bool ns_segment_needs_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_needs *self);
bool ns_cache_sizes_check(ns_plan_reader *reader, ns_full_plan *plan, ns_cache_sizes *self);
bool ns_seat_check(ns_plan_reader *reader, ns_full_plan *plan, ns_seat *self);
bool ns_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan *self);
bool ns_control_check(ns_plan_reader *reader, ns_full_plan *plan, ns_control *self);
bool ns_plan_words_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan_words *self);
bool ns_task_objects_check(ns_plan_reader *reader, ns_full_plan *plan, ns_task_objects *self);
bool ns_full_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_full_plan *self);
