/* Tasks of the thread mode: records that workers recycle, and counts of children. In pools of lanes (lane_execution.c)
 * only roots and tasks that have left their lane have records; the latter have no parent.
 *
 * A record belongs to the worker that allocated it, its home, and goes back there when its task has ended elsewhere. A
 * child that ends on its parent's worker is counted without atomics; a child that ends elsewhere, by one atomic
 * addition to the parent.
 */
#ifndef NS_TASK_RECORDS_H
#define NS_TASK_RECORDS_H

#include "api/operations.h"
#include "platform/atomics.h"

typedef struct ns_thread_worker ns_thread_worker;
typedef struct ns_thread_task ns_thread_task;

struct ns_thread_task {
    union {
        ns_task base; /* only up to `children`: the rest is of tasks in lanes */
        struct {
            void *of_base[4];
            union {
                void *fiber;        /* without lanes: NULL, or the fiber on which the task goes on */
                ns_lane_slot *slot; /* with lanes: NULL, or the slot from which the task was stolen */
            };
            ns_thread_task *next; /* in a list of tasks that can go on */
        };
    };
    ns_body *body;
    ns_thread_task *parent; /* or NULL; of a free record: the next free record */
    char inlined[NS_INLINED_BYTES] NS_ALIGNED;
    uint32_t pending;       /* children that were spawned and have not ended on the same worker */
    ns_atomic_u32 returned; /* pending children that have ended elsewhere */
    ns_worker *home;        /* the worker that allocated the record */
};
_Static_assert(sizeof(ns_thread_task) == NS_LINE_BYTES, "records of different workers share no line");

/* Notes about a task, behind the task, in pools that need them. */
typedef struct {
    uint32_t row, at;        /* in the plan's graph: the row of the task, and its next op */
    uint32_t depth, left_by; /* if the spawn order adapts: how many calls deep the task stands on its worker's stack;
                                the worker that last put the rest of the task into a queue, + 1 */
    uint64_t began;          /* if a controller is told: in ticks, when the running segment began; 0: no segment runs */
    /* in join leapfrog: the worker that has begun the task; of the task's children under way, the child begun last; and
     * the task's neighbours in that order, under the lock of their parent */
    ns_atomic_u32 lock;
    uint32_t taker;
    ns_thread_task *taken, *taken_before, *taken_behind;
} ns_task_notes;

#define NS_NO_ROW UINT32_MAX

typedef struct {
    ns_thread_task task;
    ns_task_notes notes;
} ns_noted_task;

static inline ns_task_notes *ns_thread_notes_of(const ns_thread_task *self) {
    return &((ns_noted_task *)(uintptr_t)self)->notes;
}

static inline ns_atomic_u32 *ns_thread_task_returned(const ns_thread_task *self) {
    return (ns_atomic_u32 *)(uintptr_t)&self->returned;
}

/* Returns whether all children of `self` have ended. */
static inline bool ns_thread_task_is_joined(const ns_thread_task *self) {
    /* acquire: the code behind the join sees what the children did */
    return self->pending == ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire);
}

/* Returns whether all children of `self` have ended, if children count down: the number that the parent has yet to add
 * then equals the number that children have subtracted. */
static inline bool ns_thread_task_is_balanced(const ns_thread_task *self) {
    /* acquire: as above */
    return self->pending + ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire) == 0;
}

/* All children of `self` have ended: reset the counts. */
static inline void ns_thread_task_reset(ns_thread_task *self) {
    self->pending = 0;
    ns_atomic_u32_store(ns_thread_task_returned(self), 0, memory_order_relaxed); /* relaxed: no child adds */
}

/* Make a task for `order`, a child of `parent`. Returns NULL if memory is short. */
ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order);

/* Returns whether a record has room for the task. */
static inline bool ns_thread_task_is_short(const ns_work_order *order) {
    return order->bytes <= NS_INLINED_BYTES && !order->future && !order->access_count;
}

/* Fill in body and arguments. Returns false if memory is short for arguments that do not fit. */
bool ns_thread_task_fill(ns_thread_task *made, const ns_work_order *order);

/* Get records for `worker`, whose list is empty. Returns whether there are any. */
bool ns_thread_records_more(ns_thread_worker *worker);

/* The body of a task that does not fit its record. */
void ns_thread_run_long(ns_task *self, void *whole);

/* Free a task that was never begun. */
void ns_thread_task_discard(ns_thread_worker *worker, ns_thread_task *task);

/* Give the record of a task that has ended on `worker` back to its home. */
void ns_thread_record_free(ns_thread_worker *worker, ns_thread_task *record);

/* Free the memory of all records of `worker`. */
void ns_thread_records_destroy(ns_thread_worker *worker);

#endif
