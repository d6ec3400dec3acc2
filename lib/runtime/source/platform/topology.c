/* The running system, or a copy of the sysfs of another one: which reader reads it; and printing it. */
#include "numasim/topology.h"

#include <inttypes.h>
#include <string.h>

#include "numasim/runtime.h"
#include "platform/topology_build.h"

int ns_topology_detect(ns_topology *self) {
    if (!self) return NS_ERROR_OPTION;
#ifdef NUMASIM_HWLOC
    return ns_topology_read_hwloc(self);
#else
    ns_set mine, memory;
    ns_topology_affinity(&mine);
    ns_topology_memory(&memory);
    return ns_topology_read_sysfs(self, "/sys", &mine, &memory);
#endif
}

int ns_topology_read(ns_topology *self, const char *root) {
    ns_set all;
    if (!self || !root) return NS_ERROR_OPTION;
    memset(&all, 0xFF, sizeof all);
    return ns_topology_read_sysfs(self, root, &all, &all);
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void print_cpus(const ns_topology *self, FILE *file) {
    for (uint32_t at = 0; at < self->cpu_count; at++) {
        const ns_cpu *cpu = &self->cpu[at];
        fprintf(file, "%s{\"id\": %u, \"core\": %u, \"socket\": %u, \"node\": %u, \"cache\": %u, \"sibling\": %u}",
                at ? ", " : "", cpu->id, cpu->core, cpu->socket, cpu->node, cpu->cache, cpu->sibling);
    }
}

static void print_nodes(const ns_topology *self, FILE *file) {
    for (uint32_t at = 0; at < self->node_count; at++) {
        const ns_node *node = &self->node[at];
        fprintf(file, "%s{\"id\": %u, \"memory_bytes\": %" PRId64 ", \"cpus\": %u}", at ? ", " : "", node->id,
                node->memory_bytes, node->cpu_count);
    }
}

static void print_distances(const ns_topology *self, FILE *file) {
    for (uint32_t from = 0; from < self->node_count; from++) {
        fputs(from ? ", [" : "[", file);
        for (uint32_t to = 0; to < self->node_count; to++) {
            fprintf(file, "%s%u", to ? ", " : "", self->distance[from * self->node_count + to]);
        }
        fputs("]", file);
    }
}

static void print_caches(const ns_topology *self, FILE *file) {
    for (uint32_t at = 0; at < self->cache_count; at++) {
        const ns_cache *cache = &self->cache[at];
        fprintf(file, "%s{\"level\": %u, \"bytes\": %" PRId64 ", \"line_bytes\": %u, \"cpus\": %u}", at ? ", " : "",
                cache->level, cache->bytes, cache->line_bytes, cache->cpu_count);
    }
}

int ns_topology_print(const ns_topology *self, FILE *file) {
    if (!self || !self->source || !file) return NS_ERROR_OPTION;
    fprintf(file, "{\"source\": \"%s\", \"sockets\": %u, \"cores\": %u, \"cpus\": [", self->source, self->socket_count,
            self->core_count);
    print_cpus(self, file);
    fputs("], \"nodes\": [", file);
    print_nodes(self, file);
    fputs("], \"distance\": [", file);
    print_distances(self, file);
    fputs("], \"caches\": [", file);
    print_caches(self, file);
    return fputs("]}\n", file) < 0 || ferror(file) ? NS_ERROR_FILE : NS_OK;
}
