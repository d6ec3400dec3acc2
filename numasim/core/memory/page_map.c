#include "memory/page_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/wide.h"

/* The units of all dynamic regions, one region after the other; those of region r begin at first[r]. */
struct ns_page_map {
    const ns_full_plan *plan;
    uint64_t stage;      /* in force */
    int64_t since_ps;    /* when it began to be */
    int64_t *first;      /* [regions + 1] */
    uint16_t *home;      /* [units] node + 1, or 0 while unplaced; memory that is never touched is never taken */
    uint8_t *marked;     /* [units], or NULL where no stage marks */
    int64_t *free_pages; /* [nodes], or NULL */
};

static const ns_memory *memory_of(const ns_page_map *self) { return &self->plan->memory; }

static uint64_t regions_of(const ns_full_plan *plan) { return plan->memory.region_pages.count; }

/* ---- walking an access ------------------------------------------------------------------------------------------- */

/* The pieces of an access between borders of units, row by row. */
typedef struct {
    int64_t unit_bytes, row_bytes, stride, rows_left, next_row; /* what is still to come */
    int64_t first, border;                                      /* the unit in which a row began, its end */
    int64_t at, end, unit_end;                                  /* in the row at hand */
    int64_t unit, bytes;                                        /* of the piece at hand */
} walk;

static walk walk_of(const ns_full_plan *plan, uint64_t access) {
    return (walk){
        .unit_bytes = plan->memory.unit_pages.at[plan->accesses.region.at[access]] * plan->memory.page_bytes,
        .row_bytes = plan->accesses.row_bytes.at[access],
        .stride = plan->accesses.stride.at[access],
        .rows_left = plan->accesses.row_bytes.at[access] ? plan->accesses.rows.at[access] : 0,
        .next_row = plan->accesses.offset.at[access],
    };
}

static inline bool walk_next(walk *self) {
    if (self->at == self->end) {
        if (!self->rows_left) return false;
        self->rows_left--;
        self->at = self->next_row;
        self->end = self->at + self->row_bytes;
        self->next_row += self->stride;
        if (self->at >= self->border) { /* else the row begins in the unit in which the last one began */
            self->first = self->at / self->unit_bytes;
            self->border = (self->first + 1) * self->unit_bytes;
        }
        self->unit = self->first;
        self->unit_end = self->border;
    } else {
        self->unit++;
        self->unit_end += self->unit_bytes;
    }
    const int64_t stop = self->unit_end < self->end ? self->unit_end : self->end;
    self->bytes = stop - self->at;
    self->at = stop;
    return true;
}

/* ---- placing and moving ------------------------------------------------------------------------------------------ */

static int64_t pages_of(const ns_full_plan *plan, uint64_t region, int64_t unit) {
    const int64_t pages = plan->memory.unit_pages.at[region];
    const int64_t left = plan->memory.region_pages.at[region] - unit * pages;
    return left < pages ? left : pages;
}

/* The node that gets `pages` pages that are wanted on one: the next by distance that has room, or else that one. */
static int32_t room(ns_page_map *self, int32_t wanted, int64_t pages) {
    if (!self->free_pages) return wanted;
    const int64_t *order = memory_of(self)->by_distance.at + (uint64_t)wanted * self->plan->nodes;
    int32_t node = wanted;
    for (uint32_t at = 0; at < self->plan->nodes; at++) {
        if (self->free_pages[order[at]] < pages) continue;
        node = (int32_t)order[at];
        break;
    }
    self->free_pages[node] -= pages;
    return node;
}

/* The node that is said for a unit, or `otherwise`. */
static int32_t node_of(const ns_node_lists *nodes, uint64_t region, int64_t unit, int32_t otherwise) {
    const int64_t first = nodes->ptr.at[region], count = nodes->ptr.at[region + 1] - first;
    if (!count) return otherwise;
    return nodes->node.at[first + (count == 1 ? 0 : unit)];
}

static int64_t place(ns_page_map *self, uint64_t region, int64_t unit, int32_t toucher) {
    const int64_t pages = pages_of(self->plan, region, unit);
    const int32_t wanted = node_of(&memory_of(self)->stages.at[self->stage].wish, region, unit, toucher);
    self->home[self->first[region] + unit] = (uint16_t)(room(self, wanted, pages) + 1);
    return pages;
}

/* Pages that would migrate to a full node stay. */
static int64_t migrate(ns_page_map *self, uint64_t region, int64_t unit, int32_t to, int64_t *moved) {
    const int64_t at = self->first[region] + unit, pages = pages_of(self->plan, region, unit);
    const int32_t from = self->home[at] - 1;
    if (from == to || (self->free_pages && self->free_pages[to] < pages)) return 0;
    if (self->free_pages) {
        self->free_pages[to] -= pages;
        self->free_pages[from] += pages;
    }
    self->home[at] = (uint16_t)(to + 1);
    moved[from] += pages;
    return pages;
}

/* What faults and migrations cost the toucher. */
static int64_t overhead_ps(const ns_operation_costs *costs, ns_page_touch touch) {
    return ns_saturate((ns_wide)touch.placed * costs->fault_ps + (ns_wide)touch.migrated * costs->migrate_ps);
}

ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes,
                                int64_t *moved) {
    const ns_full_plan *plan = self->plan;
    const uint32_t region = plan->accesses.region.at[access];
    const bool places = plan->accesses.writes.at[access] || plan->memory.stages.at[self->stage].reads_place;
    const uint16_t *home = self->home + self->first[region];
    uint8_t *marked = self->marked ? self->marked + self->first[region] : NULL;
    ns_page_touch touch = {0};
    memset(bytes, 0, plan->nodes * sizeof *bytes);
    memset(moved, 0, plan->nodes * sizeof *moved);
    for (walk piece = walk_of(plan, access); walk_next(&piece);) {
        if (marked && marked[piece.unit]) {
            marked[piece.unit] = 0;
            touch.migrated += migrate(self, region, piece.unit, toucher.node, moved);
        }
        if (places && !home[piece.unit]) touch.placed += place(self, region, piece.unit, toucher.node);
        bytes[home[piece.unit] ? home[piece.unit] - 1 : toucher.node] += piece.bytes;
    }
    touch.faults = touch.placed;
    touch.overhead_ps = overhead_ps(&plan->costs, touch);
    return touch;
}

void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes) {
    const uint16_t *home = self->home + self->first[self->plan->accesses.region.at[access]];
    memset(bytes, 0, self->plan->nodes * sizeof *bytes);
    for (walk piece = walk_of(self->plan, access); walk_next(&piece);) {
        if (home[piece.unit]) bytes[home[piece.unit] - 1] += piece.bytes;
    }
}

void ns_page_map_count(const ns_page_map *self, int64_t *pages) {
    for (uint64_t region = 0; region < regions_of(self->plan); region++) {
        const uint16_t *home = self->home + self->first[region];
        const int64_t units = self->first[region + 1] - self->first[region];
        for (int64_t unit = 0; unit < units; unit++) {
            if (home[unit]) pages[home[unit] - 1] += pages_of(self->plan, region, unit);
        }
    }
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Let every page that is placed move to whoever touches it next, where the stage that begins now says so. */
static void enter_stage(ns_page_map *self, int64_t now_ps) {
    self->since_ps = now_ps;
    if (!memory_of(self)->stages.at[self->stage].marks) return;
    const int64_t units = self->first[regions_of(self->plan)];
    for (int64_t unit = 0; unit < units; unit++) self->marked[unit] = self->home[unit] != 0;
}

void ns_page_map_start_phase(ns_page_map *self, int64_t phase, int64_t now_ps) {
    const ns_full_plan *plan = self->plan;
    while (self->stage + 1 < plan->memory.stages.count && plan->memory.stages.at[self->stage + 1].phase <= phase) {
        self->stage++;
        enter_stage(self, now_ps);
    }
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

static bool any_marks(const ns_full_plan *plan) {
    for (uint64_t at = 0; at < plan->memory.stages.count; at++) {
        if (plan->memory.stages.at[at].marks) return true;
    }
    return false;
}

/* Number the units of dynamic regions. */
static void number(ns_page_map *self) {
    const ns_full_plan *plan = self->plan;
    for (uint64_t region = 0; region < regions_of(plan); region++) {
        const int64_t unit = plan->memory.unit_pages.at[region];
        const int64_t units = (plan->memory.region_pages.at[region] + unit - 1) / unit;
        self->first[region + 1] = self->first[region] + (plan->memory.dynamic.at[region] ? units : 0);
    }
}

static bool make(ns_page_map *self) {
    const ns_full_plan *plan = self->plan;
    self->first = calloc(regions_of(plan) + 1, sizeof *self->first);
    if (!self->first) return false;
    number(self);
    const size_t units = (size_t)self->first[regions_of(plan)];
    self->home = calloc(units + 1, sizeof *self->home);
    self->marked = any_marks(plan) ? calloc(units + 1, sizeof *self->marked) : NULL;
    if (!self->home || (any_marks(plan) && !self->marked)) return false;
    if (!plan->memory.free_pages.count) return true;
    self->free_pages = malloc(plan->nodes * sizeof *self->free_pages);
    if (self->free_pages) memcpy(self->free_pages, plan->memory.free_pages.at, plan->nodes * sizeof *self->free_pages);
    return self->free_pages;
}

/* Give the regions the homes that they have before the run. */
static void settle(ns_page_map *self) {
    for (uint64_t region = 0; region < regions_of(self->plan); region++) {
        const int64_t units = self->first[region + 1] - self->first[region];
        if (!units || memory_of(self)->home.ptr.at[region] == memory_of(self)->home.ptr.at[region + 1]) continue;
        for (int64_t unit = 0; unit < units; unit++) {
            self->home[self->first[region] + unit] = (uint16_t)(node_of(&memory_of(self)->home, region, unit, 0) + 1);
        }
    }
}

ns_page_map *ns_page_map_create(const ns_full_plan *plan) {
    ns_page_map *made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = (ns_page_map){.plan = plan};
    if (!make(made)) {
        ns_page_map_destroy(made);
        return NULL;
    }
    settle(made);
    if (plan->memory.stages.count) enter_stage(made, 0);
    return made;
}

void ns_page_map_destroy(ns_page_map *self) {
    if (!self) return;
    free(self->first);
    free(self->home);
    free(self->marked);
    free(self->free_pages);
    free(self);
}
