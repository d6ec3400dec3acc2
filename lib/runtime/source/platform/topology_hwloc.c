/* A topology by hwloc 2 or newer, which knows systems other than Linux as well. Offline processors and those that the
 * control group forbids are left out by hwloc itself.
 */
#include "platform/topology_build.h"

#ifdef NUMASIM_HWLOC
#include <hwloc.h>
#include <hwloc/distances.h>

#include "numasim/runtime.h"

/* The nodes by ascending ids: hwloc has them in the order of the tree. */
static void put_nodes(ns_topology *self, hwloc_topology_t system) {
    for (uint32_t at = 0; at < self->node_count; at++) {
        const hwloc_obj_t node = hwloc_get_obj_by_type(system, HWLOC_OBJ_NUMANODE, at);
        uint32_t place = at;
        for (; place > 0 && self->node[place - 1].id > node->os_index; place--)
            self->node[place] = self->node[place - 1];
        self->node[place] = (ns_node){.id = node->os_index, .memory_bytes = (int64_t)node->attr->numanode.local_memory};
    }
}

static uint32_t node_at(const ns_topology *self, uint32_t id) {
    uint32_t node = 0;
    while (node + 1 < self->node_count && self->node[node].id != id) node++;
    return node;
}

/* Of several nodes beside a processor, as of fast and slow memory, the one with the lowest id is its own. */
static uint32_t node_of(const ns_topology *self, hwloc_topology_t system, uint32_t cpu) {
    for (uint32_t node = 0; node < self->node_count; node++) {
        const hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(system, self->node[node].id);
        if (hwloc_bitmap_isset(object->cpuset, cpu)) return node;
    }
    return 0;
}

static void put_cache(ns_topology *self, hwloc_obj_t cache, const ns_set *usable) {
    const struct hwloc_cache_attr_s *attributes = &cache->attr->cache;
    ns_cache *level = &self->cache[self->cache_count++];
    *level = (ns_cache){attributes->depth, attributes->linesize, 0, (int64_t)attributes->size};
    for (uint32_t cpu = 0; cpu < NS_SET_BITS; cpu++) {
        level->cpu_count += ns_set_has(usable, cpu) && hwloc_bitmap_isset(cache->cpuset, cpu);
    }
}

static void put_cpu(ns_topology *self, hwloc_topology_t system, hwloc_obj_t thread, ns_cpu *cpu, const ns_set *usable) {
    *cpu = (ns_cpu){.id = thread->os_index, .core = thread->os_index, .cache = thread->os_index};
    cpu->node = node_of(self, system, cpu->id);
    for (hwloc_obj_t above = thread->parent; above; above = above->parent) {
        const uint32_t first = (uint32_t)hwloc_bitmap_first(above->cpuset);
        if (above->type == HWLOC_OBJ_CORE) cpu->core = first;
        if (above->type == HWLOC_OBJ_PACKAGE) cpu->socket = above->logical_index;
        if (!hwloc_obj_type_is_dcache(above->type)) continue;
        cpu->cache = first;
        if (cpu == self->cpu && self->cache_count < NS_CACHE_LEVELS) put_cache(self, above, usable);
    }
}

static void put_distances(ns_topology *self, hwloc_topology_t system) {
    struct hwloc_distances_s *matrix = NULL;
    unsigned count = 1;
    const unsigned long kind = HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
    if (hwloc_distances_get_by_type(system, HWLOC_OBJ_NUMANODE, &count, &matrix, kind, 0) || !count) return;
    for (uint32_t from = 0; from < matrix->nbobjs; from++) {
        for (uint32_t to = 0; to < matrix->nbobjs; to++) {
            const uint32_t row = node_at(self, matrix->objs[from]->os_index);
            const uint32_t column = node_at(self, matrix->objs[to]->os_index);
            self->distance[row * self->node_count + column] = (uint32_t)matrix->values[from * matrix->nbobjs + to];
        }
    }
    hwloc_distances_release(system, matrix);
}

static int put_all(ns_topology *self, hwloc_topology_t system) {
    ns_set mine, usable = {0};
    ns_topology_affinity(&mine);
    for (hwloc_obj_t each = NULL; (each = hwloc_get_next_obj_by_type(system, HWLOC_OBJ_PU, each));) {
        if (ns_set_has(&mine, each->os_index)) ns_set_add(&usable, each->os_index);
    }
    const uint32_t nodes = (uint32_t)hwloc_get_nbobjs_by_type(system, HWLOC_OBJ_NUMANODE);
    if (!ns_set_count(&usable)) return NS_ERROR_UNSUPPORTED;
    const int error = ns_topology_create(self, "hwloc", ns_set_count(&usable), nodes);
    if (error) return error;
    put_nodes(self, system);
    uint32_t count = 0;
    for (uint32_t cpu = 0; cpu < NS_SET_BITS; cpu++) {
        if (!ns_set_has(&usable, cpu)) continue;
        put_cpu(self, system, hwloc_get_pu_obj_by_os_index(system, cpu), &self->cpu[count++], &usable);
    }
    put_distances(self, system);
    return ns_topology_finish(self);
}

int ns_topology_read_hwloc(ns_topology *self) {
    hwloc_topology_t system;
    *self = (ns_topology){0};
    if (hwloc_topology_init(&system)) return NS_ERROR_MEMORY;
    int error = hwloc_topology_load(system) ? NS_ERROR_FILE : NS_OK;
    if (!error) error = put_all(self, system);
    if (error) ns_topology_destroy(self);
    hwloc_topology_destroy(system);
    return error;
}
#endif
