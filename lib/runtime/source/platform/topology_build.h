/* What readers of topologies share: sets of processors, and numbering what has been read. */
#ifndef NS_TOPOLOGY_BUILD_H
#define NS_TOPOLOGY_BUILD_H

#include <stdbool.h>

#include "numasim/topology.h"

enum { NS_SET_BITS = 8192 }; /* as many processors as Linux can have */

typedef struct {
    uint64_t word[NS_SET_BITS / 64];
} ns_set;

static inline bool ns_set_has(const ns_set *self, uint32_t number) {
    return number < NS_SET_BITS && (self->word[number / 64] >> number % 64 & 1);
}

static inline void ns_set_add(ns_set *self, uint32_t number) { self->word[number / 64] |= UINT64_C(1) << number % 64; }

void ns_set_keep(ns_set *self, const ns_set *other); /* only what is in both */
uint32_t ns_set_count(const ns_set *self);
uint32_t ns_set_first(const ns_set *self); /* NS_SET_BITS where it is empty */

/* Read a list such as 0-3,8: 0 or NS_ERROR_FORMAT. */
int ns_set_parse(ns_set *self, const char *text);

/* Read a bitmap: groups of 32 bits in hexadecimal, the highest first, such as 00000001,0000ffff: 0 or NS_ERROR_FORMAT.
 */
int ns_set_parse_bitmap(ns_set *self, const char *text);

/* Room for so many processors and nodes, all zero, distances those of alike nodes: 0 or NS_ERROR_MEMORY. */
int ns_topology_create(ns_topology *self, const char *source, uint32_t cpu_count, uint32_t node_count);

/* `core`, `socket` and `cache` of processors hold any numbers that tell them apart, `node` an index: let the numbers be
 * dense, and count what there is. */
int ns_topology_finish(ns_topology *self);

/* The processors that this process may run on. */
void ns_topology_affinity(ns_set *self);

/* The nodes whose memory this process may use; all where the kernel does not say. */
void ns_topology_memory(ns_set *self);

/* The readers; `mine` and `memory` are the processors and the nodes' memory that may be used. */
int ns_topology_read_sysfs(ns_topology *self, const char *root, const ns_set *mine, const ns_set *memory);
#ifdef NUMASIM_HWLOC
int ns_topology_read_hwloc(ns_topology *self);
#endif

#endif
