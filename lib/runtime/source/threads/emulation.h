/* A machine that is pretended on another one: steps to other nodes take as much longer as its latencies differ, by
 * spinning. Local steps take what they take here. Of the plan's placement nothing is pretended: memory is where it was
 * touched first (object_homes.h).
 */
#ifndef NS_EMULATION_H
#define NS_EMULATION_H

#include <stdbool.h>

#include "fields.h"
#include "numasim/runtime.h"
#include "platform/ticks.h"

typedef struct {
    bool is_on;
    uint32_t nodes, workers;
    ns_tick_rate rate;
    int64_t probe_extra_ps;    /* of a probe of a queue on another node */
    const int64_t *line_ps;    /* [workers][workers] to move a cache line; NULL: the latencies say it all */
    const int64_t *latency_ps; /* [nodes][nodes] from a core to memory */
} ns_emulation;

/* What the fields of `plan` say: probe_near_ps, probe_far_ps, line_ps, latency_ps. */
void ns_emulation_create(ns_emulation *self, const ns_fields *plan, uint32_t workers, uint32_t nodes,
                         const int64_t *latency_ps, ns_tick_rate rate);

/* `thief` on `node` probes a queue of `owner` that is at home on `home`: what that took beyond a probe here, ps. */
int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home);

/* A core of `node` reads or writes bytes[home] on each node: what that took beyond local bytes, ps. */
int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes);

#endif
