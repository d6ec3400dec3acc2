/* Tasks of the thread mode: records that workers recycle, and the steps that every task takes.
 *
 * A record belongs to the worker that allocated it, its home, and goes back there when its task has ended elsewhere.
 * Workers count the children that end where their parent runs without atomics; those that end elsewhere, by one
 * atomic addition to the parent.
 */
#ifndef NS_THREAD_TASKS_H
#define NS_THREAD_TASKS_H

#include <string.h>

#include "atomics.h"
#include "fiber.h"
#include "operations.h"

typedef struct ns_thread_worker ns_thread_worker;
typedef struct ns_thread_task ns_thread_task;

enum { NS_INLINED_BYTES = 48 };

struct ns_thread_task {
    ns_task base; /* its worker: where it runs; of a record that is free, its home */
    ns_body *body;
    ns_thread_task *parent;
    void *arguments;      /* `inlined`, or memory of its own */
    ns_thread_task *next; /* in a list of free records */
    ns_thread_worker *home;
    uint32_t pending;       /* children that were spawned and have not ended here */
    ns_atomic_u32 returned; /* those of them that have ended elsewhere */
    char inlined[NS_INLINED_BYTES];
    ns_future *future; /* NULL, or where its end is told */
    ns_fiber *fiber;   /* NULL, or where it goes on */
};
_Static_assert(sizeof(ns_thread_task) == NS_LINE_BYTES, "what a spawn and a join touch is in its first 64 bytes");

/* Whether all children of `self` have ended. */
static inline bool ns_thread_task_is_joined(const ns_thread_task *self) {
    /* acquire: what the children did is seen by what follows the join */
    return self->pending == ns_atomic_u32_load(&self->returned, memory_order_acquire);
}

/* Records for `worker` where its list is empty; NULL where memory is short. */
ns_thread_task *ns_thread_records_more(ns_thread_worker *worker);

/* Give back a record to its home, which is another worker. */
void ns_thread_record_send_home(ns_thread_task *self);

/* Give back all that a task with memory of its own or with a future has beside its record. */
void ns_thread_task_settle(ns_thread_task *self);

#endif
