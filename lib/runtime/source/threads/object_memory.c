/* The memory of registered objects, and the far memory of an emulated machine. */
#include "threads/object_memory.h"

#include <stdlib.h>
#include <string.h>

#include "numasim/topology.h"
#include "platform/atomics.h"
#include "threads/worker.h"

/* ---- the node of an object's memory ------------------------------------------------------------------------------ */

enum { PAGE_BYTES = 4096 };

typedef struct {
    const char *address;
    int64_t bytes;
    ns_atomic_u32 *home; /* [pages] on an emulated machine: node + 1 of each page; 0: untouched */
} followed;

struct ns_object_homes {
    followed *object; /* [count] */
    uint32_t count, nodes;
    bool pretended;
    ns_topology here;
};

int ns_object_homes_create(ns_object_homes **made, uint32_t nodes, bool pretended) {
    ns_object_homes *self = calloc(1, sizeof *self);
    *made = self;
    if (!self) return NS_ERROR_MEMORY;
    self->nodes = nodes;
    self->pretended = pretended;
    return ns_topology_detect(&self->here);
}

void ns_object_homes_destroy(ns_object_homes *self) {
    if (!self) return;
    for (uint32_t at = 0; at < self->count; at++) free(self->object[at].home);
    free(self->object);
    ns_topology_destroy(&self->here);
    free(self);
}

int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count) {
    if (count <= self->count) return NS_OK;
    followed *grown = realloc(self->object, count * sizeof *grown);
    if (!grown) return NS_ERROR_MEMORY;
    self->object = grown;
    for (; self->count < count; self->count++) {
        const ns_object *one = &objects[self->count];
        followed *added = &self->object[self->count];
        *added = (followed){.address = one->address, .bytes = one->bytes};
        if (!self->pretended) continue;
        added->home = calloc((size_t)(one->bytes / PAGE_BYTES) + 2, sizeof *added->home);
        if (!added->home) return NS_ERROR_MEMORY;
    }
    return NS_OK;
}

static int32_t touched_first(ns_atomic_u32 *home, int32_t node) {
    uint32_t found = ns_atomic_u32_load(home, memory_order_relaxed); /* relaxed: the word guards no other memory */
    if (!found && node >= 0) {
        const bool first = ns_atomic_u32_compare_exchange(home, &found, (uint32_t)node + 1, memory_order_relaxed,
                                                          memory_order_relaxed); /* relaxed: as above */
        if (first) found = (uint32_t)node + 1;
    }
    return (int32_t)found - 1;
}

static int32_t system_home(const ns_object_homes *self, const char *address) {
    if (self->here.node_count == 1) return 0;
    const int64_t id = ns_node_of_page(address);
    for (uint32_t at = 0; at < self->here.node_count; at++) {
        if ((int64_t)self->here.node[at].id == id) return (int32_t)at;
    }
    return NS_NO_HOME;
}

static int32_t home_of(const ns_object_homes *self, const followed *object, int64_t offset, int32_t node) {
    if (self->pretended) return touched_first(&object->home[offset / PAGE_BYTES], node);
    const int32_t home = system_home(self, object->address + offset);
    return home < (int32_t)self->nodes ? home : NS_NO_HOME;
}

void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes) {
    if (access->object >= self->count) return;
    const followed *object = &self->object[access->object];
    for (int64_t row = 0; row < access->rows; row++) {
        int64_t at = access->offset + row * access->stride;
        const int64_t end = at + access->row_bytes < object->bytes ? at + access->row_bytes : object->bytes;
        while (at >= 0 && at < end) {
            const int64_t page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES, until = page_end < end ? page_end : end;
            const int32_t home = home_of(self, object, at, node);
            if (home >= 0) bytes[home] += (until - at) * access->passes;
            at = until;
        }
    }
}

/* ---- an emulated machine ----------------------------------------------------------------------------------------- */

enum { LINE_BYTES = 64 };

/* How many cache misses of a core overlap, in thousandths, as in numasim/workload/one_worker.py. */
static const int64_t MISSES[] = {[NS_SEQUENTIAL] = 10000, [NS_STRIDED] = 4000, [NS_RANDOM] = 3000, [NS_CHASE] = 1000};

static int64_t spin(const ns_emulation *self, int64_t ps) {
    if (ps <= 0) return 0;
    ns_spin_ps(self->rate, ps);
    return ps;
}

/* Return how much longer a cache line takes to worker `thief` from `owner` than from the worker nearest to `thief`. The
 * real machine takes the time from the nearest worker anyway. */
static int64_t further_line_ps(const ns_full_plan *plan, uint32_t thief, uint32_t owner) {
    const int64_t *row = plan->line_ps.at + (uint64_t)thief * plan->workers;
    int64_t nearest = INT64_MAX;
    for (uint32_t from = 0; from < plan->workers; from++) {
        if (from != thief && row[from] < nearest) nearest = row[from];
    }
    return row[owner] - nearest;
}

int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home) {
    const int64_t far_ps = self->plan->costs.probe_far_ps - self->plan->costs.probe_near_ps;
    int64_t extra_ps = home >= 0 && home != node && far_ps > 0 ? far_ps : 0;
    if (self->plan->line_ps.count && owner != thief) extra_ps += further_line_ps(self->plan, thief, owner);
    return spin(self, extra_ps);
}

int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes) {
    const int64_t *latency_ps = self->plan->steal.latency_ps + (uint64_t)node * self->plan->nodes;
    int64_t extra_ps = 0;
    for (uint32_t home = 0; home < self->plan->nodes; home++) {
        const int64_t lines = (bytes[home] + LINE_BYTES - 1) / LINE_BYTES;
        const int64_t further_ps = latency_ps[home] - latency_ps[node];
        if (further_ps > 0) extra_ps += lines * further_ps * 1000 / MISSES[pattern];
    }
    return spin(self, extra_ps);
}

void ns_thread_touch(ns_task *self, const ns_access *access) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->emulation.plan || access->pattern > NS_CHASE) return;
    int64_t *bytes = worker->search.bytes;
    memset(bytes, 0, pool->file.plan.steal.nodes * sizeof *bytes);
    ns_object_homes_find(pool->homes, access, worker->base.node, bytes);
    for (uint32_t home = 0; NUMASIM_COUNTERS && home < pool->file.plan.steal.nodes; home++)
        worker->node_bytes[home] += bytes[home];
    const enum ns_access_pattern pattern = access->pattern;
    const int64_t extra_ps = ns_emulation_access(&pool->emulation, worker->base.node, pattern, bytes);
    ns_thread_count(worker, NS_INFLATION_NUMA_PS, extra_ps);
}
