/* Tasks of pools where a spawn is a push to the own lane and a join begins with pops from it (`plain` in threads.h):
 * what numasim/fast_lane.h leaves to the library.
 *
 * Only what leaves its lane has a record: a stolen task, which ends by telling its slot so, and an own one that is
 * found while waiting.
 */
#ifndef NS_THREAD_LANE_H
#define NS_THREAD_LANE_H

#include "threads.h"

void ns_thread_lane_spawn(ns_task *self, const ns_work_order *order);
void ns_thread_lane_join(ns_task *self);

/* Take a task from lane `q` for `worker`, in which `waiting` waits (NULL: none does): NULL where there is none, or no
 * memory for its record. */
ns_thread_task *ns_thread_lane_take(ns_thread_worker *worker, const ns_task *waiting, uint32_t q);

/* Put a task that was stolen beyond the first into the own lane. */
void ns_thread_lane_keep(ns_thread_worker *worker, ns_thread_task *task);

#endif
