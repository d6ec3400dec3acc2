/* The synchronisation objects (called words in numasim/runtime.h) of a pool of threads: atomic counters, and locks,
 * conditions and barriers of numasim/locks.h, of the plan's kinds, each in memory of its home node, with counts of
 * uses. */
#pragma once

#include "api/operations.h"
#include "plan/plan_reader.h"
#include "platform/ticks.h"

typedef struct ns_thread_sync ns_thread_sync;

/* The worker that uses an object, and its counters of waiting times: at barriers, and for conditions. */
typedef struct {
    uint32_t worker, node;
    uint32_t locks; /* number of locks taken on this worker less locks released on it */
    bool migrates; /* whether tasks may resume on other workers, so that a task here may hold locks it took elsewhere */
    int64_t *barrier_ps, *parked_ps;
} ns_sync_user;

/* Make an empty set of objects. `plan` (or NULL) and `node` must outlive the set. Return 0 or NS_ERROR_MEMORY. */
int ns_thread_sync_create(ns_thread_sync **self, const ns_full_plan *plan, uint32_t workers, const int32_t *node,
                          ns_tick_rate rate);
void ns_thread_sync_destroy(ns_thread_sync *self);

/* Make the objects from the set's length on, as `described` [count], while no task runs. Return 0, NS_ERROR_OPTION or
 * NS_ERROR_MEMORY. */
int ns_thread_sync_add(ns_thread_sync *self, const ns_word *described, uint32_t count);

/* Take, or release, a lock for a task. Return false, without an effect, if the task to take the lock holds it already,
 * or the task to release it does not hold it. */
bool ns_thread_sync_lock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
bool ns_thread_sync_unlock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task);
int64_t ns_thread_sync_fetch_add(ns_thread_sync *self, uint32_t object, int64_t value);
void ns_thread_sync_arrive(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_await(ns_thread_sync *self, uint32_t object, ns_sync_user *user);
void ns_thread_sync_signal(ns_thread_sync *self, uint32_t object, uint32_t permits, ns_sync_user *user);

/* Return the first lock that is held, or UINT32_MAX. Called between runs, when all tasks have ended. */
uint32_t ns_thread_sync_held(const ns_thread_sync *self);

/* Write the counts of the first report->word_count objects to report->words: for each object acquisitions, handoffs
 * within a node, handoffs between nodes, time waited and time held. */
void ns_thread_sync_report(const ns_thread_sync *self, ns_report *report);
