/* The synchronisation objects (called words in numasim/runtime.h) of a pool of threads: locks, conditions and barriers
 * of numasim/locks.h, of the kinds in the plan, in memory near their owners, with the counts of numasim's results. */
#pragma once

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

typedef struct ns_thread_sync ns_thread_sync;

/* The worker that uses an object, and the counters to which its waiting times are added. */
typedef struct {
    uint32_t worker, node;
    uint32_t locks; /* locks taken on this worker minus locks released on it */
    bool migrates;  /* whether tasks on this worker may have taken locks on other workers */
    int64_t *barrier_ps, *parked_ps;
} ns_sync_user;

/* Make an empty set of objects. `plan` (or NULL) and `node` must outlive the set. Return 0 or NS_ERROR_MEMORY. */
int ns_thread_sync_create(ns_thread_sync **self, const ns_full_plan *plan, uint32_t workers, const int32_t *node,
                          ns_tick_rate rate);
void ns_thread_sync_destroy(ns_thread_sync *self);

/* Make the objects that are not made yet, while none is in use. Return 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_thread_sync_add(ns_thread_sync *self, const ns_word *described, uint32_t count);

/* Take a lock for a task; release a lock. Return false, without an effect, if the task already holds the lock to be
 * taken, or does not hold the lock to be released. */
bool ns_thread_sync_lock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
bool ns_thread_sync_unlock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
int64_t ns_thread_sync_fetch_add(ns_thread_sync *self, uint32_t object, int64_t value);
void ns_thread_sync_arrive(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_await(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_signal(ns_thread_sync *self, uint32_t object, uint32_t permits, ns_sync_user *user);

/* Return the first lock that a task holds, or UINT32_MAX. Called between runs, when this task has ended. */
uint32_t ns_thread_sync_held(const ns_thread_sync *self);

/* Write the counts of the first report->word_count objects to report->words: for each object acquisitions, handoffs
 * within a node, handoffs between nodes, time waited and time held. */
void ns_thread_sync_report(const ns_thread_sync *self, ns_report *report);
