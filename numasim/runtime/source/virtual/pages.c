#include "virtual/pages.h"

#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"
#include "virtual/page_fields.h"
#include "base/wide.h"

enum { LINE_BYTES = 64 };
#define MOST_BYTES (INT64_C(1) << 50)
#define MOST_FACTOR (INT64_C(1) << 33)
#define MOST_MLP INT64_C(1000000)
#define MOST_OBJECTS (INT64_C(1) << 40)
#define MOST_OBJECT_BYTES (INT64_C(1) << 60)

static const int32_t OPEN = -2; /* the home of an object that is looked up */

/* The objects of tasks: those of row r are entries ptr[r] to ptr[r + 1] - 1; where dispatch does not ask, `ptr` is
 * NULL. */
typedef struct {
    const int64_t *ptr, *count, *bytes, *access;
    const int32_t *home;
    const uint8_t *mode;
    uint64_t rows;
    uint32_t most;
} task_objects;

struct ns_pages {
    uint32_t nodes;
    uint64_t segments;
    const int64_t *compute_ps;             /* [segments] */
    const int64_t *settled_ps;             /* [nodes][segments] waits for settled accesses, or NULL: none */
    const int64_t *local_wait_ps;          /* [nodes][segments] waits for all accesses if they were local */
    const int64_t *traffic;                /* [segments][nodes] bytes of settled accesses */
    const int64_t *open_ptr, *open_access; /* accesses whose pages are placed or moved during the run, or NULL */
    const int64_t *factor, *mlp;           /* [accesses] */
    const int64_t *latency_ps;             /* [nodes][nodes] */
    int64_t fault_ps, migrate_ps, page_bytes;
    task_objects objects;
    ns_page_plan plan;      /* where accesses are looked at */
    ns_page_stage *stages;
    ns_page_map *map;       /* NULL: everything is settled */
    int64_t *bytes, *moved; /* [nodes] scratch */
    int64_t *node_bytes;    /* [nodes][nodes] */
    int64_t page_faults;
};

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t sum(int64_t a, int64_t b) { return ns_saturate((ns_wide)a + b); }

/* ---- segments ---------------------------------------------------------------------------------------------------- */

/* How long `bytes` take that come line by line, `mlp` / 1000 lines at a time. */
static int64_t misses_ps(int64_t bytes, int64_t latency_ps, int64_t mlp) {
    const ns_wide time = (ns_wide)((bytes + LINE_BYTES - 1) / LINE_BYTES) * latency_ps * 1000;
    return ns_saturate((time + mlp - 1) / mlp);
}

/* Let an access find its pages; the time that it waits for them. What their faults take is owed. */
static int64_t touch_ps(ns_pages *self, uint64_t access, int32_t node, int64_t *owed_ps) {
    const ns_page_touch touch = ns_page_map_touch(self->map, access, node, self->bytes, self->moved);
    const int64_t *latency_ps = self->latency_ps + (uint64_t)node * self->nodes;
    int64_t *moved_bytes = self->node_bytes + (uint64_t)node * self->nodes, wait_ps = 0;
    for (uint32_t home = 0; home < self->nodes; home++) {
        const int64_t traffic = self->bytes[home] * self->factor[access];
        wait_ps = sum(wait_ps, misses_ps(traffic, latency_ps[home], self->mlp[access]));
        moved_bytes[home] += traffic + self->moved[home] * self->page_bytes;
    }
    self->page_faults += touch.placed;
    *owed_ps = sum(*owed_ps, ns_multiply(touch.placed, self->fault_ps));
    *owed_ps = sum(*owed_ps, ns_multiply(touch.migrated, self->migrate_ps));
    return wait_ps;
}

static void count_settled(ns_pages *self, uint32_t segment, int32_t node) {
    const int64_t *traffic = self->traffic + (uint64_t)segment * self->nodes;
    int64_t *moved_bytes = self->node_bytes + (uint64_t)node * self->nodes;
    for (uint32_t home = 0; home < self->nodes; home++) moved_bytes[home] += traffic[home];
}

ns_segment_time ns_pages_start(ns_pages *self, uint32_t segment, int32_t node, int64_t measured_ps) {
    const int64_t compute_ps = measured_ps < 0 ? self->compute_ps[segment] : measured_ps;
    if (!self->settled_ps) return (ns_segment_time){compute_ps, compute_ps, 0};
    const uint64_t at = (uint64_t)node * self->segments + segment;
    int64_t wait_ps = self->settled_ps[at], owed_ps = 0;
    count_settled(self, segment, node);
    if (self->open_ptr) {
        const int64_t end = self->open_ptr[segment + 1];
        for (int64_t open = self->open_ptr[segment]; open < end; open++) {
            wait_ps = sum(wait_ps, touch_ps(self, (uint64_t)self->open_access[open], node, &owed_ps));
        }
    }
    return (ns_segment_time){greater(compute_ps, wait_ps), greater(compute_ps, self->local_wait_ps[at]), owed_ps};
}

void ns_pages_start_phase(ns_pages *self, uint32_t phase) {
    if (self->map) ns_page_map_start_phase(self->map, phase);
}

void ns_pages_report(const ns_pages *self, ns_report *report) {
    report->page_faults += self->page_faults;
    for (uint64_t pair = 0; pair < (uint64_t)self->nodes * self->nodes; pair++) {
        report->node_bytes[pair] += self->node_bytes[pair];
    }
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* The node that most bytes of an access are on, of several the lower one. */
static int32_t home_of(const ns_pages *self, uint64_t access) {
    uint32_t best = 0;
    ns_page_map_bytes(self->map, access, self->bytes);
    for (uint32_t node = 1; node < self->nodes; node++) {
        if (self->bytes[node] > self->bytes[best]) best = node;
    }
    return self->bytes[best] ? (int32_t)best : NS_NOWHERE;
}

uint32_t ns_pages_most_objects(const ns_pages *self) { return self->objects.most; }

uint32_t ns_pages_objects(const ns_pages *self, uint32_t task, ns_objects *objects, uint32_t most) {
    const task_objects *table = &self->objects;
    uint32_t count = 0;
    for (int64_t at = table->ptr[task]; at < table->ptr[task + 1] && count < most; at++) {
        const int32_t home = table->home[at] == OPEN ? home_of(self, (uint64_t)table->access[at]) : table->home[at];
        objects[count++] = (ns_objects){table->bytes[at], table->count[at], home, table->mode[at]};
    }
    return count;
}

/* ---- out of a plan ----------------------------------------------------------------------------------------------- */

static bool has_field(const ns_field_reader *plan, const char *name) {
    uint64_t count;
    return ns_fields_array(plan->fields, name, NS_FIELD_I64, &count) != NULL;
}

static void read_segments(ns_pages *self, ns_field_reader *plan) {
    const bool coupled = ns_field_reader_flag(plan, "coupled");
    ns_field_reader_require(plan, !coupled, "coupled is 1: virtual time has no caches, no contention and no noise");
    self->compute_ps = ns_field_reader_i64(plan, "compute_ps", NS_ANY_COUNT, 0, NS_LONGEST_PS, &self->segments);
    self->fault_ps = ns_field_reader_integer(plan, "fault_ps", 0, NS_MOST_COST_PS);
    self->migrate_ps = ns_field_reader_integer(plan, "migrate_ps", 0, NS_MOST_COST_PS);
    if (plan->error || !has_field(plan, "settled_ps")) return;
    const uint64_t size = self->segments * self->nodes;
    self->settled_ps = ns_field_reader_i64(plan, "settled_ps", size, 0, NS_LONGEST_PS, NULL);
    self->local_wait_ps = ns_field_reader_i64(plan, "local_wait_ps", size, 0, NS_LONGEST_PS, NULL);
    self->traffic = ns_field_reader_i64(plan, "traffic", size, 0, MOST_BYTES, NULL);
}

static bool is_dynamic(const ns_pages *self, uint64_t access) {
    return access < self->plan.accesses && self->plan.dynamic[self->plan.access_region[access]];
}

static void check_open(const ns_pages *self, ns_field_reader *plan, uint64_t count) {
    for (uint64_t at = 0; !plan->error && at < count; at++) {
        const uint64_t access = (uint64_t)self->open_access[at];
        ns_field_reader_require(plan, is_dynamic(self, access), "open_access[%u] is no access to a region that is placed during the run",
                                (unsigned)at);
    }
}

/* What an access moves can be counted. */
static void check_traffic(const ns_pages *self, ns_field_reader *plan) {
    uint64_t count = 0;
    const int64_t *row_bytes = ns_field_reader_i64(plan, "access_row_bytes", NS_ANY_COUNT, 0, MOST_BYTES, &count);
    const int64_t *rows = ns_field_reader_i64(plan, "access_rows", count, 0, MOST_BYTES, NULL);
    for (uint64_t at = 0; !plan->error && at < count; at++) {
        const bool fits = (ns_wide)row_bytes[at] * rows[at] * self->factor[at] <= MOST_BYTES;
        ns_field_reader_require(plan, fits, "access %u moves more bytes than can be counted", (unsigned)at);
    }
}

static void read_open(ns_pages *self, ns_field_reader *plan) {
    uint64_t count = 0, size = 0;
    if (plan->error || !has_field(plan, "open_access")) return;
    ns_field_reader_require(plan, self->map != NULL, "open_access is there, but region_dynamic is not");
    if (plan->error) return;
    self->open_access = ns_field_reader_i64(plan, "open_access", NS_ANY_COUNT, 0, INT64_MAX, &count);
    self->open_ptr = ns_field_reader_offsets(plan, "open_ptr", self->segments + 1, count);
    self->factor = ns_field_reader_i64(plan, "access_factor", self->plan.accesses, 0, MOST_FACTOR, &size);
    self->mlp = ns_field_reader_i64(plan, "access_mlp", size, 1, MOST_MLP, NULL);
    self->page_bytes = ns_field_reader_integer(plan, "page_bytes", 1, INT64_C(1) << 32);
    self->latency_ps =
        ns_field_reader_i64(plan, "latency_ps", (uint64_t)self->nodes * self->nodes, 0, NS_MOST_COST_PS, NULL);
    check_traffic(self, plan);
    check_open(self, plan, count);
}

static void check_object(const ns_pages *self, ns_field_reader *plan, uint64_t at) {
    const task_objects *table = &self->objects;
    const uint8_t mode = table->mode[at];
    const bool open = table->home[at] == OPEN;
    const uint64_t access = (uint64_t)table->access[at];
    ns_field_reader_require(plan, NS_COUNT_READS <= mode && mode <= NS_COUNT_BOTH, "object_mode[%u] is %u, no mode",
                            (unsigned)at, mode);
    ns_field_reader_require(plan, !open || is_dynamic(self, access), "object_access[%u] is no access to a region that is placed during the run",
                            (unsigned)at);
}

/* Tell the most objects of a row, and check that what they add up to can be counted. */
static void measure_rows(task_objects *table, ns_field_reader *plan) {
    for (uint64_t row = 0; !plan->error && row < table->rows; row++) {
        const int64_t first = table->ptr[row], end = table->ptr[row + 1];
        ns_wide count = 0, bytes = 0;
        for (int64_t at = first; at < end; at++) {
            count += table->count[at];
            bytes += table->bytes[at];
        }
        const bool countable = count <= INT64_MAX && bytes <= INT64_MAX;
        ns_field_reader_require(plan, countable, "the objects of task %u are more than can be counted", (unsigned)row);
        if (end - first > table->most) table->most = (uint32_t)(end - first);
    }
}

static void read_objects(ns_pages *self, ns_field_reader *plan) {
    task_objects *table = &self->objects;
    uint64_t count = 0;
    if (plan->error || !has_field(plan, "object_ptr")) return;
    table->rows = (uint64_t)ns_field_reader_integer(plan, "rows", 0, UINT32_MAX);
    table->home = ns_field_reader_i32(plan, "object_home", NS_ANY_COUNT, OPEN, (int64_t)self->nodes - 1, &count);
    ns_field_reader_require(plan, count <= UINT32_MAX, "object_home has too many entries");
    table->ptr = ns_field_reader_offsets(plan, "object_ptr", table->rows + 1, count);
    table->mode = ns_field_reader_array(plan, "object_mode", NS_FIELD_U8, count, NULL);
    table->count = ns_field_reader_i64(plan, "object_count", count, 0, MOST_OBJECTS, NULL);
    table->bytes = ns_field_reader_i64(plan, "object_bytes", count, 0, MOST_OBJECT_BYTES, NULL);
    table->access = ns_field_reader_i64(plan, "object_access", count, -1, INT64_MAX, NULL);
    for (uint64_t at = 0; !plan->error && at < count; at++) check_object(self, plan, at);
    measure_rows(table, plan);
}

static int make(ns_pages *self, ns_field_reader *plan) {
    const size_t nodes = self->nodes;
    self->bytes = calloc(nodes, sizeof *self->bytes);
    self->moved = calloc(nodes, sizeof *self->moved);
    self->node_bytes = calloc(nodes * nodes, sizeof *self->node_bytes);
    if (!self->bytes || !self->moved || !self->node_bytes) return NS_ERROR_MEMORY;
    read_segments(self, plan);
    if (ns_field_reader_flag(plan, "looks_at_accesses")) {
        const int error = ns_page_fields_read(&self->plan, &self->stages, plan, self->nodes);
        if (error) return error;
        self->map = ns_page_map_create(&self->plan);
        if (!self->map) return NS_ERROR_MEMORY;
    }
    read_open(self, plan);
    read_objects(self, plan);
    return plan->error;
}

int ns_pages_create(ns_pages **self, ns_field_reader *plan, uint32_t nodes) {
    ns_pages *made = malloc(sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    *made = (ns_pages){.nodes = nodes};
    const int error = make(made, plan);
    if (error) {
        ns_pages_destroy(made);
        return error;
    }
    *self = made;
    return NS_OK;
}

void ns_pages_destroy(ns_pages *self) {
    if (!self) return;
    ns_page_map_destroy(self->map);
    free(self->stages);
    free(self->bytes);
    free(self->moved);
    free(self->node_bytes);
    free(self);
}
