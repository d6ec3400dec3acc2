/* Reads the topology of a system from sysfs (devices/system/cpu, devices/system/node, and the control group at
 * fs/cgroup), and prints the topology as JSON.
 *
 * numasim/machine/sysfs.py reads processors, cores, sockets, nodes, memory and distances by the same rules, for machine
 * files. sysfs.py also reads the clock, the speed of each kind of core and all caches. This file keeps all caches of
 * the first processor, and only the last-level cache of each other processor. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numasim/runtime.h"
#include "numasim/topology.h"
#include "platform/processor_set.h"

enum { LOCAL_DISTANCE = 10, REMOTE_DISTANCE = 20 }; /* usual distances in firmware tables */
enum { PATH_BYTES = 4096, LIST_BYTES = 65536, CACHES = 16 };

#define NOWHERE UINT32_MAX /* the processor is not on a node yet */

typedef struct {
    const char *root;
    char text[LIST_BYTES]; /* the contents of the file that was read last */
} tree;

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Read the file with the formatted name below the root. Return NS_ERROR_FILE if the file does not exist or is empty. */
__attribute__((format(printf, 2, 3))) static int read_text(tree *self, const char *name, ...) {
    char path[PATH_BYTES], below[256];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(below, sizeof below, name, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/%s", self->root, below);
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(self->text, 1, sizeof self->text - 1, file) : 0;
    self->text[size] = 0;
    if (file) fclose(file);
    return self->text[0] && self->text[0] != '\n' ? NS_OK : NS_ERROR_FILE;
}

/* Read the set in the file `list` of a folder, or else in the bitmap file `map`, since old kernels have only the
 * bitmap. Return NS_ERROR_FILE if neither file exists. */
static int read_set(tree *self, ns_set *set, const char *folder, const char *list, const char *map) {
    if (!read_text(self, "%s/%s", folder, list)) return ns_set_parse(set, self->text);
    if (!read_text(self, "%s/%s", folder, map)) return ns_set_parse_bitmap(set, self->text);
    return NS_ERROR_FILE;
}

static int read_number(const tree *self, uint32_t *value) {
    char *end;
    const long long number = strtoll(self->text, &end, 10);
    if (end == self->text || number > UINT32_MAX) return NS_ERROR_FORMAT;
    *value = number > 0 ? (uint32_t)number : 0; /* the kernel writes -1 for an unknown socket */
    return NS_OK;
}

/* ---- processors -------------------------------------------------------------------------------------------------- */

/* Read which members of `kind` (cpu or node) are online: those in the list `online`, or else those with a folder. */
static int read_online(tree *self, ns_set *online, const char *kind) {
    if (!read_text(self, "devices/system/%s/online", kind)) {
        const int error = ns_set_parse(online, self->text);
        if (error || ns_set_count(online)) return error;
    }
    memset(online, 0, sizeof *online);
    for (uint32_t id = 0; id < NS_SET_BITS; id++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/devices/system/%s/%s%u", self->root, kind, kind, id);
        if (access(path, F_OK) == 0) ns_set_add(online, id);
    }
    return NS_OK;
}

/* Keep the members that the control group allows, by the file of version 2 or of version 1 of control groups. */
static int keep_allowed(tree *self, ns_set *set, const char *file, const char *old_file) {
    const char *const files[] = {file, old_file};
    for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
        ns_set allowed;
        if (read_text(self, "fs/cgroup/%s", files[at])) continue;
        if (ns_set_parse(&allowed, self->text)) return NS_ERROR_FORMAT;
        ns_set_keep(set, &allowed);
    }
    return NS_OK;
}

/* Read the usable processors. A listed processor may still report itself as offline. */
static int read_usable(tree *self, const ns_set *mine, ns_set *usable) {
    ns_set listed;
    int error = read_online(self, &listed, "cpu");
    memset(usable, 0, sizeof *usable);
    for (uint32_t id = 0; id < NS_SET_BITS && !error; id++) {
        uint32_t online = 1;
        if (!ns_set_has(&listed, id)) continue;
        if (!read_text(self, "devices/system/cpu/cpu%u/online", id)) error = read_number(self, &online);
        if (online) ns_set_add(usable, id);
    }
    if (!error && !ns_set_count(usable)) error = NS_ERROR_FILE;
    ns_set_keep(usable, mine);
    if (!error) error = keep_allowed(self, usable, "cpuset.cpus.effective", "cpuset/cpuset.effective_cpus");
    return error ? error : ns_set_count(usable) ? NS_OK : NS_ERROR_UNSUPPORTED;
}

/* Read the core of a processor. The number of a core is the id of its first hardware thread. */
static int read_core(tree *self, ns_cpu *cpu) {
    char folder[64];
    ns_set siblings = {0};
    snprintf(folder, sizeof folder, "devices/system/cpu/cpu%u/topology", cpu->id);
    int error = read_set(self, &siblings, folder, "core_cpus_list", "core_cpus");
    if (error == NS_ERROR_FILE) error = read_set(self, &siblings, folder, "thread_siblings_list", "thread_siblings");
    cpu->core = ns_set_count(&siblings) ? ns_set_first(&siblings) : cpu->id;
    return error == NS_ERROR_FILE ? NS_OK : error;
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ns_cache cache;
    uint32_t first; /* the first processor that shares the cache */
} shared_cache;

static int read_bytes(tree *self, int64_t *bytes) {
    char *end;
    const long long number = strtoll(self->text, &end, 10);
    if (end == self->text || number < 0 || number > INT64_MAX >> 20) return NS_ERROR_FORMAT;
    *bytes = (int64_t)number * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
    return NS_OK;
}

/* Read cache number `index` of a processor. `bytes` stays 0 for an instruction cache, and if there is no such cache. */
static int read_cache(tree *self, uint32_t cpu, uint32_t index, const ns_set *usable, shared_cache *found) {
    char folder[64];
    ns_set sharing = {0};
    *found = (shared_cache){.first = cpu, .cache.cpu_count = 1};
    snprintf(folder, sizeof folder, "devices/system/cpu/cpu%u/cache/index%u", cpu, index);
    if (read_text(self, "%s/level", folder)) return NS_OK;
    if (read_number(self, &found->cache.level)) return NS_ERROR_FORMAT;
    if (!found->cache.level || (!read_text(self, "%s/type", folder) && self->text[0] == 'I')) return NS_OK;
    if (!read_text(self, "%s/coherency_line_size", folder) && read_number(self, &found->cache.line_bytes))
        return NS_ERROR_FORMAT;
    const int error = read_set(self, &sharing, folder, "shared_cpu_list", "shared_cpu_map");
    if (error && error != NS_ERROR_FILE) return error;
    if (ns_set_count(&sharing)) {
        found->first = ns_set_first(&sharing);
        ns_set_keep(&sharing, usable);
        found->cache.cpu_count = ns_set_count(&sharing);
    }
    return read_text(self, "%s/size", folder) ? NS_OK : read_bytes(self, &found->cache.bytes);
}

/* Read the caches of a processor. The number of a last-level cache is the id of the first processor that shares it. */
static int read_caches(tree *self, ns_topology *topology, ns_cpu *cpu, const ns_set *usable) {
    uint32_t last = 0;
    cpu->cache = cpu->id;
    for (uint32_t index = 0; index < CACHES; index++) {
        shared_cache found;
        const int error = read_cache(self, cpu->id, index, usable, &found);
        if (error) return error;
        if (!found.cache.bytes) continue;
        if (found.cache.level >= last) cpu->cache = found.first;
        if (found.cache.level >= last) last = found.cache.level;
        if (cpu == topology->cpu && topology->cache_count < NS_CACHE_LEVELS)
            topology->cache[topology->cache_count++] = found.cache;
    }
    return NS_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* Read a row of distances. The kernel writes distances to the online nodes, in ascending order. */
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

/* Read the memory size of a node: 0 bytes if this process may not use the memory. */
static void read_memory(tree *self, ns_node *node, const ns_set *memory) {
    if (!ns_set_has(memory, node->id) || read_text(self, "devices/system/node/node%u/meminfo", node->id)) return;
    const char *total = strstr(self->text, "MemTotal:");
    node->memory_bytes = total ? (int64_t)strtoll(total + sizeof "MemTotal:", NULL, 10) * 1024 : 0;
}

/* Read the processors of a node. A processor on two nodes is an error. */
static int read_processors(tree *self, ns_topology *topology, uint32_t node) {
    char folder[64];
    ns_set cpus = {0};
    snprintf(folder, sizeof folder, "devices/system/node/node%u", topology->node[node].id);
    const int error = read_set(self, &cpus, folder, "cpulist", "cpumap");
    for (uint32_t at = 0; at < topology->cpu_count; at++) {
        if (!ns_set_has(&cpus, topology->cpu[at].id)) continue;
        if (topology->cpu[at].node != NOWHERE) return NS_ERROR_FORMAT;
        topology->cpu[at].node = node;
    }
    return error == NS_ERROR_FILE ? NS_OK : error;
}

static int read_nodes(tree *self, ns_topology *topology, const ns_set *memory) {
    int error = NS_OK;
    for (uint32_t node = 0; node < topology->node_count && !error; node++) {
        read_memory(self, &topology->node[node], memory);
        error = read_processors(self, topology, node);
        if (!error) error = read_distances(self, topology, node);
    }
    for (uint32_t at = 0; at < topology->cpu_count && !error; at++) {
        if (topology->cpu[at].node == NOWHERE) error = NS_ERROR_FORMAT;
    }
    return error;
}

/* ---- dense numbers ----------------------------------------------------------------------------------------------- */

/* Renumber the field at `offset` of all processors by the order in which its values first occur. Return how many
 * different values there are. `given` is scratch memory with an entry for each processor. */
static uint32_t number(ns_topology *self, size_t offset, uint32_t *given) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < self->cpu_count; at++) {
        uint32_t *value = (uint32_t *)(void *)((char *)&self->cpu[at] + offset), found = 0;
        while (found < count && given[found] != *value) found++;
        if (found == count) given[count++] = *value;
        *value = found;
    }
    return count;
}

/* Make the numbers of cores, sockets and caches dense, and count cores, sockets, siblings and the processors of nodes.
 * (The numbers read from sysfs are distinct, but have gaps.) Return 0 or NS_ERROR_MEMORY. */
static int finish(ns_topology *self) {
    uint32_t *scratch = calloc(self->cpu_count, sizeof *scratch);
    if (!scratch) return NS_ERROR_MEMORY;
    self->core_count = number(self, offsetof(ns_cpu, core), scratch);
    self->socket_count = number(self, offsetof(ns_cpu, socket), scratch);
    number(self, offsetof(ns_cpu, cache), scratch);
    memset(scratch, 0, self->cpu_count * sizeof *scratch);
    for (uint32_t at = 0; at < self->cpu_count; at++) {
        ns_cpu *cpu = &self->cpu[at];
        cpu->sibling = scratch[cpu->core]++;
        self->node[cpu->node].cpu_count++;
    }
    free(scratch);
    return NS_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Allocate a topology with `cpu_count` processors and `node_count` nodes, all zero, with default distances for a system
 * that reports none. Return 0 or NS_ERROR_MEMORY. */
static int create(ns_topology *self, uint32_t cpu_count, uint32_t node_count) {
    *self = (ns_topology){.source = "sysfs", .cpu_count = cpu_count, .node_count = node_count};
    self->cpu = calloc(cpu_count, sizeof *self->cpu);
    self->node = calloc(node_count, sizeof *self->node);
    self->distance = calloc((size_t)node_count * node_count, sizeof *self->distance);
    if (!self->cpu || !self->node || !self->distance) return NS_ERROR_MEMORY;
    for (uint32_t at = 0; at < node_count * node_count; at++) {
        self->distance[at] = at % (node_count + 1) == 0 ? LOCAL_DISTANCE : REMOTE_DISTANCE;
    }
    return NS_OK;
}

static int fill(tree *self, ns_topology *topology, const ns_set *usable, const ns_set *nodes) {
    uint32_t cpus = 0, count = 0;
    for (uint32_t id = 0; id < NS_SET_BITS; id++) {
        if (ns_set_has(usable, id)) topology->cpu[cpus++] = (ns_cpu){.id = id, .node = NOWHERE};
        if (ns_set_has(nodes, id)) topology->node[count++].id = id;
    }
    int error = NS_OK;
    for (uint32_t at = 0; at < cpus && !error; at++) {
        ns_cpu *cpu = &topology->cpu[at];
        error = read_core(self, cpu);
        if (!error && !read_text(self, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu->id))
            error = read_number(self, &cpu->socket);
        if (!error) error = read_caches(self, topology, cpu, usable);
    }
    return error;
}

static int read_all(tree *self, ns_topology *topology, const ns_set *mine, const ns_set *mine_of_memory) {
    ns_set usable, nodes, memory = *mine_of_memory;
    int error = read_usable(self, mine, &usable);
    if (!error) error = read_online(self, &nodes, "node");
    if (!error) error = keep_allowed(self, &memory, "cpuset.mems.effective", "cpuset/cpuset.effective_mems");
    if (error) return error;
    const bool has_nodes = ns_set_count(&nodes);
    if (!has_nodes) ns_set_add(&nodes, 0);
    error = create(topology, ns_set_count(&usable), ns_set_count(&nodes));
    if (!error) error = fill(self, topology, &usable, &nodes);
    if (!error && has_nodes) error = read_nodes(self, topology, &memory);
    for (uint32_t at = 0; !error && !has_nodes && at < topology->cpu_count; at++) topology->cpu[at].node = 0;
    return error ? error : finish(topology);
}

void ns_topology_destroy(ns_topology *self) {
    if (!self) return;
    free(self->cpu);
    free(self->node);
    free(self->distance);
    *self = (ns_topology){0};
}

/* Read the topology from the sysfs at `root`. Only processors in `mine` count, and memory of nodes in `memory`. */
static int read_sysfs(ns_topology *self, const char *root, const ns_set *mine, const ns_set *memory) {
    *self = (ns_topology){0};
    tree *files = malloc(sizeof *files);
    if (!files) return NS_ERROR_MEMORY;
    files->root = root;
    const int error = read_all(files, self, mine, memory);
    if (error) ns_topology_destroy(self);
    free(files);
    return error;
}

int ns_topology_detect(ns_topology *self) {
    ns_set mine, memory;
    if (!self) return NS_ERROR_OPTION;
    ns_set_usable_processors(&mine);
    ns_set_usable_memory(&memory);
    return read_sysfs(self, "/sys", &mine, &memory);
}

int ns_topology_read(ns_topology *self, const char *root) {
    ns_set all;
    if (!self || !root) return NS_ERROR_OPTION;
    memset(&all, 0xFF, sizeof all);
    return read_sysfs(self, root, &all, &all);
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
