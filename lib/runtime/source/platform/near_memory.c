#include "platform/near_memory.h"

#include "numasim/topology.h"

void *ns_near_memory_allocate(size_t bytes, int32_t node) {
    void *memory = NULL;
    /* That there is no such node is no error: the pages come to their first toucher. */
    ns_node_allocate(&memory, node < 0 ? UINT32_MAX : (uint32_t)node, bytes);
    return memory;
}

void ns_near_memory_free(void *memory, size_t bytes) { ns_node_release(memory, bytes); }
