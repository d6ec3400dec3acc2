#include "threads/object_homes.h"

#include <stdlib.h>

#include "numasim/topology.h"
#include "platform/atomics.h"

enum { PAGE_BYTES = 4096 };

typedef struct {
    const char *address;
    int64_t bytes;
    ns_atomic_u32 *home; /* [pages] of a pretended machine: the node + 1; 0: untouched */
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
    uint32_t found = ns_atomic_u32_load(home, memory_order_relaxed); /* relaxed: a node and nothing else */
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
