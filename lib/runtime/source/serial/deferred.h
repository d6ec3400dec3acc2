/* Spawned tasks that wait for their turn, with copies of their arguments: a worker's deque, of a program that runs
 * serially.
 */
#ifndef NS_DEFERRED_H
#define NS_DEFERRED_H

#include <stdbool.h>

#include "api/operations.h"

typedef struct {
    ns_body *body;
    size_t begin, bytes; /* of its arguments */
} ns_deferred_task;

typedef struct {
    ns_deferred_task *task; /* [count], from the oldest on; to be freed, as is `bytes` */
    char *bytes;            /* arguments of all, one behind the other */
    size_t count, task_room, byte_room;
} ns_deferred;

/* One more; its accesses and its future are not kept. False where memory is short. */
bool ns_deferred_push(ns_deferred *self, const ns_work_order *order);

/* The task number `at`. Its arguments are there until the next push. */
ns_work_order ns_deferred_get(const ns_deferred *self, size_t at);

#endif
