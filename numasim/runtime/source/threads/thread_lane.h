/* Tasks of pools where a spawn is a push to the own lane and a join begins with pops from it (`plain` in threads.h):
 * what numasim/typed_tasks.h leaves to the library.
 *
 * Only what leaves its lane has a record: a stolen task, which ends by telling its slot so, and an own one that is
 * found while waiting.
 */
#ifndef NS_THREAD_LANE_H
#define NS_THREAD_LANE_H

#include "threads/threads.h"

void ns_thread_lane_spawn(ns_task *self, const ns_work_order *order);
void ns_thread_lane_join(ns_task *self);
void ns_thread_lane_call(const ns_task *self, ns_body *body, void *arguments);

/* While `self` waited, tasks may have been left in its lane: it knows the top again. */
static inline void ns_thread_lane_look(ns_task *self) {
    /* relaxed: the lane is its worker's own */
    self->top =
        (ns_lane_slot *)(uintptr_t)ns_atomic_u64_load(ns_lane_atomic(&self->worker->lane.top), memory_order_relaxed);
}

/* Take a task from lane `q` for `worker`, in which `waiting` waits (NULL: none does): NULL where there is none, or no
 * memory for its record. */
ns_thread_task *ns_thread_lane_take(ns_thread_worker *worker, const ns_task *waiting, uint32_t q);

/* Put a task that was stolen beyond the first into the own lane. */
void ns_thread_lane_keep(ns_thread_worker *worker, ns_thread_task *task);

#endif
