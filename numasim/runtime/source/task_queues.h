/* The queues of a strategy: deques where one worker owns the back and thieves come to the front, else rings under a
 * lock; with the watch bits on their lengths.
 */
#ifndef NS_TASK_QUEUES_H
#define NS_TASK_QUEUES_H

#include "deque.h"
#include "plan_tables.h"
#include "shared_queue.h"

typedef struct {
    union {
        ns_deque deque;
        ns_shared_queue shared;
    };
    NS_OWN_LINE bool is_deque;
    bool overflowed;            /* its owner executes spawns at once until the queue has emptied somewhat */
    ns_atomic_u64 high, low;    /* the thresholds S and s; written by its owner */
    ns_atomic_u64 pushes, peak; /* counted by its owner where thresholds are computed */
} ns_task_queue;

/* Whether queue `q` can be a deque: one worker pushes and pops at its back, others take from its front, and it has no
 * bound that a push has to observe. */
bool ns_task_queue_is_deque(const ns_plan_tables *tables, uint32_t q);

/* 0, NS_ERROR_MEMORY or NS_ERROR_THREAD. */
int ns_task_queue_create(ns_task_queue *self, const ns_plan_tables *tables, uint32_t q);
void ns_task_queue_destroy(ns_task_queue *self);

void ns_task_queue_set_thresholds(ns_task_queue *self, ns_thresholds thresholds);
ns_thresholds ns_task_queue_thresholds(const ns_task_queue *self);

static inline int64_t ns_task_queue_length(const ns_task_queue *self) {
    return (int64_t)(self->is_deque ? ns_deque_length(&self->deque) : ns_shared_queue_length(&self->shared));
}

/* Push a task; of a deque, only by its owner. False where there is no room. */
static inline bool ns_task_queue_push(ns_task_queue *self, void *task) {
    return self->is_deque ? ns_deque_push(&self->deque, task) == 0 : ns_shared_queue_push(&self->shared, task);
}

/* Take a task: of a deque, its owner from the back and all others from the front; else from `end`, if `may`. */
static inline void *ns_task_queue_take(ns_task_queue *self, bool is_owner, enum ns_queue_end end,
                                       bool (*may)(void *context, void *task), void *context) {
    if (!self->is_deque) return ns_shared_queue_take(&self->shared, end, may, context);
    return is_owner ? ns_deque_pop(&self->deque) : ns_deque_steal(&self->deque);
}

#endif
