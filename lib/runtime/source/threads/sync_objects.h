/* Synchronisation objects (the words of numasim/runtime.h) of a pool of threads: locks, conditions and barriers of
 * numasim/locks.h, of the plan's kinds, near their owners; with what numasim's results count of them.
 */
#ifndef NS_SYNC_OBJECTS_H
#define NS_SYNC_OBJECTS_H

#include "api/operations.h"
#include "platform/ticks.h"

typedef struct ns_thread_sync ns_thread_sync;

/* A worker that uses objects, and what that took: times are added to. */
typedef struct {
    uint32_t worker, node;
    uint32_t locks; /* taken by tasks of the worker, without those given back there */
    bool migrates;  /* its tasks may have taken some elsewhere */
    int64_t *barrier_ps, *parked_ps;
} ns_sync_user;

/* No objects yet. `plan`, which may be NULL, and `node` [workers] live as long. `rate`: see ticks.h. 0, NS_ERROR_FIELD
 * or NS_ERROR_MEMORY. */
int ns_thread_sync_create(ns_thread_sync **self, const ns_fields *plan, uint32_t workers, const int32_t *node,
                          ns_tick_rate rate);
void ns_thread_sync_destroy(ns_thread_sync *self);

/* Make those synchronisation objects of the pool that are not made yet, while none is in use: 0, NS_ERROR_OPTION or
 * NS_ERROR_MEMORY. */
int ns_thread_sync_add(ns_thread_sync *self, const ns_word *described, uint32_t count);

/* False, and nothing done, where the task holds the lock already; where it does not hold it. */
bool ns_thread_sync_lock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
bool ns_thread_sync_unlock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
int64_t ns_thread_sync_fetch_add(ns_thread_sync *self, uint32_t object, int64_t value);
void ns_thread_sync_arrive(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_await(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_signal(ns_thread_sync *self, uint32_t object, uint32_t permits, ns_sync_user *user);

/* The first lock that a task holds, or UINT32_MAX: while no task runs, one that has ended. */
uint32_t ns_thread_sync_held(const ns_thread_sync *self);

/* Copy the counts of all objects to report->words. */
void ns_thread_sync_report(const ns_thread_sync *self, ns_report *report);

#endif
