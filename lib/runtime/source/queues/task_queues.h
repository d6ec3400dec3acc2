/* The queues of a strategy: deques where one worker owns the back and thieves take from the front, else rings under a
 * lock. If all queues are such deques and the strategy asks for no more, all are lanes (lane_execution.c).
 */
#ifndef NS_TASK_QUEUES_H
#define NS_TASK_QUEUES_H

#include <pthread.h>

#include "plan/plan_reader.h"
#include "platform/atomics.h"
#include "policy/thresholds.h"
#include "queues/deque.h"
#include "queues/lane.h"

enum ns_queue_end { NS_FRONT, NS_BACK }; /* tasks are pushed at the back */

/* A queue of tasks with several owners, or with takes from both ends: a ring under a lock, with or without a bound. The
 * bounded round-robin queue of the thesis (chapter 3) is such a queue, and so is the pool of a node.
 */
typedef struct {
    NS_OWN_LINE pthread_mutex_t lock;
    void **slots; /* [mask + 1] a ring */
    uint64_t mask, front, back;
    NS_OWN_LINE ns_atomic_u64 length; /* written under the lock, read without it */
    uint64_t capacity;                /* 0: without bound */
} ns_shared_queue;
_Static_assert(sizeof(ns_shared_queue) == 2 * NS_LINE_BYTES, "the length is apart from the lock");

/* Returns 0, NS_ERROR_MEMORY or NS_ERROR_THREAD. */
int ns_shared_queue_create(ns_shared_queue *self, uint64_t capacity);
void ns_shared_queue_destroy(ns_shared_queue *self);

/* Push a task at the back. Returns false if the queue is full, or memory is short. */
bool ns_shared_queue_push(ns_shared_queue *self, void *task);

/* Take the task at `end` if the function `may` allows it (NULL: always). Returns NULL if no task is taken. */
void *ns_shared_queue_take(ns_shared_queue *self, enum ns_queue_end end, bool (*may)(void *context, void *task),
                           void *context);

/* Returns the number of tasks of a moment ago. */
static inline uint64_t ns_shared_queue_length(const ns_shared_queue *self) {
    return ns_atomic_u64_load(&self->length, memory_order_relaxed); /* relaxed: a hint; the lock decides */
}

typedef struct {
    union {
        ns_deque deque;
        ns_shared_queue shared;
        ns_lane lane;
    };
    NS_OWN_LINE enum { NS_DEQUE, NS_SHARED_QUEUE, NS_LANE } kind;
    bool overflowed;            /* the owner executes spawns at once until the queue has emptied somewhat */
    ns_atomic_u64 high, low;    /* the thresholds S and s; written by its owner */
    ns_atomic_u64 pushes, peak; /* counted by its owner if thresholds are computed */
} ns_task_queue;

/* Returns whether queue `q` can be a deque: one worker pushes and pops at the back, others take from the front, and a
 * push need not observe a bound. */
bool ns_task_queue_is_deque(const ns_full_plan *plan, uint32_t q);

/* Make queue `q`: a lane for the owner of `lane`, if `lane` is not NULL. Returns 0, NS_ERROR_MEMORY or NS_ERROR_THREAD.
 */
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

/* Make all tasks public: the owner is about to sleep, and would not see thieves ask. */
static inline void ns_task_queue_publish(ns_task_queue *self) {
    if (self->kind == NS_LANE) ns_lane_publish(&self->lane);
    if (self->kind == NS_DEQUE) ns_deque_publish(&self->deque);
}

/* Push a task; only the owner pushes to a deque. Returns false if there is no room. */
static inline bool ns_task_queue_push(ns_task_queue *self, void *task) {
    return self->kind == NS_DEQUE ? ns_deque_push(&self->deque, task) == 0 : ns_shared_queue_push(&self->shared, task);
}

/* Take a task: from a deque the owner takes at the back and others at the front; else from `end`, if `may` allows it.
 */
static inline void *ns_task_queue_take(ns_task_queue *self, bool is_owner, enum ns_queue_end end,
                                       bool (*may)(void *context, void *task), void *context) {
    if (self->kind == NS_SHARED_QUEUE) return ns_shared_queue_take(&self->shared, end, may, context);
    return is_owner ? ns_deque_pop(&self->deque) : ns_deque_steal(&self->deque);
}

#endif
