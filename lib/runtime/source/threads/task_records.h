/* Tasks of the thread mode: records that workers recycle, and how children and parents find together. In pools of lanes
 * (lane_execution.c) only roots and what has left its lane have records, and the latter no parent.
 *
 * A record belongs to the worker that allocated it, its home, and goes back there when its task
 * has ended elsewhere. Workers count the children that end where their parent runs without atomics; those that end
 * elsewhere, by one atomic addition to the parent.
 */
#ifndef NS_TASK_RECORDS_H
#define NS_TASK_RECORDS_H

#include "api/operations.h"
#include "platform/atomics.h"

typedef struct ns_thread_worker ns_thread_worker;
typedef struct ns_thread_task ns_thread_task;

struct ns_thread_task {
    union {
        ns_task
            base; /* only up to `children`: the rest is of tasks in lanes, which run as parts of what has a record */
        struct {
            void *of_base[4];
            union {
                void *fiber;        /* without lanes: NULL, or where the task goes on */
                ns_lane_slot *slot; /* with lanes: NULL, or from where it was stolen */
            };
            ns_thread_task *next; /* in a list of tasks that can go on */
        };
    };
    ns_body *body;
    ns_thread_task *parent; /* or NULL; of a free record, the next one */
    char inlined[NS_INLINED_BYTES] NS_ALIGNED;
    uint32_t pending;       /* children that were spawned and have not ended on the same worker */
    ns_atomic_u32 returned; /* those of them that have ended elsewhere */
    ns_worker *home;        /* whose record it is, if it is in a list */
};
_Static_assert(sizeof(ns_thread_task) == NS_LINE_BYTES, "records of different workers share no line");

/* What is known of a task besides, in pools that ask for it: it stands behind the task. */
typedef struct {
    uint32_t row, at;        /* in the plan's graph: its row, its next op */
    uint32_t depth, left_by; /* where the spawn order adapts: how many calls deep it stands on its worker's stack; who
                                last put its rest into a queue, + 1 */
    uint64_t began;          /* where a controller is told: in ticks, when the segment under way began; 0: none is */
    /* in join leapfrog: which worker has begun it; of its children under way, the one begun last, and its neighbours in
     * that order, under the lock of their parent */
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

/* All children of `self` have ended: no child is counted any more. */
static inline void ns_thread_task_reset(ns_thread_task *self) {
    self->pending = 0;
    ns_atomic_u32_store(ns_thread_task_returned(self), 0, memory_order_relaxed); /* relaxed: no child adds to it */
}

/* A task for `order`, a child of `parent`, ready to be placed; NULL where memory is short. */
ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order);

/* Whether a record has room for all that is known of the task. */
static inline bool ns_thread_task_is_short(const ns_work_order *order) {
    return order->bytes <= NS_INLINED_BYTES && !order->future && !order->access_count;
}

/* Fill in body and arguments: false where there is no memory for what does not fit. */
bool ns_thread_task_fill(ns_thread_task *made, const ns_work_order *order);

/* Records for `worker` where its list is empty: whether there are any. */
bool ns_thread_records_more(ns_thread_worker *worker);

/* The body of a task that has more than its record has room for. */
void ns_thread_run_long(ns_task *self, void *whole);

/* Give back the record of a task that was never begun, and free what it holds. */
void ns_thread_task_discard(ns_thread_worker *worker, ns_thread_task *task);

/* Give back the record of a task that has ended on `worker`. */
void ns_thread_record_free(ns_thread_worker *worker, ns_thread_task *record);

/* Free the memory of all records of `worker`. */
void ns_thread_records_destroy(ns_thread_worker *worker);

#endif
