#include "memory/pages.h"

/* Return the largest number of objects of a task. */
static size_t most_objects(const ns_task_objects *objects) {
    size_t most = 0;
    for (uint64_t row = 0; row + 1 < objects->ptr.count; row++) {
        const size_t count = (size_t)(objects->ptr.at[row + 1] - objects->ptr.at[row]);
        most = count > most ? count : most;
    }
    for (uint64_t family = 0; family < objects->families.count; family++) {
        const size_t count = (size_t)objects->families.at[family].objects.count;
        most = count > most ? count : most;
    }
    return most;
}

bool ns_pages_create(ns_pages *self, const ns_full_plan *plan) {
    const size_t nodes = plan->nodes;
    *self = (ns_pages){.plan = plan};
    self->map = ns_page_map_create(plan, &self->memory);
    self->objects = ns_pieces_take(&self->memory, most_objects(&plan->objects), sizeof *self->objects);
    self->bytes = ns_pieces_take(&self->memory, nodes, sizeof *self->bytes);
    self->moved = ns_pieces_take(&self->memory, nodes, sizeof *self->moved);
    self->similarity = ns_pieces_take(&self->memory, nodes, sizeof *self->similarity);
    self->node_bytes = ns_pieces_take(&self->memory, nodes * nodes, sizeof *self->node_bytes);
    return !self->memory.is_short;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

ns_page_touch ns_pages_touch(ns_pages *self, uint64_t access, ns_toucher toucher) {
    const ns_page_touch touch = ns_page_map_touch(self->map, access, toucher, self->bytes, self->moved);
    self->placed += touch.placed;
    self->migrated += touch.migrated;
    return touch;
}

/* As ns_misses_fit, but with wider numbers if necessary. Returns the time, at most 2^63 - 1 ps. */
static int64_t misses_ps(int64_t bytes, int64_t latency_ps, int64_t misses) {
    int64_t time_ps;
    if (ns_misses_fit(bytes, latency_ps, misses, &time_ps)) return time_ps;
    const ns_wide lines = bytes / NS_MISS_BYTES + (bytes % NS_MISS_BYTES != 0);
    return ns_saturate((lines * latency_ps * 1000 + misses - 1) / misses);
}

static void count_migrated(ns_pages *self, int32_t node) {
    int64_t *node_bytes = ns_pages_bytes_of(self, node);
    for (uint32_t home = 0; home < self->plan->nodes; home++) {
        node_bytes[home] += self->moved[home] * self->plan->memory.page_bytes;
    }
}

/* Count the bytes that the access moves which `ns_pages_touch` has just made for a worker of `node`. Returns how long
 * the worker waits for these bytes, in ps. */
static int64_t move_ps(ns_pages *self, uint64_t access, int32_t node) {
    const ns_accesses *accesses = &self->plan->accesses;
    const int64_t factor = accesses->factor.at[access], mlp = accesses->mlp.at[access];
    const uint64_t nodes = self->plan->nodes, row = (uint64_t)(uint32_t)node * nodes;
    const int64_t *latency_ps = self->plan->open.latency_ps.at + row, *found = self->bytes;
    int64_t *node_bytes = self->node_bytes + row, wait_ps = 0;
    for (uint64_t home = 0; home < nodes; home++) {
        const int64_t bytes = found[home] * factor;
        node_bytes[home] += bytes;
        wait_ps = ns_sum(wait_ps, misses_ps(bytes, latency_ps[home], mlp));
    }
    return wait_ps;
}

int64_t ns_pages_wait_ps(ns_pages *self, uint32_t segment, ns_toucher toucher, int64_t wait_ps, int64_t *owed_ps) {
    const ns_open_accesses *open = &self->plan->open;
    for (int64_t at = open->ptr.at[segment]; at < open->ptr.at[segment + 1]; at++) {
        const uint64_t access = (uint64_t)open->access.at[at];
        const ns_page_touch touch = ns_pages_touch(self, access, toucher);
        *owed_ps = ns_sum(*owed_ps, touch.overhead_ps);
        if (touch.migrated) count_migrated(self, toucher.node);
        wait_ps = ns_sum(wait_ps, move_ps(self, access, toucher.node));
    }
    return wait_ps;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Return the node where most bytes of an access lie, the lowest of several; NS_NOWHERE if no byte has a home yet. */
static int32_t home_of(ns_pages *self, uint64_t access) {
    uint32_t best = 0;
    ns_page_map_bytes(self->map, access, self->bytes);
    for (uint32_t node = 1; node < self->plan->nodes; node++) {
        if (self->bytes[node] > self->bytes[best]) best = node;
    }
    return self->bytes[best] ? (int32_t)best : NS_NOWHERE;
}

static void hand_over(ns_pages *self, uint32_t count, ns_new_task *task) {
    task->objects = self->objects;
    task->object_groups = count;
    task->similarity = self->similarity;
}

void ns_pages_describe(ns_pages *self, uint64_t row, ns_new_task *task) {
    const ns_task_objects *table = &self->plan->objects;
    uint32_t count = 0;
    for (int64_t at = table->ptr.at[row]; at < table->ptr.at[row + 1]; at++) {
        int32_t home = table->home.at[at];
        if (home == NS_OPEN_HOME) home = home_of(self, (uint64_t)table->access.at[at]);
        self->objects[count++] = (ns_objects){table->bytes.at[at], table->count.at[at], home, table->mode.at[at]};
    }
    hand_over(self, count, task);
}

void ns_pages_describe_item(ns_pages *self, uint64_t family, int64_t item, ns_new_task *task) {
    const ns_item_object_list *objects = &self->plan->objects.families.at[family].objects;
    for (uint64_t at = 0; at < objects->count; at++) {
        const ns_item_object *object = &objects->at[at];
        const int64_t row = ns_table_row(object->divisor, object->by_quotient, object->by_remainder, item);
        self->objects[at] = (ns_objects){object->bytes, 1, object->home.at[row], object->mode};
    }
    hand_over(self, (uint32_t)objects->count, task);
}
