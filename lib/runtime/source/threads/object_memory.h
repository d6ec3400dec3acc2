/* On which nodes the memory of registered objects lies; and a machine that is pretended on another machine.
 *
 * Memory lies where the running system has put it. On a pretended machine it lies on the node that touched it first,
 * whatever the placement of the plan. There, steps to other nodes take longer by the differences of the machine's
 * latencies: the worker spins. Local steps take their real time.
 */
#ifndef NS_OBJECT_MEMORY_H
#define NS_OBJECT_MEMORY_H

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

/* ---- homes ------------------------------------------------------------------------------------------------------- */

typedef struct ns_object_homes ns_object_homes;

enum { NS_NO_HOME = -1 }; /* of memory that was not touched yet */

/* Find homes on a machine of `nodes` nodes. `pretended`: homes follow first touches; else the running system, whose
 * nodes in ascending order are the nodes of the machine. Returns 0 or a negative error code. */
int ns_object_homes_create(ns_object_homes **self, uint32_t nodes, bool pretended);
void ns_object_homes_destroy(ns_object_homes *self);

/* Follow those objects of a pool that are not followed yet, while no object is in use. Returns 0 or NS_ERROR_MEMORY. */
int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count);

/* Add the bytes of an access, once for each pass, to bytes[home]. First touches come from `node`, or from no node if
 * that is NS_NO_HOME. Bytes without a home are not added. */
void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes);

/* ---- a pretended machine ----------------------------------------------------------------------------------------- */

typedef struct {
    bool is_on;
    uint32_t nodes, workers;
    ns_tick_rate rate;
    int64_t probe_extra_ps;    /* of a probe of a queue on another node */
    const int64_t *line_ps;    /* [workers][workers] to move a cache line; NULL: no line costs more */
    const int64_t *latency_ps; /* [nodes][nodes] from a core to memory */
} ns_emulation;

/* Pretend the machine of a plan, which lives as long as `self`. */
void ns_emulation_create(ns_emulation *self, const ns_full_plan *plan, ns_tick_rate rate);

/* `thief` on `node` probes a queue of `owner` with its home on `home`: spin, and return the time beyond a local probe.
 */
int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home);

/* A core of `node` reads or writes bytes[home] on each node: spin, and return the time beyond local bytes. */
int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes);

/* The running segment of a task accesses memory: if the machine is pretended, far memory takes longer. */
void ns_thread_touch(ns_task *self, const ns_access *access);

#endif
