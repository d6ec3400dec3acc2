/* A queue of tasks with several owners, or with takes from both ends: a ring under a lock, with or without a bound. The
 * bounded round-robin queue of the thesis (chapter 3) is such a queue, and so is the pool of a node.
 */
#ifndef NS_SHARED_QUEUE_H
#define NS_SHARED_QUEUE_H

#include <pthread.h>

#include "platform/atomics.h"

enum ns_queue_end { NS_FRONT, NS_BACK }; /* tasks are pushed at the back */

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

/* Push a task at the back. Returns false where the queue is full, or memory is short. */
bool ns_shared_queue_push(ns_shared_queue *self, void *task);

/* Take the task at `end` if the function `may` allows it (NULL: always). Returns NULL where no task is taken. */
void *ns_shared_queue_take(ns_shared_queue *self, enum ns_queue_end end, bool (*may)(void *context, void *task),
                           void *context);

/* Returns the number of tasks of a moment ago. */
static inline uint64_t ns_shared_queue_length(const ns_shared_queue *self) {
    return ns_atomic_u64_load(&self->length, memory_order_relaxed); /* relaxed: a hint; the lock decides */
}

#endif
