#include "virtual/page_fields.h"

#include <stdio.h>
#include <stdlib.h>

#include "numasim/runtime.h"

#define MOST_BYTES (INT64_C(1) << 50)
#define MOST_UNIT_PAGES (INT64_C(1) << 20)
#define MOST_ROWS (INT64_C(1) << 31)
#define MOST_PHASES UINT32_MAX

static int64_t units_of(const ns_page_plan *self, uint64_t number) {
    return (self->region_pages[number] + self->unit_pages[number] - 1) / self->unit_pages[number];
}

static ns_region_nodes read_nodes(const ns_page_plan *self, ns_field_reader *plan, const char *pointer, const char *name) {
    ns_region_nodes read = {0};
    uint64_t count = 0;
    read.node = ns_field_reader_i32(plan, name, NS_ANY_COUNT, 0, (int64_t)self->nodes - 1, &count);
    read.ptr = ns_field_reader_offsets(plan, pointer, self->regions + 1, count);
    for (uint64_t number = 0; !plan->error && number < self->regions; number++) {
        const int64_t said = read.ptr[number + 1] - read.ptr[number];
        ns_field_reader_require(plan, said < 2 || said == units_of(self, number),
                                "%s does not have an entry for each unit of region %u", name, (unsigned)number);
    }
    return read;
}

static ns_page_stage read_stage(const ns_page_plan *self, ns_field_reader *plan, uint64_t number) {
    enum { NAME_BYTES = 48 };
    static const char *const KEY[] = {"phase", "wish_ptr", "wish", "reads_place", "marks"};
    char name[5][NAME_BYTES];
    for (int key = 0; key < 5; key++) snprintf(name[key], NAME_BYTES, "stages.%u.%s", (unsigned)number, KEY[key]);
    const int64_t earliest = number ? self->stages[number - 1].phase : 0;
    return (ns_page_stage){
        .phase = ns_field_reader_integer(plan, name[0], earliest, MOST_PHASES),
        .wish = read_nodes(self, plan, name[1], name[2]),
        .reads_place = ns_field_reader_flag(plan, name[3]),
        .marks = ns_field_reader_flag(plan, name[4]),
    };
}

static int read_stages(ns_page_plan *self, ns_field_reader *plan, ns_page_stage **made) {
    self->stage_count = (uint64_t)ns_field_reader_integer(plan, "stages.count", 1, MOST_PHASES);
    if (plan->error) return plan->error;
    ns_page_stage *stages = *made = calloc(self->stage_count, sizeof *stages);
    if (!stages) return NS_ERROR_MEMORY;
    self->stages = stages;
    for (uint64_t number = 0; !plan->error && number < self->stage_count; number++) {
        stages[number] = read_stage(self, plan, number);
    }
    return plan->error;
}

static void read_region_columns(ns_page_plan *self, ns_field_reader *plan) {
    self->page_bytes = ns_field_reader_integer(plan, "page_bytes", 1, INT64_C(1) << 32);
    self->region_pages =
        ns_field_reader_i64(plan, "region_pages", NS_ANY_COUNT, 0, MOST_BYTES / self->page_bytes, &self->regions);
    self->unit_pages = ns_field_reader_i64(plan, "unit_pages", self->regions, 1, MOST_UNIT_PAGES, NULL);
    self->dynamic = ns_field_reader_array(plan, "region_dynamic", NS_FIELD_U8, self->regions, NULL);
    if (!plan->error) self->home = read_nodes(self, plan, "home_ptr", "home");
}

/* The room that nodes have, where it is looked at. */
static void read_capacity(ns_page_plan *self, ns_field_reader *plan) {
    uint64_t count = 0;
    self->free_pages =
        ns_field_reader_i64(plan, "free_pages", NS_ANY_COUNT, -NS_LONGEST_PS, NS_LONGEST_PS, &count);
    ns_field_reader_require(plan, !count || count == self->nodes, "free_pages does not have an entry for each node");
    self->by_distance =
        ns_field_reader_i64(plan, "nodes_by_distance", count * self->nodes, 0, (int64_t)self->nodes - 1, NULL);
    if (!count) self->free_pages = NULL;
}

/* An access stays in its region. */
static void check_access(const ns_page_plan *self, ns_field_reader *plan, uint64_t access) {
    const uint32_t number = self->access_region[access];
    const bool known =
        ns_field_reader_require(plan, number < self->regions, "access_region[%u] is no region", (unsigned)access);
    if (!known || !self->rows[access]) return;
    int64_t last = 0;
    const bool fits =
        !__builtin_mul_overflow(self->rows[access] - 1, self->stride[access], &last) && last <= MOST_BYTES &&
        self->offset[access] + last + self->row_bytes[access] <= self->region_pages[number] * self->page_bytes;
    ns_field_reader_require(plan, fits, "access %u reaches beyond its region", (unsigned)access);
}

static void read_accesses(ns_page_plan *self, ns_field_reader *plan) {
    uint64_t *count = &self->accesses;
    self->access_region = ns_field_reader_array(plan, "access_region", NS_FIELD_U32, NS_ANY_COUNT, count);
    self->offset = ns_field_reader_i64(plan, "access_offset", *count, 0, MOST_BYTES, NULL);
    self->row_bytes = ns_field_reader_i64(plan, "access_row_bytes", *count, 0, MOST_BYTES, NULL);
    self->rows = ns_field_reader_i64(plan, "access_rows", *count, 0, MOST_ROWS, NULL);
    self->stride = ns_field_reader_i64(plan, "access_stride", *count, 0, MOST_ROWS, NULL);
    self->writes = ns_field_reader_array(plan, "access_writes", NS_FIELD_U8, *count, NULL);
    for (uint64_t access = 0; !plan->error && access < *count; access++) check_access(self, plan, access);
}

int ns_page_fields_read(ns_page_plan *self, ns_page_stage **stages, ns_field_reader *plan, uint32_t nodes) {
    *self = (ns_page_plan){.nodes = nodes};
    read_region_columns(self, plan);
    const int error = plan->error ? plan->error : read_stages(self, plan, stages);
    if (error) return error;
    read_capacity(self, plan);
    read_accesses(self, plan);
    return plan->error;
}
