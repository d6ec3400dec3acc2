/* Records of tasks in pools of threads: the memory of a task, which workers reuse, and counts of the task's children. A
 * record belongs to its home, the worker that allocated it, and returns there if the task ends on another worker. A
 * child that ends on its parent's worker is counted without atomic instructions; a child that ends on another worker is
 * counted by one atomic addition to the parent. In pools of lanes (a lane is a stack of slots that hold tasks:
 * lane_execution.c) only roots and tasks that have left their lane have records, the latter without a parent. */
#pragma once

#include "api/operations.h"
#include "platform/atomics.h"

typedef struct ns_thread_worker ns_thread_worker;
typedef struct ns_thread_task ns_thread_task;

struct ns_thread_task {
    union {
        ns_task base; /* only the fields up to `children`: the rest belongs to tasks in lanes */
        struct {
            void *of_base[4];
            union {
                void *fiber;        /* without lanes: the fiber on which the task runs or resumes, or NULL */
                ns_lane_slot *slot; /* with lanes: the slot from which the task was stolen, or NULL */
            };
            ns_thread_task *next; /* the next task in a list */
        };
    };
    ns_body *body;
    ns_thread_task *parent;                    /* the parent, or NULL; of a free record: the next free record */
    char inlined[NS_INLINED_BYTES] NS_ALIGNED; /* the arguments */
    uint32_t pending;       /* number of spawned children less children that have ended on the task's worker */
    ns_atomic_u32 returned; /* number of children that have ended on other workers; `pending` if all have ended */
    ns_worker *home;        /* the worker that allocated the record */
};
_Static_assert(sizeof(ns_thread_task) == NS_LINE_BYTES, "records of different workers share no line");

/* What a strategy that distinguishes tasks notes about a task, stored behind the task's record if the pool needs it. */
typedef struct {
    uint32_t row, at;   /* in the plan's task graph: the entry (row) of the task, and its next operation */
    uint32_t depth;     /* if the spawn order adapts: the number of calls below the task on its worker's stack */
    uint32_t left_by;   /* if the spawn order adapts: the worker that last left the task for a spawned child, + 1 */
    uint64_t began;     /* if the strategy has a controller: ticks at the begin of the running segment; 0: none runs */
    ns_atomic_u32 lock; /* with the join rule leapfrog; guards the list of the task's running children */
    uint32_t taker;     /* the worker that has begun the task */
    ns_thread_task *taken;                       /* the child in this list that began last */
    ns_thread_task *taken_before, *taken_behind; /* the task's neighbours in its parent's list */
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

/* Return whether all children of a task have ended: `returned` counts up to `pending`. */
static inline bool ns_thread_task_is_joined(const void *task) {
    const ns_thread_task *self = task;
    /* acquire: the code after the join sees all that the children did */
    return self->pending == ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire);
}

/* Return the same in pools (joins that block or continue) where each child subtracts 1 from `returned` at its end, and
 * a parent moves `pending` to `returned` when it waits: the sum is 0 when all children have ended. */
static inline bool ns_thread_task_is_balanced(const void *task) {
    const ns_thread_task *self = task;
    /* acquire: as in ns_thread_task_is_joined */
    return self->pending + ns_atomic_u32_load(ns_thread_task_returned(self), memory_order_acquire) == 0;
}

/* Reset the counts when all children of `self` have ended. */
static inline void ns_thread_task_reset(ns_thread_task *self) {
    self->pending = 0;
    /* relaxed: no child adds to the count now */
    ns_atomic_u32_store(ns_thread_task_returned(self), 0, memory_order_relaxed);
}

/* Append a task to a list that is linked by `next`. */
static inline void ns_thread_task_append(ns_thread_task **list, ns_thread_task *task) {
    while (*list) list = &(*list)->next;
    task->next = NULL;
    *list = task;
}

/* Make a task for `order`, a child of `parent`. Return NULL if memory is short. */
ns_thread_task *ns_thread_task_create(ns_thread_worker *worker, ns_thread_task *parent, const ns_work_order *order);

/* Return whether the task fits its record: its arguments are few, and it has no future and no declared accesses. */
static inline bool ns_thread_task_is_short(const ns_work_order *order) {
    return order->bytes <= NS_INLINED_BYTES && !order->future && !order->access_count;
}

/* Store the body and arguments of an order in a record; if they do not fit, in memory of their own. Return false if
 * memory is short. */
bool ns_thread_task_fill(ns_thread_task *made, const ns_work_order *order);

/* Fill the empty list of free records of `worker`. Return false if memory is short. */
bool ns_thread_records_more(ns_thread_worker *worker);

/* The library's body for a task that does not fit its record: runs the program's body, and completes the future. */
void ns_thread_run_long(ns_task *self, void *whole);

/* Free a task that was never begun. */
void ns_thread_task_discard(ns_thread_worker *worker, ns_thread_task *task);

/* Give the record of a task that has ended on `worker` back to its home. */
void ns_thread_record_free(ns_thread_worker *worker, ns_thread_task *record);

/* Free the memory of all records of `worker`. */
void ns_thread_records_destroy(ns_thread_worker *worker);
