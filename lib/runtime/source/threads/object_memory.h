/* The home (node of the memory) of registered objects; and the emulation of the plan's machine on the real machine. On
 * the real machine, memory is where the running system has put it. On an emulated machine, a page is on the node that
 * touched the page first, whatever the placement in the plan, and a worker spins after an access to memory of another
 * node: for the plan's latency from there minus the local latency, for each cache line that does not overlap others. */
#pragma once

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

/* ---- homes ------------------------------------------------------------------------------------------------------- */

typedef struct ns_object_homes ns_object_homes;

enum { NS_NO_HOME = -1 }; /* the home of memory that has not been touched */

/* Make an empty table of homes for a machine with `nodes` nodes. `pretended`: the machine is emulated, and homes follow
 * first touches; else the running system reports homes. Node i is the i-th node of the system by id. Return 0 or a
 * negative error code. */
int ns_object_homes_create(ns_object_homes **self, uint32_t nodes, bool pretended);
void ns_object_homes_destroy(ns_object_homes *self);

/* Add the objects from the table's length on to the table, while no task runs. Return 0 or NS_ERROR_MEMORY. */
int ns_object_homes_add(ns_object_homes *self, const ns_object *objects, uint32_t count);

/* Add the bytes of an access, once for each of its passes, to bytes[home]. On an emulated machine, pages that have not
 * been touched get the home `node`, unless `node` is NS_NO_HOME. Bytes without a home are not added. */
void ns_object_homes_find(ns_object_homes *self, const ns_access *access, int32_t node, int64_t *bytes);

/* ---- an emulated machine ----------------------------------------------------------------------------------------- */

/* The emulation of the machine of a plan. */
typedef struct {
    const ns_full_plan *plan; /* NULL: no machine is emulated */
    ns_tick_rate rate;
} ns_emulation;

/* Emulate a probe by worker `thief` on `node` of a queue of worker `owner`, which is in memory of node `home`: spin for
 * the time by which such a probe takes longer than the nearest probe. Return this time in ps. */
int64_t ns_emulation_probe(const ns_emulation *self, uint32_t thief, int32_t node, uint32_t owner, int32_t home);

/* Emulate an access by a core of `node` to bytes[home] bytes of each node `home`: spin for the time by which the access
 * takes longer than an access to local bytes. Return this time in ps. */
int64_t ns_emulation_access(const ns_emulation *self, int32_t node, enum ns_access_pattern pattern,
                            const int64_t *bytes);

/* Note an access of a running task. On an emulated machine, count its bytes and let the worker spin for remote memory;
 * else do nothing. */
void ns_thread_touch(ns_task *self, const ns_access *access);
