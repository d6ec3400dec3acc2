/* Segments, regions, accesses, and the objects that tasks are about. */
#include "generated/plan_checks.h"

/* Whether a table has the rows of `items` items whose row is i div divisor, i mod divisor, both, or 0. */
static bool has_rows(int64_t divisor, bool by_quotient, bool by_remainder, int64_t items, uint64_t rows) {
    const int64_t quotients = items / divisor + (items % divisor != 0);
    const int64_t remainders = items < divisor ? items : divisor;
    const int64_t needed = by_quotient ? (by_remainder ? items : quotients) : by_remainder ? remainders : 1;
    return rows >= (uint64_t)needed;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

bool ns_segment_times_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_times *self) {
    const uint64_t segments = (uint64_t)self->segments;
    for (uint64_t node = 0; node < self->total.count; node++) {
        if (!ns_plan_require(reader, self->total.at[node].count == self->local.at[node].count,
                             "local_ps.%u has another length than total_ps", (unsigned)node)) {
            return false;
        }
    }
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const bool there = self->total.at[plan->node.at[worker]].count == segments;
        if (!ns_plan_require(reader, there, "total_ps is missing for a node with workers")) return false;
    }
    return ns_plan_require(reader, !self->traffic.count || self->traffic.count == segments * plan->nodes,
                           "traffic does not have a row for each segment");
}

/* Whether there is an amount for each of `items`, or a table, none of it above `most`. */
static bool check_amounts(ns_plan_reader *reader, const ns_amounts *self, int64_t items, int64_t most) {
    bool within = true;
    for (uint64_t at = 0; at < self->items.count; at++) within = within && self->items.at[at] <= most;
    for (uint64_t at = 0; at < self->high.count; at++) within = within && self->high.at[at] <= most;
    return ns_plan_require(reader, self->items.count ? self->items.count == (uint64_t)items : self->start.count > 0,
                           "amounts does not have an entry for each item") &&
           ns_plan_require(reader, within, "amounts are too large");
}

bool ns_amounts_check(ns_plan_reader *reader, ns_full_plan *plan, ns_amounts *self) {
    (void)plan;
    bool ordered = !self->start.count || self->start.at[0] == 0;
    for (uint64_t part = 0; part < self->start.count; part++) {
        ordered = ordered && self->low.at[part] <= self->high.at[part] &&
                  (!part || self->start.at[part - 1] < self->start.at[part]);
    }
    return ns_plan_require(reader, ordered, "part_start does not ascend from 0, or a part ends before it begins");
}

static bool check_node_access(ns_plan_reader *reader, const ns_family *family, const ns_node_access *access) {
    bool ascending = access->home.count > 0;
    for (uint64_t at = 1; at < access->share_end.count; at++) {
        ascending = ascending && access->share_end.at[at - 1] <= access->share_end.at[at];
    }
    return ns_plan_require(reader, ascending, "share_end does not ascend") &&
           check_amounts(reader, &access->amounts, family->count, NS_MOST_MOVED);
}

bool ns_family_check(ns_plan_reader *reader, ns_full_plan *plan, ns_family *self) {
    for (uint64_t at = 0; at < self->accesses.count; at++) {
        const ns_item_access *access = &self->accesses.at[at];
        const bool enough = has_rows(access->divisor, access->by_quotient, access->by_remainder, self->count,
                                     access->traffic.count / plan->nodes);
        if (!ns_plan_require(reader, access->traffic.count % plan->nodes == 0, "traffic does not have whole rows") ||
            !ns_plan_require(reader, enough, "traffic has too few rows")) {
            return false;
        }
        for (uint32_t worker = 0; worker < plan->workers; worker++) {
            const bool there = access->wait.at[plan->node.at[worker]].count != 0;
            if (!ns_plan_require(reader, there, "wait_ps is missing for a node with workers")) return false;
        }
    }
    for (uint64_t at = 0; at < self->node_accesses.count; at++) {
        if (!check_node_access(reader, self, &self->node_accesses.at[at])) return false;
    }
    const ns_page_amounts_list of_pages[] = {self->fresh, self->freed};
    for (int at = 0; at < 2; at++) {
        if (!ns_plan_require(reader, of_pages[at].count < 2, "fresh or freed is there twice")) return false;
        if (of_pages[at].count && !check_amounts(reader, &of_pages[at].at[0].amounts, self->count, NS_MOST_MOVED)) {
            return false;
        }
    }
    const bool uniform = !self->compute.items.count && !self->compute.start.count;
    return uniform || check_amounts(reader, &self->compute, self->count, self->high_ps);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* Of each region none, one, or one for each of its units. */
static bool check_nodes(ns_plan_reader *reader, const ns_memory *memory, const char *name, ns_node_lists nodes) {
    for (uint64_t region = 0; region < memory->region_pages.count; region++) {
        const int64_t pages = memory->region_pages.at[region], each = memory->unit_pages.at[region];
        const int64_t said = nodes.ptr.at[region + 1] - nodes.ptr.at[region];
        const bool fits = said < 2 || said == pages / each + (pages % each != 0);
        if (!ns_plan_require(reader, fits, "%s does not have an entry for each unit of a region", name)) return false;
    }
    return true;
}

bool ns_memory_check(ns_plan_reader *reader, ns_full_plan *plan, ns_memory *self) {
    int64_t earliest = 0;
    for (uint64_t at = 0; at < self->stages.count; at++) {
        const ns_stage *stage = &self->stages.at[at];
        if (!ns_plan_require(reader, stage->phase >= earliest, "stages are not in the order of their phases") ||
            !check_nodes(reader, self, "wish", stage->wish)) {
            return false;
        }
        earliest = stage->phase;
    }
    return ns_plan_require(reader, self->stages.count > 0, "stages has no entry") &&
           ns_plan_require(reader, !self->free_pages.count || self->free_pages.count == plan->nodes,
                           "free_pages does not have an entry for each node") &&
           check_nodes(reader, self, "home", self->home);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static bool is_countable(int64_t pieces, int64_t bytes, int64_t times) {
    int64_t moved;
    return !__builtin_mul_overflow(pieces, bytes, &moved) && !__builtin_mul_overflow(moved, times, &moved) &&
           moved <= NS_MOST_BYTES;
}

bool ns_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_accesses *self) {
    for (uint64_t at = 0; at < self->region.count; at++) {
        const int64_t bytes = plan->memory.region_pages.at[self->region.at[at]] * plan->memory.page_bytes;
        const int64_t rows = self->rows.at[at], row_bytes = self->row_bytes.at[at];
        int64_t end = 0;
        const bool known = !rows || (!__builtin_mul_overflow(rows - 1, self->stride.at[at], &end) &&
                                     !__builtin_add_overflow(end, self->offset.at[at] + row_bytes, &end));
        if (!ns_plan_require(reader, known && end <= bytes, "access %u reaches beyond its region", (unsigned)at) ||
            !ns_plan_require(reader, is_countable(rows, row_bytes, self->factor.at[at]),
                             "access %u moves more bytes than can be counted", (unsigned)at)) {
            return false;
        }
    }
    return ns_plan_require(reader, !self->settled.count || self->settled.count == self->region.count * plan->nodes,
                           "settled_bytes does not have a row for each access");
}

bool ns_segment_needs_check(ns_plan_reader *reader, ns_full_plan *plan, ns_segment_needs *self) {
    const ns_accesses *accesses = &plan->accesses;
    for (uint64_t at = 0; at < self->passes.count; at++) {
        const bool countable = is_countable(accesses->rows.at[at], accesses->row_bytes.at[at], self->passes.at[at]);
        if (!ns_plan_require(reader, countable, "access %u moves more bytes than can be counted", (unsigned)at)) {
            return false;
        }
    }
    return ns_plan_require(reader, accesses->settled.count == accesses->region.count * plan->nodes,
                           "settled_bytes is missing");
}

/* Whether an access is to a region whose pages are placed or moved during the run. */
static bool is_open(const ns_full_plan *plan, int64_t access) {
    return 0 <= access && (uint64_t)access < plan->accesses.region.count &&
           plan->memory.dynamic.at[plan->accesses.region.at[access]] != 0;
}

bool ns_open_accesses_check(ns_plan_reader *reader, ns_full_plan *plan, ns_open_accesses *self) {
    for (uint64_t at = 0; at < self->access.count; at++) {
        if (!ns_plan_require(reader, is_open(plan, self->access.at[at]),
                             "open_access[%u] is no access to a region that is placed during the run", (unsigned)at)) {
            return false;
        }
    }
    return ns_plan_require(reader, self->ptr.count == (uint64_t)plan->times.segments + 1,
                           "open_ptr does not have an entry for each segment") &&
           ns_require_i64_pointer(reader, "open_ptr", self->ptr, (int64_t)self->access.count);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

enum { MOST_ITEM_OBJECTS = 4096 };

/* What the objects of one task add up to must not exceed 63 bits. */
static bool check_row(ns_plan_reader *reader, const ns_full_plan *plan, const ns_task_objects *objects, int64_t row) {
    int64_t count = 0, bytes = 0;
    for (int64_t at = objects->ptr.at[row]; at < objects->ptr.at[row + 1]; at++) {
        const bool known = objects->home.at[at] != NS_OPEN_HOME || is_open(plan, objects->access.at[at]);
        if (!ns_plan_require(reader, known, "object_access[%u] is no access to a region that is placed during the run",
                             (unsigned)at) ||
            !ns_plan_require(reader,
                             !__builtin_add_overflow(count, objects->count.at[at], &count) &&
                                 !__builtin_add_overflow(bytes, objects->bytes.at[at], &bytes),
                             "the objects of task %u are more than can be counted", (unsigned)row)) {
            return false;
        }
    }
    return true;
}

bool ns_task_objects_check(ns_plan_reader *reader, ns_full_plan *plan, ns_task_objects *self) {
    for (int64_t row = 0; row < plan->graph.rows; row++) {
        if (!check_row(reader, plan, self, row)) return false;
    }
    for (uint64_t number = 0; number < self->families.count; number++) {
        const ns_item_object_list *objects = &self->families.at[number].objects;
        if (!ns_plan_require(reader, objects->count < MOST_ITEM_OBJECTS, "objects has too many entries")) return false;
        for (uint64_t at = 0; at < objects->count; at++) {
            const ns_item_object *object = &objects->at[at];
            const bool enough = has_rows(object->divisor, object->by_quotient, object->by_remainder,
                                         plan->families.at[number].count, object->home.count);
            if (!ns_plan_require(reader, enough, "home has too few rows")) return false;
        }
    }
    return true;
}
