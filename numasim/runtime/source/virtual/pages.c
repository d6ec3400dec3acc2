#include "virtual/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "numasim/runtime.h"

enum { LINE_BYTES = 64 };

struct ns_pages {
    const ns_plan_file *file;
    const ns_full_plan *plan;
    uint32_t nodes, most_objects;
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
static int64_t touch_ps(ns_pages *self, uint64_t access, ns_toucher toucher, int64_t *owed_ps) {
    const ns_page_touch touch = ns_page_map_touch(self->map, access, toucher, self->bytes, self->moved);
    const int64_t *latency_ps = self->plan->open.latency_ps.at + (uint64_t)toucher.node * self->nodes;
    int64_t *moved_bytes = self->node_bytes + (uint64_t)toucher.node * self->nodes, wait_ps = 0;
    for (uint32_t home = 0; home < self->nodes; home++) {
        const int64_t traffic = self->bytes[home] * self->plan->accesses.factor.at[access];
        wait_ps = sum(wait_ps, misses_ps(traffic, latency_ps[home], self->plan->accesses.mlp.at[access]));
        moved_bytes[home] += traffic + self->moved[home] * self->plan->memory.page_bytes;
    }
    self->page_faults += touch.placed;
    *owed_ps = sum(*owed_ps, touch.overhead_ps);
    return wait_ps;
}

static void count_settled(ns_pages *self, uint32_t segment, int32_t node) {
    const int64_t *traffic = self->plan->times.traffic.at + (uint64_t)segment * self->nodes;
    int64_t *moved_bytes = self->node_bytes + (uint64_t)node * self->nodes;
    for (uint32_t home = 0; home < self->nodes; home++) moved_bytes[home] += traffic[home];
}

ns_segment_time ns_pages_start(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t measured_ps) {
    const int64_t compute_ps = measured_ps < 0 ? self->file->compute_ps.at[segment] : measured_ps;
    if (!self->file->settled_ps.count) return (ns_segment_time){compute_ps, compute_ps, 0};
    const uint64_t at = (uint64_t)toucher.node * (uint64_t)self->plan->times.segments + segment;
    int64_t wait_ps = self->file->settled_ps.at[at], owed_ps = 0;
    count_settled(self, segment, toucher.node);
    const ns_open_accesses *accesses = &self->plan->open;
    if (accesses->ptr.count) {
        const int64_t end = accesses->ptr.at[segment + 1];
        for (int64_t open = accesses->ptr.at[segment]; open < end; open++) {
            wait_ps = sum(wait_ps, touch_ps(self, (uint64_t)accesses->access.at[open], toucher, &owed_ps));
        }
    }
    const int64_t local_ps = greater(compute_ps, self->file->local_wait_ps.at[at]);
    return (ns_segment_time){greater(compute_ps, wait_ps), local_ps, owed_ps};
}

void ns_pages_start_phase(ns_pages *self, uint32_t phase, int64_t now_ps) {
    if (self->map) ns_page_map_start_phase(self->map, phase, now_ps);
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

uint32_t ns_pages_most_objects(const ns_pages *self) { return self->most_objects; }

uint32_t ns_pages_objects(const ns_pages *self, uint32_t task, ns_objects *objects, uint32_t most) {
    const ns_task_objects *table = &self->plan->objects;
    uint32_t count = 0;
    for (int64_t at = table->ptr.at[task]; at < table->ptr.at[task + 1] && count < most; at++) {
        int32_t home = table->home.at[at];
        if (home == NS_OPEN_HOME) home = home_of(self, (uint64_t)table->access.at[at]);
        objects[count++] = (ns_objects){table->bytes.at[at], table->count.at[at], home, table->mode.at[at]};
    }
    return count;
}

/* ---- making it --------------------------------------------------------------------------------------------------- */

/* The most objects that a row has. */
static uint32_t most_of(const ns_task_objects *objects) {
    int64_t most = 0;
    for (uint64_t row = 0; row + 1 < objects->ptr.count; row++) {
        most = greater(most, objects->ptr.at[row + 1] - objects->ptr.at[row]);
    }
    return (uint32_t)most;
}

static bool make(ns_pages *self) {
    const size_t nodes = self->nodes;
    self->bytes = calloc(nodes, sizeof *self->bytes);
    self->moved = calloc(nodes, sizeof *self->moved);
    self->node_bytes = calloc(nodes * nodes, sizeof *self->node_bytes);
    if (self->plan->looks_at_accesses) self->map = ns_page_map_create(self->plan);
    return self->bytes && self->moved && self->node_bytes && (self->map || !self->plan->looks_at_accesses);
}

int ns_pages_create(ns_pages **self, const ns_plan_file *file) {
    ns_pages *made = malloc(sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    *made = (ns_pages){
        .file = file, .plan = &file->plan, .nodes = file->plan.nodes, .most_objects = most_of(&file->plan.objects)};
    if (make(made)) {
        *self = made;
        return NS_OK;
    }
    ns_pages_destroy(made);
    return NS_ERROR_MEMORY;
}

void ns_pages_destroy(ns_pages *self) {
    if (!self) return;
    ns_page_map_destroy(self->map);
    free(self->bytes);
    free(self->moved);
    free(self->node_bytes);
    free(self);
}
