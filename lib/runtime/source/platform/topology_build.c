/* What readers of topologies share: memory, dense numbers for what has been read, usable processors. */
#include "platform/topology_build.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { LOCAL_DISTANCE = 10, REMOTE_DISTANCE = 20 }; /* as firmware tables have them */

int ns_topology_create(ns_topology *self, const char *source, uint32_t cpu_count, uint32_t node_count) {
    *self = (ns_topology){.source = source, .cpu_count = cpu_count, .node_count = node_count};
    self->cpu = calloc(cpu_count, sizeof *self->cpu);
    self->node = calloc(node_count, sizeof *self->node);
    self->distance = calloc((size_t)node_count * node_count, sizeof *self->distance);
    if (!self->cpu || !self->node || !self->distance) {
        ns_topology_destroy(self);
        return NS_ERROR_MEMORY;
    }
    for (uint32_t at = 0; at < node_count * node_count; at++) {
        self->distance[at] = at % (node_count + 1) == 0 ? LOCAL_DISTANCE : REMOTE_DISTANCE;
    }
    return NS_OK;
}

void ns_topology_destroy(ns_topology *self) {
    if (!self) return;
    free(self->cpu);
    free(self->node);
    free(self->distance);
    *self = (ns_topology){0};
}

/* ---- dense numbers ----------------------------------------------------------------------------------------------- */

enum member { CORE, SOCKET, CACHE };

static uint32_t *member_of(ns_cpu *cpu, enum member member) {
    return member == CORE ? &cpu->core : member == SOCKET ? &cpu->socket : &cpu->cache;
}

/* Replace numbers by the order in which they come; returns how many there are. `given` has room for all processors. */
static uint32_t number(ns_topology *self, enum member member, uint32_t *given) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->cpu_count; at++) {
        uint32_t *value = member_of(&self->cpu[at], member), found = 0;
        while (found < count && given[found] != *value) found++;
        if (found == count) given[count++] = *value;
        *value = found;
    }
    return count;
}

int ns_topology_finish(ns_topology *self) {
    uint32_t *scratch = calloc(self->cpu_count, sizeof *scratch);
    if (!scratch) return NS_ERROR_MEMORY;
    self->core_count = number(self, CORE, scratch);
    self->socket_count = number(self, SOCKET, scratch);
    number(self, CACHE, scratch);
    memset(scratch, 0, self->cpu_count * sizeof *scratch);
    for (uint32_t at = 0; at < self->cpu_count; at++) {
        ns_cpu *cpu = &self->cpu[at];
        cpu->sibling = scratch[cpu->core]++;
        self->node[cpu->node].cpu_count++;
    }
    free(scratch);
    return NS_OK;
}

/* ---- usable processors --------------------------------------------------------------------------------------------
 */

void ns_topology_affinity(ns_set *self) {
    cpu_set_t *mask = CPU_ALLOC(NS_SET_BITS);
    const size_t size = CPU_ALLOC_SIZE(NS_SET_BITS);
    const bool known = mask && sched_getaffinity(0, size, mask) == 0;
    memset(self, known ? 0 : 0xFF, sizeof *self);
    for (uint32_t cpu = 0; known && cpu < NS_SET_BITS; cpu++) {
        if (CPU_ISSET_S(cpu, size, mask)) ns_set_add(self, cpu);
    }
    CPU_FREE(mask);
}
