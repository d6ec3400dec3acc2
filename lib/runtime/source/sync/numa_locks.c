#include "sync/numa_locks.h"

#include <string.h>

#include "numasim/runtime.h"
#include "platform/near_memory.h"

enum { DEFAULT_BATCH = 64 };

#define OPERATIONS_OF(kind, constant) [NS_LOCK_##constant] = &ns_lock_##kind,
static const ns_numa_lock_operations *const KIND[] = {NS_EACH_LOCK_KIND(OPERATIONS_OF)};
enum { KINDS = sizeof KIND / sizeof *KIND };
_Static_assert(NS_NUMA_NODES == NS_MOST_NODES, "plans have no more nodes than locks");

const char *ns_numa_lock_kind(uint32_t at) { return at < KINDS ? KIND[at]->name : NULL; }

int ns_numa_lock_create(ns_numa_lock **self, const ns_numa_lock_options *options) {
    if (self) *self = NULL;
    if (!self || !options || options->nodes > NS_NUMA_NODES) return NS_ERROR_OPTION;
    uint32_t kind = 0;
    while (kind < KINDS && strcmp(KIND[kind]->name, options->kind ? options->kind : ns_lock_cohort.name)) kind++;
    if (kind == KINDS) return NS_ERROR_OPTION;
    const ns_numa_lock_operations *operations = KIND[kind];
    ns_numa_lock *made = ns_near_memory_allocate(operations->bytes, options->home);
    if (!made) return NS_ERROR_MEMORY;
    made->operations = operations;
    made->options = *options;
    made->options.kind = operations->name;
    if (!options->nodes) made->options.nodes = 1;
    if (!options->batch) made->options.batch = DEFAULT_BATCH;
    const int error = operations->open ? operations->open(made) : NS_OK;
    if (error)
        ns_numa_lock_destroy(made);
    else
        *self = made;
    return error;
}

void ns_numa_lock_destroy(ns_numa_lock *self) {
    if (!self) return;
    if (self->operations->close) self->operations->close(self);
    ns_near_memory_free(self, self->operations->bytes);
}

int ns_numa_lock_acquire(ns_numa_lock *self, uint32_t node) {
    if (!ns_numa_lock_has_node(self, node)) return NS_ERROR_OPTION;
    self->operations->acquire(self, node);
    return NS_OK;
}

bool ns_numa_lock_try_acquire(ns_numa_lock *self, uint32_t node) {
    return ns_numa_lock_has_node(self, node) && self->operations->try_acquire(self, node);
}

int ns_numa_lock_release(ns_numa_lock *self, uint32_t node) {
    if (!ns_numa_lock_has_node(self, node)) return NS_ERROR_OPTION;
    self->operations->release(self, node);
    return NS_OK;
}
