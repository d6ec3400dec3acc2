/* The nodes of the memory of registered objects; and the emulation of one machine on another machine.
 *
 * On the real machine, memory is where the running system has put it. On an emulated machine, a page is on the node
 * that touched the page first, whatever the placement in the plan. On an emulated machine, steps to other nodes take
 * longer by the differences between the machine's latencies: the worker spins. Local steps take their real time.
 */
#pragma once

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

/* ---- homes ------------------------------------------------------------------------------------------------------- */

typedef struct ns_object_homes ns_object_homes;

enum { NS_NO_HOME = -1 }; /* the home of untouched memory */

/* Make a table of homes (nodes of memory) for a machine with `nodes` nodes. `pretended`: homes follow first touches;
 * else the running system tells, and its nodes in ascending order are the nodes of the machine. Return 0 or a negative
 * error code. */
int ns_object_homes_create(ns_object_homes **self, uint32_t nodes, bool pretended);
void ns_object_homes_destroy(ns_object_homes *self);

/* Add the pool's objects that are not in the table, while no object is in use. Return 0 or NS_ERROR_MEMORY. */
int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count);

/* Add the bytes of an access, once for each pass, to bytes[home]. First touches come from `node`; with NS_NO_HOME as
 * `node`, nothing is touched. Bytes without a home are not added. */
void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes);

/* ---- a pretended machine ----------------------------------------------------------------------------------------- */

typedef struct {
    bool is_on;
    uint32_t nodes, workers;
    ns_tick_rate rate;
    int64_t probe_extra_ps;    /* additional time of a probe of a queue on another node */
    const int64_t *line_ps;    /* [workers][workers] time to move a cache line; NULL: no additional time */
    const int64_t *latency_ps; /* [nodes][nodes] latency from a core to memory */
} ns_emulation;

/* Emulate the machine of a plan. The plan must live as long as `self`. */
void ns_emulation_create(ns_emulation *self, const ns_full_plan *plan, ns_tick_rate rate);

/* Emulate a probe by `thief` on `node` of a queue of `owner` with its home on `home`: spin, and return the time beyond
 * a local probe.
 */
int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home);

/* Emulate a read or write of bytes[home] on each node by a core of `node`: spin, and return the time beyond local
 * bytes. */
int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes);

/* Note an access of the running segment of a task. If the machine is emulated, far memory takes longer. */
void ns_thread_touch(ns_task *self, const ns_access *access);
