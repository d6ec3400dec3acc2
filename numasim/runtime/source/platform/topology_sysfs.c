/* A topology from sysfs: devices/system/cpu, devices/system/node, and the control group at fs/cgroup.
 * numasim/machine/sysfs.py reads the same for machine files.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"
#include "platform/topology_build.h"

enum { PATH_BYTES = 4096, LIST_BYTES = 65536, CACHES = 16 };

typedef struct {
    const char *root;
    char text[LIST_BYTES]; /* of the file that was read last */
} tree;

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Read the file below the root whose name is formatted so. NS_ERROR_FILE where there is none, or it is empty. */
__attribute__((format(printf, 2, 3))) static int read_text(tree *self, const char *name, ...) {
    char below[256], path[PATH_BYTES];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(below, sizeof below, name, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/%s", self->root, below);
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(self->text, 1, sizeof self->text - 1, file) : 0;
    self->text[size] = 0;
    if (file) fclose(file);
    return size && self->text[0] != '\n' ? NS_OK : NS_ERROR_FILE;
}

static int read_number(const tree *self, uint32_t *value) {
    char *end;
    const long long number = strtoll(self->text, &end, 10);
    if (end == self->text || number > UINT32_MAX) return NS_ERROR_FORMAT;
    *value = number > 0 ? (uint32_t)number : 0; /* an unknown socket is -1 */
    return NS_OK;
}

/* ---- processors -------------------------------------------------------------------------------------------------- */

static int read_usable(tree *self, const ns_set *mine, ns_set *usable) {
    static const char *const GROUP[] = {"fs/cgroup/cpuset.cpus.effective", "fs/cgroup/cpuset/cpuset.effective_cpus"};
    int error = read_text(self, "devices/system/cpu/online");
    if (!error) error = ns_set_parse(usable, self->text);
    if (error) return error;
    ns_set_keep(usable, mine);
    for (size_t at = 0; at < sizeof GROUP / sizeof *GROUP; at++) {
        ns_set allowed;
        if (read_text(self, "%s", GROUP[at])) continue;
        if (ns_set_parse(&allowed, self->text)) return NS_ERROR_FORMAT;
        ns_set_keep(usable, &allowed);
    }
    return ns_set_count(usable) ? NS_OK : NS_ERROR_UNSUPPORTED;
}

/* A core is known by the first of its hardware threads. */
static int read_core(tree *self, ns_cpu *cpu) {
    ns_set siblings;
    cpu->core = cpu->id;
    if (read_text(self, "devices/system/cpu/cpu%u/topology/core_cpus_list", cpu->id) &&
        read_text(self, "devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu->id)) {
        return NS_OK;
    }
    if (ns_set_parse(&siblings, self->text)) return NS_ERROR_FORMAT;
    if (ns_set_count(&siblings)) cpu->core = ns_set_first(&siblings);
    return NS_OK;
}

static int read_socket(tree *self, ns_cpu *cpu) {
    if (read_text(self, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu->id)) return NS_OK;
    return read_number(self, &cpu->socket);
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ns_cache cache;
    uint32_t first; /* processor that shares it */
} shared_cache;

static int read_bytes(tree *self, int64_t *bytes) {
    char *end;
    const long long number = strtoll(self->text, &end, 10);
    if (end == self->text || number < 0 || number > INT64_MAX >> 20) return NS_ERROR_FORMAT;
    *bytes = (int64_t)number * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
    return NS_OK;
}

/* The cache `index` of a processor; `bytes` stays 0 for one of instructions. NS_ERROR_FILE where there is none. */
static int read_cache(tree *self, uint32_t cpu, uint32_t index, const ns_set *usable, shared_cache *found) {
    ns_set sharing;
    *found = (shared_cache){.first = cpu, .cache.cpu_count = 1};
    if (read_text(self, "devices/system/cpu/cpu%u/cache/index%u/level", cpu, index)) return NS_ERROR_FILE;
    if (read_number(self, &found->cache.level)) return NS_ERROR_FORMAT;
    if (!read_text(self, "devices/system/cpu/cpu%u/cache/index%u/type", cpu, index) && self->text[0] == 'I')
        return NS_OK;
    if (!read_text(self, "devices/system/cpu/cpu%u/cache/index%u/coherency_line_size", cpu, index) &&
        read_number(self, &found->cache.line_bytes)) {
        return NS_ERROR_FORMAT;
    }
    if (!read_text(self, "devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, index)) {
        if (ns_set_parse(&sharing, self->text)) return NS_ERROR_FORMAT;
        found->first = ns_set_first(&sharing);
        ns_set_keep(&sharing, usable);
        found->cache.cpu_count = ns_set_count(&sharing);
    }
    if (read_text(self, "devices/system/cpu/cpu%u/cache/index%u/size", cpu, index)) return NS_OK;
    return read_bytes(self, &found->cache.bytes);
}

static void keep_level(ns_topology *topology, const ns_cache *cache) {
    if (topology->cache_count < NS_CACHE_LEVELS) topology->cache[topology->cache_count++] = *cache;
}

/* The last level of a processor becomes the number of its cache: the first processor that shares it. */
static int read_caches(tree *self, ns_topology *topology, ns_cpu *cpu, const ns_set *usable) {
    uint32_t last = 0;
    cpu->cache = cpu->id;
    for (uint32_t index = 0; index < CACHES; index++) {
        shared_cache found;
        const int error = read_cache(self, cpu->id, index, usable, &found);
        if (error == NS_ERROR_FILE) break;
        if (error) return error;
        if (!found.cache.bytes) continue;
        if (found.cache.level >= last) cpu->cache = found.first;
        if (found.cache.level >= last) last = found.cache.level;
        if (cpu == topology->cpu) keep_level(topology, &found.cache);
    }
    return NS_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* The kernel writes a row of distances for the online nodes, in ascending order. */
static int read_distances(tree *self, ns_topology *topology, uint32_t node) {
    uint32_t *row = &topology->distance[node * topology->node_count];
    if (read_text(self, "devices/system/node/node%u/distance", topology->node[node].id)) return NS_OK;
    char *text = self->text;
    for (uint32_t to = 0; to < topology->node_count; to++) {
        char *end;
        const unsigned long value = strtoul(text, &end, 10);
        if (end == text || value == 0 || value > UINT32_MAX) return NS_ERROR_FORMAT;
        row[to] = (uint32_t)value;
        text = end;
    }
    return text[strspn(text, " \n")] ? NS_ERROR_FORMAT : NS_OK;
}

static int read_node(tree *self, ns_topology *topology, uint32_t node) {
    const uint32_t id = topology->node[node].id;
    if (!read_text(self, "devices/system/node/node%u/meminfo", id)) {
        const char *total = strstr(self->text, "MemTotal:");
        topology->node[node].memory_bytes = total ? (int64_t)strtoll(total + sizeof "MemTotal:", NULL, 10) * 1024 : 0;
    }
    if (!read_text(self, "devices/system/node/node%u/cpulist", id)) {
        ns_set cpus;
        if (ns_set_parse(&cpus, self->text)) return NS_ERROR_FORMAT;
        for (uint32_t at = 0; at < topology->cpu_count; at++) {
            if (ns_set_has(&cpus, topology->cpu[at].id)) topology->cpu[at].node = node;
        }
    }
    return read_distances(self, topology, node);
}

/* A kernel that knows no nodes has all in one. */
static int read_online_nodes(tree *self, ns_set *nodes) {
    if (!read_text(self, "devices/system/node/online")) return ns_set_parse(nodes, self->text);
    memset(nodes, 0, sizeof *nodes);
    ns_set_add(nodes, 0);
    return NS_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int fill(tree *self, ns_topology *topology, const ns_set *usable, const ns_set *nodes) {
    uint32_t cpus = 0, count = 0;
    for (uint32_t id = 0; id < NS_SET_BITS; id++) {
        if (ns_set_has(usable, id)) topology->cpu[cpus++].id = id;
        if (ns_set_has(nodes, id)) topology->node[count++].id = id;
    }
    int error = NS_OK;
    for (uint32_t at = 0; at < cpus && !error; at++) {
        ns_cpu *cpu = &topology->cpu[at];
        error = read_core(self, cpu);
        if (!error) error = read_socket(self, cpu);
        if (!error) error = read_caches(self, topology, cpu, usable);
    }
    for (uint32_t node = 0; node < count && !error; node++) error = read_node(self, topology, node);
    return error ? error : ns_topology_finish(topology);
}

int ns_topology_read_sysfs(ns_topology *self, const char *root, const ns_set *mine) {
    ns_set usable, nodes;
    *self = (ns_topology){0};
    tree *files = malloc(sizeof *files);
    if (!files) return NS_ERROR_MEMORY;
    files->root = root;
    int error = read_usable(files, mine, &usable);
    if (!error) error = read_online_nodes(files, &nodes);
    if (!error && !ns_set_count(&nodes)) error = NS_ERROR_FORMAT;
    if (!error) error = ns_topology_create(self, "sysfs", ns_set_count(&usable), ns_set_count(&nodes));
    if (!error) error = fill(files, self, &usable, &nodes);
    if (error) ns_topology_destroy(self);
    free(files);
    return error;
}
