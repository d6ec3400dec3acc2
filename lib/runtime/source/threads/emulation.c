#include "threads/emulation.h"

enum { LINE_BYTES = 64 };

/* How many misses a core waits for at the same time, in thousandths, as in numasim/workload/one_worker.py. */
static const int64_t MISSES[] = {[NS_SEQUENTIAL] = 10000, [NS_STRIDED] = 4000, [NS_RANDOM] = 3000, [NS_CHASE] = 1000};

void ns_emulation_create(ns_emulation *self, const ns_fields *plan, uint32_t workers, uint32_t nodes,
                         const int64_t *latency_ps, ns_tick_rate rate) {
    const int64_t near_ps = ns_fields_integer(plan, "probe_near_ps", 0);
    const int64_t far_ps = ns_fields_integer(plan, "probe_far_ps", near_ps);
    uint64_t count = 0;
    const int64_t *line_ps = ns_fields_array(plan, "line_ps", NS_FIELD_I64, &count);
    *self = (ns_emulation){
        .is_on = true,
        .nodes = nodes,
        .workers = workers,
        .rate = rate,
        .probe_extra_ps = far_ps > near_ps ? far_ps - near_ps : 0,
        .line_ps = count == (uint64_t)workers * workers ? line_ps : NULL,
        .latency_ps = latency_ps,
    };
}

static int64_t spin(const ns_emulation *self, int64_t ps) {
    if (ps <= 0) return 0;
    ns_spin_ps(self->rate, ps);
    return ps;
}

/* The least time in which a cache line reaches `thief` from anybody: what the machine at hand takes anyhow. */
static int64_t nearest_ps(const ns_emulation *self, uint32_t thief) {
    const int64_t *row = self->line_ps + (uint64_t)thief * self->workers;
    int64_t nearest = INT64_MAX;
    for (uint32_t from = 0; from < self->workers; from++) {
        if (from != thief && row[from] < nearest) nearest = row[from];
    }
    return nearest;
}

int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home) {
    int64_t extra_ps = home >= 0 && home != node ? self->probe_extra_ps : 0;
    if (self->line_ps && owner != thief) {
        extra_ps += self->line_ps[(uint64_t)thief * self->workers + owner] - nearest_ps(self, thief);
    }
    return spin(self, extra_ps);
}

int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes) {
    const int64_t *latency_ps = self->latency_ps + (uint64_t)node * self->nodes;
    int64_t extra_ps = 0;
    for (uint32_t home = 0; home < self->nodes; home++) {
        const int64_t lines = (bytes[home] + LINE_BYTES - 1) / LINE_BYTES;
        const int64_t further_ps = latency_ps[home] - latency_ps[node];
        if (further_ps > 0) extra_ps += lines * further_ps * 1000 / MISSES[pattern];
    }
    return spin(self, extra_ps);
}
