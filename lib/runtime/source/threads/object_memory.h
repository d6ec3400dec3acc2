/* The nodes of the memory of registered objects; and the emulation of the plan's machine on the real machine.
 *
 * On the real machine, memory is where the running system has put it. On an emulated machine, a page is on the node
 * that touched the page first, whatever the placement in the plan. There, a worker spins after an access to another
 * node for the plan's remote latency minus its local latency. A local access takes its real time. */
#pragma once

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

/* ---- homes ------------------------------------------------------------------------------------------------------- */

typedef struct ns_object_homes ns_object_homes;

enum { NS_NO_HOME = -1 }; /* the home of untouched memory */

/* Make a table of homes (nodes of memory) for a machine with `nodes` nodes. `pretended`: homes follow first touches;
 * else the running system reports homes, and its nodes in ascending order are the nodes of the machine. Return 0 or a
 * negative error code. */
int ns_object_homes_create(ns_object_homes **self, uint32_t nodes, bool pretended);
void ns_object_homes_destroy(ns_object_homes *self);

/* Add the pool's objects that are not in the table, while no object is in use. Return 0 or NS_ERROR_MEMORY. */
int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count);

/* Add the bytes of an access, once for each pass, to bytes[home]. First touches come from `node`; with NS_NO_HOME as
 * `node`, nothing is touched. Bytes without a home are not added. */
void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes);

/* ---- a pretended machine ----------------------------------------------------------------------------------------- */

/* The emulation of the machine of a plan. */
typedef struct {
    const ns_full_plan *plan; /* NULL: no machine is emulated */
    ns_tick_rate rate;
} ns_emulation;

/* Emulate a probe by worker `thief` on `node` of the queue of worker `owner`, in memory of node `home`: spin for the
 * time that the probe takes beyond a local probe. Return this time in ps. */
int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home);

/* Emulate an access by a core of `node` to bytes[home] bytes of each node `home`: spin for the time that the access
 * takes beyond an access to local bytes. Return this time in ps. */
int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes);

/* Note an access of the running segment of a task. If the machine is emulated, far memory takes longer. */
void ns_thread_touch(ns_task *self, const ns_access *access);
