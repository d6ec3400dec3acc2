#include "virtual/page_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

#define MOST_BYTES (INT64_C(1) << 50)
#define MOST_UNIT_PAGES (INT64_C(1) << 20)
#define MOST_ROWS (INT64_C(1) << 31)
#define MOST_PHASES UINT32_MAX

/* Nodes of regions in CSR form: of a region none, one for all its units, or one for each. */
typedef struct {
    const int64_t *ptr; /* [regions + 1] */
    const int32_t *node;
} region_nodes;

/* What is done with pages from a phase on. */
typedef struct {
    int64_t phase;
    region_nodes wish; /* of pages that are placed; where nothing is said, they go to the toucher */
    bool reads_place;
    bool marks; /* every page that is placed then migrates to its next toucher */
} stage;

/* Pages that are placed and moved together are a unit. */
typedef struct {
    uint16_t *home;  /* [units] node + 1, or 0 while unplaced */
    uint8_t *marked; /* [units] */
    int64_t units;
} region;

struct ns_page_map {
    uint32_t nodes;
    int64_t page_bytes;
    uint64_t region_count, access_count;
    const int64_t *region_pages, *unit_pages; /* [regions] */
    const uint8_t *dynamic;                   /* [regions] */
    region_nodes before;                      /* the homes before the run */
    uint32_t stage_count, stage;              /* `stage` is in force */
    stage *stages;
    region *regions;
    int64_t *free_pages;        /* [nodes], or NULL where memory is not looked at */
    const int64_t *by_distance; /* [nodes][nodes] the nodes from each on, nearest first */
    const uint32_t *access_region;
    const int64_t *offset, *row_bytes, *rows, *stride; /* [accesses] */
    const uint8_t *writes;
};

/* ---- walking an access ------------------------------------------------------------------------------------------- */

/* The pieces of an access between borders of units, row by row. */
typedef struct {
    int64_t unit_bytes, row_bytes, stride, rows_left, next_row, at, end;
    int64_t unit, bytes; /* of the piece at hand */
} walk;

static walk walk_of(const ns_page_map *self, uint64_t access) {
    return (walk){
        .unit_bytes = self->unit_pages[self->access_region[access]] * self->page_bytes,
        .row_bytes = self->row_bytes[access],
        .stride = self->stride[access],
        .rows_left = self->row_bytes[access] ? self->rows[access] : 0,
        .next_row = self->offset[access],
    };
}

static bool walk_next(walk *self) {
    if (self->at == self->end) {
        if (!self->rows_left) return false;
        self->rows_left--;
        self->at = self->next_row;
        self->end = self->at + self->row_bytes;
        self->next_row += self->stride;
    }
    self->unit = self->at / self->unit_bytes;
    const int64_t border = (self->unit + 1) * self->unit_bytes;
    const int64_t stop = border < self->end ? border : self->end;
    self->bytes = stop - self->at;
    self->at = stop;
    return true;
}

/* ---- placing and moving ------------------------------------------------------------------------------------------ */

static int64_t pages_of(const ns_page_map *self, uint32_t number, int64_t unit) {
    const int64_t pages = self->unit_pages[number], left = self->region_pages[number] - unit * pages;
    return left < pages ? left : pages;
}

/* The node that gets `pages` pages that are wanted on one: the next by distance that has room, or else that one. */
static int32_t room(const ns_page_map *self, int32_t wanted, int64_t pages) {
    if (!self->free_pages) return wanted;
    const int64_t *order = self->by_distance + (uint64_t)wanted * self->nodes;
    int32_t node = wanted;
    for (uint32_t at = 0; at < self->nodes; at++) {
        if (self->free_pages[order[at]] < pages) continue;
        node = (int32_t)order[at];
        break;
    }
    self->free_pages[node] -= pages;
    return node;
}

/* The node that is said for a unit, or `otherwise`. */
static int32_t node_of(const region_nodes *nodes, uint32_t number, int64_t unit, int32_t otherwise) {
    const int64_t first = nodes->ptr[number], count = nodes->ptr[number + 1] - first;
    if (!count) return otherwise;
    return nodes->node[first + (count == 1 ? 0 : unit)];
}

static int64_t place(const ns_page_map *self, uint32_t number, int64_t unit, int32_t toucher) {
    const int64_t pages = pages_of(self, number, unit);
    const int32_t wanted = node_of(&self->stages[self->stage].wish, number, unit, toucher);
    self->regions[number].home[unit] = (uint16_t)(room(self, wanted, pages) + 1);
    return pages;
}

/* Pages that would migrate to a full node stay; either way their mark is gone. */
static int64_t migrate(const ns_page_map *self, uint32_t number, int64_t unit, int32_t to, int64_t *moved) {
    region *here = &self->regions[number];
    const int32_t from = here->home[unit] - 1;
    const int64_t pages = pages_of(self, number, unit);
    here->marked[unit] = 0;
    if (from == to || (self->free_pages && self->free_pages[to] < pages)) return 0;
    if (self->free_pages) {
        self->free_pages[to] -= pages;
        self->free_pages[from] += pages;
    }
    here->home[unit] = (uint16_t)(to + 1);
    moved[from] += pages;
    return pages;
}

ns_page_touch ns_page_map_touch(ns_page_map *self, uint64_t access, int32_t node, int64_t *bytes, int64_t *moved) {
    const uint32_t number = self->access_region[access];
    const region *here = &self->regions[number];
    const bool places = self->writes[access] || self->stages[self->stage].reads_place;
    ns_page_touch touch = {0, 0};
    memset(bytes, 0, self->nodes * sizeof *bytes);
    memset(moved, 0, self->nodes * sizeof *moved);
    for (walk piece = walk_of(self, access); walk_next(&piece);) {
        if (here->marked[piece.unit]) touch.migrated += migrate(self, number, piece.unit, node, moved);
        if (places && !here->home[piece.unit]) touch.placed += place(self, number, piece.unit, node);
        const uint16_t home = here->home[piece.unit];
        bytes[home ? home - 1 : node] += piece.bytes;
    }
    return touch;
}

void ns_page_map_bytes(const ns_page_map *self, uint64_t access, int64_t *bytes) {
    const region *here = &self->regions[self->access_region[access]];
    memset(bytes, 0, self->nodes * sizeof *bytes);
    for (walk piece = walk_of(self, access); walk_next(&piece);) {
        const uint16_t home = here->home[piece.unit];
        if (home) bytes[home - 1] += piece.bytes;
    }
}

uint64_t ns_page_map_accesses(const ns_page_map *self) { return self->access_count; }

bool ns_page_map_is_dynamic(const ns_page_map *self, uint64_t access) {
    return self->dynamic[self->access_region[access]];
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Let every page that is placed move to whoever touches it next, where the stage in force says so. */
static void enter_stage(const ns_page_map *self) {
    if (!self->stages[self->stage].marks) return;
    for (uint64_t number = 0; number < self->region_count; number++) {
        const region *here = &self->regions[number];
        for (int64_t unit = 0; unit < here->units; unit++) here->marked[unit] = here->home[unit] != 0;
    }
}

void ns_page_map_start_phase(ns_page_map *self, int64_t phase) {
    while (self->stage + 1 < self->stage_count && self->stages[self->stage + 1].phase <= phase) {
        self->stage++;
        enter_stage(self);
    }
}

/* ---- out of a plan ----------------------------------------------------------------------------------------------- */

static int64_t units_of(const ns_page_map *self, uint64_t number) {
    return (self->region_pages[number] + self->unit_pages[number] - 1) / self->unit_pages[number];
}

static region_nodes read_nodes(const ns_page_map *self, ns_field_reader *plan, const char *pointer, const char *name) {
    region_nodes read = {0};
    uint64_t count = 0;
    read.node = ns_field_reader_i32(plan, name, NS_ANY_COUNT, 0, (int64_t)self->nodes - 1, &count);
    read.ptr = ns_field_reader_offsets(plan, pointer, self->region_count + 1, count);
    for (uint64_t number = 0; !plan->error && number < self->region_count; number++) {
        const int64_t said = read.ptr[number + 1] - read.ptr[number];
        ns_field_reader_require(plan, said < 2 || said == units_of(self, number),
                                "%s does not have an entry for each unit of region %u", name, (unsigned)number);
    }
    return read;
}

static void read_stage(const ns_page_map *self, ns_field_reader *plan, uint32_t number) {
    enum { NAME_BYTES = 48 };
    static const char *const KEY[] = {"phase", "wish_ptr", "wish", "reads_place", "marks"};
    char name[5][NAME_BYTES];
    for (int key = 0; key < 5; key++) snprintf(name[key], NAME_BYTES, "stages.%u.%s", number, KEY[key]);
    const int64_t earliest = number ? self->stages[number - 1].phase : 0;
    self->stages[number] = (stage){
        .phase = ns_field_reader_integer(plan, name[0], earliest, MOST_PHASES),
        .wish = read_nodes(self, plan, name[1], name[2]),
        .reads_place = ns_field_reader_flag(plan, name[3]),
        .marks = ns_field_reader_flag(plan, name[4]),
    };
}

static int read_stages(ns_page_map *self, ns_field_reader *plan) {
    self->stage_count = (uint32_t)ns_field_reader_integer(plan, "stages.count", 1, MOST_PHASES);
    if (plan->error) return plan->error;
    self->stages = calloc(self->stage_count, sizeof *self->stages);
    if (!self->stages) return NS_ERROR_MEMORY;
    for (uint32_t number = 0; !plan->error && number < self->stage_count; number++) read_stage(self, plan, number);
    return plan->error;
}

static void read_region_columns(ns_page_map *self, ns_field_reader *plan) {
    self->page_bytes = ns_field_reader_integer(plan, "page_bytes", 1, INT64_C(1) << 32);
    self->region_pages =
        ns_field_reader_i64(plan, "region_pages", NS_ANY_COUNT, 0, MOST_BYTES / self->page_bytes, &self->region_count);
    self->unit_pages = ns_field_reader_i64(plan, "unit_pages", self->region_count, 1, MOST_UNIT_PAGES, NULL);
    self->dynamic = ns_field_reader_array(plan, "region_dynamic", NS_FIELD_U8, self->region_count, NULL);
    if (!plan->error) self->before = read_nodes(self, plan, "home_ptr", "home");
}

/* The room that nodes have, where it is looked at. */
static int read_capacity(ns_page_map *self, ns_field_reader *plan) {
    uint64_t count = 0;
    const int64_t *pages = ns_field_reader_i64(plan, "free_pages", NS_ANY_COUNT, -NS_LONGEST_PS, NS_LONGEST_PS, &count);
    ns_field_reader_require(plan, !count || count == self->nodes, "free_pages does not have an entry for each node");
    self->by_distance =
        ns_field_reader_i64(plan, "nodes_by_distance", count * self->nodes, 0, (int64_t)self->nodes - 1, NULL);
    if (plan->error || !count) return plan->error;
    self->free_pages = malloc(self->nodes * sizeof *self->free_pages);
    if (!self->free_pages) return NS_ERROR_MEMORY;
    memcpy(self->free_pages, pages, self->nodes * sizeof *pages);
    return NS_OK;
}

/* An access stays in its region. */
static void check_access(const ns_page_map *self, ns_field_reader *plan, uint64_t access) {
    const uint32_t number = self->access_region[access];
    const bool known =
        ns_field_reader_require(plan, number < self->region_count, "access_region[%u] is no region", (unsigned)access);
    if (!known || !self->rows[access]) return;
    int64_t last = 0;
    const bool fits =
        !__builtin_mul_overflow(self->rows[access] - 1, self->stride[access], &last) && last <= MOST_BYTES &&
        self->offset[access] + last + self->row_bytes[access] <= self->region_pages[number] * self->page_bytes;
    ns_field_reader_require(plan, fits, "access %u reaches beyond its region", (unsigned)access);
}

static void read_accesses(ns_page_map *self, ns_field_reader *plan) {
    uint64_t *count = &self->access_count;
    self->access_region = ns_field_reader_array(plan, "access_region", NS_FIELD_U32, NS_ANY_COUNT, count);
    self->offset = ns_field_reader_i64(plan, "access_offset", *count, 0, MOST_BYTES, NULL);
    self->row_bytes = ns_field_reader_i64(plan, "access_row_bytes", *count, 0, MOST_BYTES, NULL);
    self->rows = ns_field_reader_i64(plan, "access_rows", *count, 0, MOST_ROWS, NULL);
    self->stride = ns_field_reader_i64(plan, "access_stride", *count, 0, MOST_ROWS, NULL);
    self->writes = ns_field_reader_array(plan, "access_writes", NS_FIELD_U8, *count, NULL);
    for (uint64_t access = 0; !plan->error && access < *count; access++) check_access(self, plan, access);
}

/* A dynamic region with the homes that it has before the run. Memory that is never touched is never taken. */
static bool make_region(const ns_page_map *self, uint32_t number) {
    region *made = &self->regions[number];
    if (!self->dynamic[number]) return true;
    const int64_t units = units_of(self, number);
    made->home = calloc((size_t)units + 1, sizeof *made->home);
    made->marked = calloc((size_t)units + 1, sizeof *made->marked);
    if (!made->home || !made->marked) return false;
    made->units = units;
    if (self->before.ptr[number] == self->before.ptr[number + 1]) return true;
    for (int64_t unit = 0; unit < units; unit++) {
        made->home[unit] = (uint16_t)(node_of(&self->before, number, unit, 0) + 1);
    }
    return true;
}

static int make_regions(ns_page_map *self) {
    self->regions = calloc(self->region_count + 1, sizeof *self->regions);
    if (!self->regions) return NS_ERROR_MEMORY;
    for (uint32_t number = 0; number < self->region_count; number++) {
        if (!make_region(self, number)) return NS_ERROR_MEMORY;
    }
    enter_stage(self);
    return NS_OK;
}

int ns_page_map_create(ns_page_map **self, ns_field_reader *plan, uint32_t nodes) {
    ns_page_map *made = malloc(sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    *made = (ns_page_map){.nodes = nodes};
    read_region_columns(made, plan);
    int error = plan->error ? plan->error : read_stages(made, plan);
    if (!error) error = read_capacity(made, plan);
    if (!error) read_accesses(made, plan);
    if (!error) error = plan->error ? plan->error : make_regions(made);
    if (error) {
        ns_page_map_destroy(made);
        return error;
    }
    *self = made;
    return NS_OK;
}

void ns_page_map_destroy(ns_page_map *self) {
    if (!self) return;
    for (uint64_t number = 0; self->regions && number < self->region_count; number++) {
        free(self->regions[number].home);
        free(self->regions[number].marked);
    }
    free(self->regions);
    free(self->stages);
    free(self->free_pages);
    free(self);
}
