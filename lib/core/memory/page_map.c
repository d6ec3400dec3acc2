#include "memory/page_map.h"

#include <string.h>

#include "base/wide.h"

/* The words unit (pages that are placed and moved together), home, page policy and toucher are explained in page_map.h.
 * A stage is the time during which one page policy is in force. Automatic NUMA balancing: the system scans memory
 * periodically, each scan covers the next part (window) of the address space, and the first touch of a unit after a
 * scan is a hinting fault. After enough hinting faults in a row from one node the unit migrates to this node. */

/* The history of a unit under automatic NUMA balancing. */
typedef struct {
    uint64_t scans;   /* number of scans of the unit before its last touch */
    uint16_t node;    /* node of the toucher at the last hinting fault, + 1; 0: no fault yet */
    uint8_t in_a_row; /* hinting faults in a row from `node`, at most 255 */
} scan_state;

/* The units of all dynamic regions are numbered, one region after the other. Region r begins at unit first[r]. */
struct ns_page_map {
    const ns_full_plan *plan;
    uint64_t stage;      /* number of the present stage */
    int64_t since_ps;    /* when the present stage began */
    uint64_t windows;    /* number of windows of the address space; 0: the present stage has no scans */
    int64_t *first;      /* [regions + 1] the first unit of each region */
    uint16_t *home;      /* [units] home of each unit + 1; 0: none yet */
    uint8_t *marked;     /* [units] whether the next touch migrates the unit; NULL if no stage does so */
    scan_state *scanned; /* [units] NULL if no stage has scans */
    uint64_t *begin;     /* [regions + 1] address of each region in bytes; NULL if no stage has scans */
    int64_t *free_pages; /* [nodes] NULL if nodes are never full */
};

static const ns_memory *memory_of(const ns_page_map *self) { return &self->plan->memory; }

static uint64_t regions_of(const ns_full_plan *plan) { return plan->memory.region_pages.count; }

/* ---- walking an access ------------------------------------------------------------------------------------------- */

/* A walk over the bytes of an access. The access has rows of `row_bytes` bytes; each row begins `stride` bytes after
 * the row before. The walk cuts rows into pieces at the borders of units. Places are byte offsets in the region. */
typedef struct {
    int64_t unit_bytes, row_bytes, stride;
    int64_t rows_left, next_row; /* number of rows to come; where the next row begins */
    int64_t first, border;       /* the unit in which the present row begins; where this unit ends */
    int64_t at, end, unit_end;   /* where the present piece, the present row and the present unit end */
    int64_t unit, bytes;         /* of the present piece: its unit, and its number of bytes */
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

/* Go to the next piece. Returns false after the last piece. */
static inline bool walk_next(walk *self) {
    if (self->at == self->end) {
        if (!self->rows_left) return false;
        self->rows_left--;
        self->at = self->next_row;
        self->end = self->at + self->row_bytes;
        self->next_row += self->stride;
        if (self->at >= self->border) { /* otherwise the row begins in the same unit as the row before */
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

/* Return the number of pages of a unit: the last unit of a region may have fewer than the others. */
static int64_t pages_of(const ns_full_plan *plan, uint64_t region, int64_t unit) {
    const int64_t pages = plan->memory.unit_pages.at[region];
    const int64_t left = plan->memory.region_pages.at[region] - unit * pages;
    return left < pages ? left : pages;
}

/* Take `pages` free pages from the node nearest to `wanted` that has so many, or from `wanted` if no node has so many.
 * Returns this node. */
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

/* Return the node that `nodes` gives for a unit, or `otherwise` if `nodes` gives no node for the region. */
static int32_t node_of(const ns_node_lists *nodes, uint64_t region, int64_t unit, int32_t otherwise) {
    const int64_t first = nodes->ptr.at[region], count = nodes->ptr.at[region + 1] - first;
    if (!count) return otherwise;
    return nodes->node.at[first + (count == 1 ? 0 : unit)];
}

/* Give a unit a home at its first touch, by a worker of node `toucher`. Returns the number of pages of the unit. */
static int64_t place(ns_page_map *self, uint64_t region, int64_t unit, int32_t toucher) {
    const int64_t pages = pages_of(self->plan, region, unit);
    const int32_t wanted = node_of(&memory_of(self)->stages.at[self->stage].wish, region, unit, toucher);
    self->home[self->first[region] + unit] = (uint16_t)(room(self, wanted, pages) + 1);
    return pages;
}

/* Migrate a unit to node `to`, unless the unit is there already or the node is full. Returns the number of pages that
 * migrate, which are also added to `moved` of the node that the pages leave. */
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

/* ---- scanning: automatic NUMA balancing -------------------------------------------------------------------------- */

static const ns_scan *scan_of(const ns_page_map *self) { return &memory_of(self)->stages.at[self->stage].scan; }

/* Return how many scans the present stage has had until `now_ps`. */
static uint64_t scans_until(const ns_page_map *self, int64_t now_ps) {
    const int64_t past_ps = now_ps - self->since_ps - scan_of(self)->delay_ps;
    return past_ps < 0 ? 0 : (uint64_t)(past_ps / scan_of(self)->period_ps) + 1;
}

/* Note the touch of a unit, when the stage has had `scans` scans. Returns whether one of these scans has covered the
 * unit since its last touch. */
static bool was_scanned(ns_page_map *self, uint64_t region, int64_t unit, uint64_t scans) {
    const int64_t unit_bytes = memory_of(self)->unit_pages.at[region] * memory_of(self)->page_bytes;
    const uint64_t window = (self->begin[region] + (uint64_t)(unit * unit_bytes)) / (uint64_t)scan_of(self)->bytes;
    const uint64_t times = (scans + self->windows - 1 - window) / self->windows;
    scan_state *const known = &self->scanned[self->first[region] + unit];
    const bool since = times > known->scans;
    known->scans = times;
    return since;
}

/* Note a hinting fault of a unit, by a worker on `node`. Returns how many pages migrate to `node`. */
static int64_t hint(ns_page_map *self, uint64_t region, int64_t unit, int32_t node, int64_t *moved) {
    scan_state *const known = &self->scanned[self->first[region] + unit];
    if (known->node != node + 1) known->in_a_row = 0;
    known->node = (uint16_t)(node + 1);
    if (known->in_a_row < UINT8_MAX) known->in_a_row++;
    return known->in_a_row < scan_of(self)->migrate_after ? 0 : migrate(self, region, unit, node, moved);
}

/* ---- touching ---------------------------------------------------------------------------------------------------- */

/* Return the overhead of the faults and migrations that `touch` counts. */
static int64_t overhead_ps(const ns_page_map *self, ns_page_touch touch) {
    const ns_operation_costs *costs = &self->plan->costs;
    const int64_t hint_ps = scan_of(self)->hint_fault_ps < 0 ? costs->fault_ps : scan_of(self)->hint_fault_ps;
    return ns_saturate((ns_wide)touch.placed * costs->fault_ps + (ns_wide)touch.migrated * costs->migrate_ps +
                       (ns_wide)(touch.faults - touch.placed) * hint_ps);
}

ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, ns_toucher toucher, int64_t *bytes,
                                int64_t *moved) {
    const ns_full_plan *plan = self->plan;
    const int32_t node = memory_of(self)->home_of_node.at[toucher.node];
    const uint32_t region = plan->accesses.region.at[access];
    const bool places = plan->accesses.writes.at[access] || plan->memory.stages.at[self->stage].reads_place;
    const uint16_t *home = self->home + self->first[region];
    uint8_t *marked = self->marked ? self->marked + self->first[region] : NULL;
    const uint64_t scans = self->windows ? scans_until(self, toucher.now_ps) : 0;
    ns_page_touch touch = {0};
    memset(bytes, 0, plan->nodes * sizeof *bytes);
    memset(moved, 0, plan->nodes * sizeof *moved);
    for (walk piece = walk_of(plan, access); walk_next(&piece);) {
        if (marked && marked[piece.unit]) {
            marked[piece.unit] = 0;
            touch.migrated += migrate(self, region, piece.unit, node, moved);
        }
        if (self->windows && was_scanned(self, region, piece.unit, scans) && home[piece.unit]) {
            touch.faults += pages_of(plan, region, piece.unit);
            touch.migrated += hint(self, region, piece.unit, node, moved);
        }
        if (places && !home[piece.unit]) touch.placed += place(self, region, piece.unit, node);
        bytes[home[piece.unit] ? home[piece.unit] - 1 : node] += piece.bytes;
    }
    touch.faults += touch.placed;
    touch.overhead_ps = overhead_ps(self, touch);
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

/* Cut the address space into windows, and forget the scans of the previous stage. */
static void start_scans(ns_page_map *self) {
    const uint64_t bytes = self->begin[regions_of(self->plan)], each = (uint64_t)scan_of(self)->bytes;
    self->windows = bytes / each + (bytes % each != 0 || !bytes);
    if (self->stage) memset(self->scanned, 0, (size_t)self->first[regions_of(self->plan)] * sizeof *self->scanned);
}

/* Begin stage `self->stage` now. If the plan says so (`marks`), each unit with a home migrates to its next toucher. */
static void enter_stage(ns_page_map *self, int64_t now_ps) {
    self->since_ps = now_ps;
    self->windows = 0;
    if (scan_of(self)->period_ps) start_scans(self);
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

void ns_page_map_choose(ns_page_map *self, uint64_t policy, int64_t now_ps) {
    self->stage = 1 + policy;
    enter_stage(self, now_ps);
}

/* ---- making a map ------------------------------------------------------------------------------------------------ */

/* Allocate `scanned` and `begin`, and place the regions one after the other in the address space. */
static bool make_scanned(ns_page_map *self, ns_pieces *memory) {
    const ns_full_plan *plan = self->plan;
    self->scanned = ns_pieces_take(memory, (uint64_t)self->first[regions_of(plan)], sizeof *self->scanned);
    self->begin = ns_pieces_take(memory, regions_of(plan) + 1, sizeof *self->begin);
    if (!self->scanned || !self->begin) return false;
    for (uint64_t region = 0; region < regions_of(plan); region++) {
        const int64_t bytes = plan->memory.region_pages.at[region] * plan->memory.page_bytes;
        self->begin[region + 1] = self->begin[region] + (uint64_t)bytes;
    }
    return true;
}

/* Number the units of all dynamic regions. */
static void number(ns_page_map *self) {
    const ns_full_plan *plan = self->plan;
    for (uint64_t region = 0; region < regions_of(plan); region++) {
        const int64_t unit = plan->memory.unit_pages.at[region];
        const int64_t units = (plan->memory.region_pages.at[region] + unit - 1) / unit;
        self->first[region + 1] = self->first[region] + (plan->memory.dynamic.at[region] ? units : 0);
    }
}

static bool make(ns_page_map *self, ns_pieces *memory) {
    const ns_full_plan *plan = self->plan;
    self->first = ns_pieces_take(memory, regions_of(plan) + 1, sizeof *self->first);
    if (!self->first) return false;
    number(self);
    const uint64_t units = (uint64_t)self->first[regions_of(plan)], nodes = plan->memory.free_pages.count;
    self->home = ns_pieces_take(memory, units, sizeof *self->home);
    bool marks = false, scans = false; /* whether any stage marks pages; whether any stage scans */
    for (uint64_t at = 0; at < plan->memory.stages.count; at++) {
        marks |= plan->memory.stages.at[at].marks;
        scans |= plan->memory.stages.at[at].scan.period_ps != 0;
    }
    if (marks) self->marked = ns_pieces_take(memory, units, sizeof *self->marked);
    if (nodes) self->free_pages = ns_pieces_take(memory, nodes, sizeof *self->free_pages);
    if (memory->is_short || (scans && !make_scanned(self, memory))) return false;
    for (uint64_t node = 0; node < nodes; node++) self->free_pages[node] = plan->memory.free_pages.at[node];
    return true;
}

/* Give the pages of dynamic regions that the plan places before the run their homes. */
static void settle(ns_page_map *self) {
    for (uint64_t region = 0; region < regions_of(self->plan); region++) {
        const int64_t units = self->first[region + 1] - self->first[region];
        if (!units || memory_of(self)->home.ptr.at[region] == memory_of(self)->home.ptr.at[region + 1]) continue;
        for (int64_t unit = 0; unit < units; unit++) {
            self->home[self->first[region] + unit] = (uint16_t)(node_of(&memory_of(self)->home, region, unit, 0) + 1);
        }
    }
}

ns_page_map *ns_page_map_create(const ns_full_plan *plan, ns_pieces *memory) {
    ns_page_map *made = ns_pieces_take(memory, 1, sizeof *made);
    if (!made) return NULL;
    made->plan = plan;
    if (!make(made, memory)) return NULL;
    settle(made);
    if (plan->memory.stages.count) enter_stage(made, 0);
    return made;
}
