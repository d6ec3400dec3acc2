/* The topology of the running system: sockets, NUMA nodes, cores, hardware threads, caches, distances between nodes.
 * Functions bind threads to hardware threads, and memory to nodes.
 *
 * The topology is read from sysfs. Only processors count that are online and that the affinity mask and the control
 * group of this process allow. */
#ifndef NUMASIM_TOPOLOGY_H
#define NUMASIM_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A hardware thread. Cores, sockets and caches are numbered from 0 in the order of their first hardware thread; the
 * hardware threads are in ascending order of `id`. Nodes are numbered by their ids. */
typedef struct {
    uint32_t id; /* the system's number of the thread, for pinning */
    uint32_t core, socket, node;
    uint32_t cache;   /* threads with the same number share the last-level cache */
    uint32_t sibling; /* the thread's rank within its core; 0: first */
} ns_cpu;

/* A NUMA node. A node may lack processors or memory. */
typedef struct {
    uint32_t id; /* the system's number of the node, for binding memory */
    uint32_t cpu_count;
    int64_t memory_bytes;
} ns_node;

/* The data cache or unified cache of one level, of the first hardware thread. */
typedef struct {
    uint32_t level, line_bytes, cpu_count; /* cpu_count: usable hardware threads that share the cache */
    int64_t bytes;
} ns_cache;

enum { NS_CACHE_LEVELS = 4 };

typedef struct {
    const char *source; /* "sysfs" */
    ns_cpu *cpu;        /* [cpu_count], ascending ids */
    ns_node *node;      /* [node_count], ascending ids */
    uint32_t *distance; /* [node_count][node_count], from row to column, as the firmware gives it; 10: within a node */
    ns_cache cache[NS_CACHE_LEVELS];
    uint32_t cpu_count, node_count, core_count, socket_count, cache_count;
} ns_topology;

/* Read the topology of the running system. Return 0, or an error as ns_topology_read does. */
int ns_topology_detect(ns_topology *self);

/* Read the topology from the sysfs tree at `root`, which may be a copy. Only the tree's own fs/cgroup, not the affinity
 * mask of this process, limits the usable processors. Return 0; NS_ERROR_OPTION for null, NS_ERROR_FILE if there is no
 * sysfs, NS_ERROR_FORMAT if a file of the tree is damaged, NS_ERROR_MEMORY. */
int ns_topology_read(ns_topology *self, const char *root);

/* Free a topology, and set it to zero. Destroying a destroyed topology or null has no effect. */
void ns_topology_destroy(ns_topology *self);

/* Print a topology as one JSON object. Return 0; NS_ERROR_OPTION for null and a destroyed topology; NS_ERROR_FILE. */
int ns_topology_print(const ns_topology *self, FILE *file);

/* Pin the calling thread to the hardware thread `cpu`. Return 0; NS_ERROR_THREAD if `cpu` is unknown or not allowed. */
int ns_cpu_pin(uint32_t cpu);

/* Allocate `bytes` bytes of zeroed memory in pages of the node with the system's number `node`; release this memory.
 * Return 0; NS_ERROR_OPTION for null and for no bytes; NS_ERROR_MEMORY; NS_ERROR_UNSUPPORTED if the system has no such
 * node or cannot bind memory: then the memory is in pages of any node. Null may be released. */
int ns_node_allocate(void **memory, uint32_t node, size_t bytes);
void ns_node_release(void *memory, size_t bytes);

/* Return the node of the page at `address`, if the page has been touched; NS_ERROR_UNSUPPORTED if there is no page, as
 * at null, or if the system does not report the node. */
int64_t ns_node_of_page(const void *address);

#ifdef __cplusplus
}
#endif

#endif
