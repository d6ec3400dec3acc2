/* The queues of a strategy, of three kinds. A deque (deque.h): one worker, its owner, pushes and pops at the back,
 * other workers take from the front. A shared queue: a ring under a lock, for all other uses. A lane (lane.h): a deque
 * whose slots contain the tasks; all queues are lanes if the strategy allows this (strategy_needs.c). */
#pragma once

#include <pthread.h>

#include "plan/plan_reader.h"
#include "platform/atomics.h"
#include "policy/thresholds.h"
#include "queues/deque.h"
#include "queues/lane.h"

enum ns_queue_end { NS_FRONT, NS_BACK }; /* tasks are pushed at the back */

/* A ring under a lock, with or without a bound. Examples are the bounded round-robin queue of the thesis (chapter 3),
 * and a queue that all workers of a node share. */
typedef struct {
    NS_OWN_LINE pthread_mutex_t lock;
    void **slots;               /* [mask + 1] a ring */
    uint64_t mask, front, back; /* capacity of the ring - 1; number of takes at the front; of pushes less other takes */
    NS_OWN_LINE ns_atomic_u64 length; /* written under the lock, but read without the lock */
    uint64_t capacity;                /* 0: unbounded */
} ns_shared_queue;
_Static_assert(sizeof(ns_shared_queue) == 2 * NS_LINE_BYTES, "the length is apart from the lock");

/* Push a task at the back. Return false if the queue is full, or memory is short. */
bool ns_shared_queue_push(ns_shared_queue *self, void *task);

/* Take the task at `end` of the queue if `may` is NULL, or may(context, task) returns true. Return NULL if no task is
 * taken. */
void *ns_shared_queue_take(ns_shared_queue *self, enum ns_queue_end end, bool (*may)(void *context, void *task),
                           void *context);

typedef struct {
    union {
        ns_deque deque;
        ns_shared_queue shared;
        ns_lane lane;
    };
    NS_OWN_LINE enum { NS_DEQUE, NS_SHARED_QUEUE, NS_LANE } kind;
    bool overflowed;            /* the queue was full: its owner executes spawned tasks at once until it has drained */
    ns_atomic_u64 high, low;    /* the thresholds S and s (policy/thresholds.h); written by the queue's owner */
    ns_atomic_u64 pushes, peak; /* counted by the queue's owner if thresholds are computed */
} ns_task_queue;

/* Return whether queue `q` can be a deque: one worker pushes and pops at the back, other workers take from the front,
 * and the number of tasks has no bound. */
bool ns_task_queue_is_deque(const ns_full_plan *plan, uint32_t q);

/* Make queue `q`: a lane if `lane` is not NULL. Return 0, NS_ERROR_MEMORY or NS_ERROR_THREAD. */
int ns_task_queue_create(ns_task_queue *self, const ns_full_plan *plan, uint32_t q, ns_lane_owned *lane);
void ns_task_queue_destroy(ns_task_queue *self);

void ns_task_queue_set_thresholds(ns_task_queue *self, ns_thresholds thresholds);
ns_thresholds ns_task_queue_thresholds(const ns_task_queue *self);

static inline int64_t ns_task_queue_length(const ns_task_queue *self) {
    switch (self->kind) {
        case NS_LANE: return (int64_t)ns_lane_length(&self->lane);
        case NS_DEQUE: return (int64_t)ns_deque_length(&self->deque);
        default: return (int64_t)ns_atomic_u64_load(&self->shared.length, memory_order_relaxed); /* the lock decides */
    }
}

/* Make all tasks available to thieves. The owner calls this before it sleeps: asleep, it would not notice that they ask
 * for tasks. */
static inline void ns_task_queue_publish(ns_task_queue *self) {
    if (self->kind == NS_LANE) ns_lane_publish(&self->lane);
    if (self->kind == NS_DEQUE) ns_deque_publish(&self->deque);
}

/* Push a task into a queue that is no lane; into a deque, by its owner. Return false if there is no room. */
static inline bool ns_task_queue_push(ns_task_queue *self, void *task) {
    return self->kind == NS_DEQUE ? ns_deque_push(&self->deque, task) == 0 : ns_shared_queue_push(&self->shared, task);
}

/* Take a task from a queue that is no lane, or return NULL. From a deque, the owner takes at the back and other workers
 * at the front; `end` and `may` are for shared queues. */
static inline void *ns_task_queue_take(ns_task_queue *self, bool is_owner, enum ns_queue_end end,
                                       bool (*may)(void *context, void *task), void *context) {
    if (self->kind == NS_SHARED_QUEUE) return ns_shared_queue_take(&self->shared, end, may, context);
    return is_owner ? ns_deque_pop(&self->deque) : ns_deque_steal(&self->deque);
}
