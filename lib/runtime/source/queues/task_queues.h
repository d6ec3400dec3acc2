/* The queues of a strategy: deques where one worker owns the back and thieves come to the front, else rings under a
 * lock. Where nothing but that is asked of any of them, all are lanes, with which thread_lane.c deals itself.
 */
#ifndef NS_TASK_QUEUES_H
#define NS_TASK_QUEUES_H

#include "plan/plan_reader.h"
#include "policy/thresholds.h"
#include "queues/deque.h"
#include "queues/lane.h"
#include "queues/shared_queue.h"

typedef struct {
    union {
        ns_deque deque;
        ns_shared_queue shared;
        ns_lane lane;
    };
    NS_OWN_LINE enum { NS_DEQUE, NS_SHARED_QUEUE, NS_LANE } kind;
    bool overflowed;            /* its owner executes spawns at once until the queue has emptied somewhat */
    ns_atomic_u64 high, low;    /* the thresholds S and s; written by its owner */
    ns_atomic_u64 pushes, peak; /* counted by its owner where thresholds are computed */
} ns_task_queue;

/* Whether queue `q` can be a deque: one worker pushes and pops at its back, others take from its front, and it has no
 * bound that a push has to observe. */
bool ns_task_queue_is_deque(const ns_full_plan *plan, uint32_t q);

/* A lane for the owner of `lane`, if that is not NULL. 0, NS_ERROR_MEMORY or NS_ERROR_THREAD. */
int ns_task_queue_create(ns_task_queue *self, const ns_full_plan *plan, uint32_t q, ns_lane_owned *lane);
void ns_task_queue_destroy(ns_task_queue *self);

void ns_task_queue_set_thresholds(ns_task_queue *self, ns_thresholds thresholds);
ns_thresholds ns_task_queue_thresholds(const ns_task_queue *self);

static inline int64_t ns_task_queue_length(const ns_task_queue *self) {
    switch (self->kind) {
        case NS_LANE: return (int64_t)ns_lane_length(&self->lane);
        case NS_DEQUE: return (int64_t)ns_deque_length(&self->deque);
        default: return (int64_t)ns_shared_queue_length(&self->shared);
    }
}

/* The owner will not hear thieves ask: they can have all of its tasks. */
static inline void ns_task_queue_publish(ns_task_queue *self) {
    if (self->kind == NS_LANE) ns_lane_publish(&self->lane);
    if (self->kind == NS_DEQUE) ns_deque_publish(&self->deque);
}

/* Push a task; of a deque, only by its owner. False where there is no room. */
static inline bool ns_task_queue_push(ns_task_queue *self, void *task) {
    return self->kind == NS_DEQUE ? ns_deque_push(&self->deque, task) == 0 : ns_shared_queue_push(&self->shared, task);
}

/* Take a task: of a deque, its owner from the back and all others from the front; else from `end`, if `may`. */
static inline void *ns_task_queue_take(ns_task_queue *self, bool is_owner, enum ns_queue_end end,
                                       bool (*may)(void *context, void *task), void *context) {
    if (self->kind == NS_SHARED_QUEUE) return ns_shared_queue_take(&self->shared, end, may, context);
    return is_owner ? ns_deque_pop(&self->deque) : ns_deque_steal(&self->deque);
}

#endif
