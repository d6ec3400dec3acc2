/* What the running system is made of: sockets, NUMA nodes, cores, hardware threads, caches, distances between nodes;
 * and threads and memory kept in their places.
 *
 * The topology is read from sysfs. Only processors count that are online and that this process may use, by its affinity
 * mask and its control group.
 */
#ifndef NUMASIM_TOPOLOGY_H
#define NUMASIM_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A hardware thread. `core`, `socket`, `node` and `cache` count from 0 in the order in which the threads, by their ids,
 * meet them; nodes are counted by their ids. */
typedef struct {
    uint32_t id; /* the system's number: what threads are pinned to */
    uint32_t core, socket, node;
    uint32_t cache;   /* threads of one number share the last-level cache */
    uint32_t sibling; /* 0: the first hardware thread of its core */
} ns_cpu;

/* A node; one without processors is there for its memory, one without memory for its processors. */
typedef struct {
    uint32_t id; /* the system's number: what memory is bound to */
    uint32_t cpu_count;
    int64_t memory_bytes;
} ns_node;

/* A level of data or unified caches, as the first hardware thread sees it. */
typedef struct {
    uint32_t level, line_bytes, cpu_count; /* cpu_count usable threads share one */
    int64_t bytes;
} ns_cache;

enum { NS_CACHE_LEVELS = 4 };

typedef struct {
    const char *source; /* "sysfs" */
    ns_cpu *cpu;        /* [cpu_count], ascending ids */
    ns_node *node;      /* [node_count], ascending ids */
    uint32_t *distance; /* [node_count][node_count], from row to column, as firmware gives it; 10 is local */
    ns_cache cache[NS_CACHE_LEVELS];
    uint32_t cpu_count, node_count, core_count, socket_count, cache_count;
} ns_topology;

/* The running system: 0; NS_ERROR_OPTION for null, NS_ERROR_MEMORY, and the errors of ns_topology_read. */
int ns_topology_detect(ns_topology *self);

/* The system whose sysfs, or a copy of it, is at `root`. Whether this process may use its processors is then said by
 * fs/cgroup in it alone. NS_ERROR_OPTION for null, NS_ERROR_FILE where it is none, NS_ERROR_FORMAT where a file in it
 * is damaged, NS_ERROR_MEMORY. */
int ns_topology_read(ns_topology *self, const char *root);

/* Free it, and leave it all zero: so it may be destroyed again, as may null. */
void ns_topology_destroy(ns_topology *self);

/* Print it as one JSON object: 0, NS_ERROR_OPTION for null and for what was destroyed, NS_ERROR_FILE. */
int ns_topology_print(const ns_topology *self, FILE *file);

/* Let the calling thread run on the hardware thread `cpu` alone: 0, or NS_ERROR_THREAD where it may not, or there is
 * none. */
int ns_cpu_pin(uint32_t cpu);

/* `bytes` of zeroed memory in pages of the node with the system's number `node`. NS_ERROR_OPTION for null and for no
 * bytes; NS_ERROR_MEMORY; NS_ERROR_UNSUPPORTED where the system has no such node or cannot bind memory: memory is given
 * nevertheless, in pages of whatever node. To release null does nothing. */
int ns_node_allocate(void **memory, uint32_t node, size_t bytes);
void ns_node_release(void *memory, size_t bytes);

/* The node of the page at `address`, which has been touched; NS_ERROR_UNSUPPORTED where there is none, as at null, or
 * the system does not say. */
int64_t ns_node_of_page(const void *address);

#ifdef __cplusplus
}
#endif

#endif
