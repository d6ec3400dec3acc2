/* Synchronisation objects (the words of numasim/runtime.h) of a pool of threads: locks, conditions and barriers of
 * numasim/locks.h, of the plan's kinds, near their owners, with the counts of numasim's results.
 */
#ifndef NS_SYNC_OBJECTS_H
#define NS_SYNC_OBJECTS_H

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

typedef struct ns_thread_sync ns_thread_sync;

/* A worker that uses objects, and the counters to which waiting times are added. */
typedef struct {
    uint32_t worker, node;
    uint32_t locks; /* taken on this worker, less those released on it */
    bool migrates;  /* its tasks may have taken locks elsewhere */
    int64_t *barrier_ps, *parked_ps;
} ns_sync_user;

/* Make no objects yet. `plan`, which may be NULL, lives as long as `self`. Returns 0 or NS_ERROR_MEMORY. */
int ns_thread_sync_create(ns_thread_sync **self, const ns_full_plan *plan, uint32_t workers, const int32_t *node,
                          ns_tick_rate rate);
void ns_thread_sync_destroy(ns_thread_sync *self);

/* Make those objects of the pool that are not made yet, while no object is in use. Returns 0, NS_ERROR_OPTION or
 * NS_ERROR_MEMORY. */
int ns_thread_sync_add(ns_thread_sync *self, const ns_word *described, uint32_t count);

/* Take and release a lock for a task. Return false, and do nothing, if the task already holds the lock to be taken, or
 * does not hold the lock to be released. */
bool ns_thread_sync_lock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
bool ns_thread_sync_unlock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
int64_t ns_thread_sync_fetch_add(ns_thread_sync *self, uint32_t object, int64_t value);
void ns_thread_sync_arrive(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_await(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_signal(ns_thread_sync *self, uint32_t object, uint32_t permits, ns_sync_user *user);

/* Returns the first lock that a task holds, or UINT32_MAX. While no task runs, the holder has ended. */
uint32_t ns_thread_sync_held(const ns_thread_sync *self);

/* Copy the counts of all objects to report->words. */
void ns_thread_sync_report(const ns_thread_sync *self, ns_report *report);

#endif
