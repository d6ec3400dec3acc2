/* Spawned tasks that wait for their turn, newest on top, with copies of their arguments: a worker's deque, of a program
 * that runs serially.
 */
#ifndef NS_DEFERRED_H
#define NS_DEFERRED_H

#include <stdbool.h>

#include "operations.h"

typedef struct {
    char *bytes; /* of all that wait; to be freed */
    size_t used, room;
} ns_deferred;

/* One more; its accesses and its future are not kept. False where memory is short. */
bool ns_deferred_push(ns_deferred *self, const ns_work_order *order);

/* The newest, which there has to be, no longer waits. Its arguments are there until the next push. */
ns_work_order ns_deferred_pop(ns_deferred *self);

#endif
