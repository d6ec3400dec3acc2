/* Tasks of the thread mode: records that workers recycle, and how children and parents find together.
 *
 * A record (numasim/fast_lane.h) belongs to the worker that allocated it, its home, and goes back there when its task
 * has ended elsewhere. Workers count the children that end where their parent runs without atomics; those that end
 * elsewhere, by one atomic addition to the parent.
 */
#ifndef NS_THREAD_TASKS_H
#define NS_THREAD_TASKS_H

#include "atomics.h"
#include "operations.h"

typedef struct ns_thread_worker ns_thread_worker;
typedef ns_lane_task ns_thread_task;
_Static_assert(sizeof(ns_thread_task) == NS_LINE_BYTES, "records of different workers share no line");
_Static_assert(sizeof(ns_atomic_u32) == sizeof(uint32_t), "a lane's word is an atomic one");

static inline ns_atomic_u32 *ns_thread_task_returned(const ns_thread_task *self) {
    return (ns_atomic_u32 *)(void *)(uintptr_t)&self->returned;
}

/* Whether all children of `self` have ended. */
static inline bool ns_thread_task_is_joined(const ns_thread_task *self) {
    /* acquire: what the children did is seen by what follows the join */
    return self->pending == ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire);
}

/* The same where children count down: what the parent has yet to add is what they have taken away. */
static inline bool ns_thread_task_is_balanced(const ns_thread_task *self) {
    /* acquire: as above */
    return self->pending + ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire) == 0;
}

/* All children of `self` have ended: count anew. */
static inline void ns_thread_task_forget(ns_thread_task *self) {
    self->pending = 0;
    ns_atomic_u32_store(ns_thread_task_returned(self), 0, memory_order_relaxed); /* relaxed: no child adds to it */
}

/* A task for `order`, a child of `parent`, ready to be placed; NULL where memory is short. */
ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order);

/* Its body has returned on `worker`, with all children joined: its record is free, its parent knows. */
void ns_thread_task_end(ns_thread_worker *worker, ns_thread_task *self);

/* Its parent, of which a record in a list marks the lowest bit: it is then no child that a join may execute without
 * further ado. */
static inline ns_thread_task *ns_thread_task_parent(const ns_thread_task *self) {
    return (ns_thread_task *)((uintptr_t)self->parent & ~(uintptr_t)1);
}
static inline bool ns_thread_task_is_listed(const ns_thread_task *self) { return (uintptr_t)self->parent & 1; }

/* The stack of records of `worker`: 0 or NS_ERROR_MEMORY. */
int ns_thread_records_stack(ns_thread_worker *worker);

/* Records for `worker` where its list is empty: whether there are any. */
bool ns_thread_records_more(ns_thread_worker *worker);
void ns_thread_records_free(ns_thread_worker *worker);

#endif
