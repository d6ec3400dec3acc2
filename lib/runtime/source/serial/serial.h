/* The serial mode runs a program depth first, each child at its spawn. With the option `record`, a run also records the
 * task graph (recorder.h), so that numasim can simulate the program. With the other orders (enum ns_order), the
 * children of a task begin at the task's join, as on a deque. A child with a future still begins at its spawn, since
 * other tasks may get the future.
 *
 * The parts of a team wait for each other at barriers, conditions and locks. So each part has a fiber, and runs until
 * it has to wait. Then the next part that can proceed runs, in the order of the parts' numbers.
 *
 * An error in a task ends the run at once, and the fibers are not resumed.
 */
#pragma once

#include "api/operations.h"
#include "platform/fiber.h"
#include "record/recorder.h"

typedef struct serial_part serial_part;

typedef struct {
    ns_task task;
    serial_part *part;
    uint32_t row;                /* the task's row in the recorder */
    uint32_t outstanding;        /* children that the task has not joined */
    uint32_t deferred;           /* outstanding children that have not begun */
    uint32_t held;               /* locks that the task holds */
    uint32_t first_group, group; /* the children between two waits are a group; each group has its own number */
    bool oldest_first;           /* the order in which deferred children begin */
    bool getting;                /* recording: the task has got one of several futures, and has made no other call
                                    since */
    bool declared;               /* whether the segment has declared work */
    int64_t declared_ps;
    int64_t resumed_ps; /* the thread's CPU time when the segment began */
} serial_task;

enum need { NEED_NOTHING, NEED_LOCK, NEED_PERMIT, NEED_OPENING, NEED_NO_MORE };

/* A spawned task that has not begun. */
typedef struct {
    ns_body *body;
    size_t begin, bytes; /* the place of its arguments in ns_deferred.bytes */
} ns_deferred_task;

/* The tasks of a part that have not begun. They act like a worker's deque. */
typedef struct {
    ns_deferred_task *task; /* [count] the oldest first */
    char *bytes;            /* the arguments of all tasks, one after the other */
    size_t count, task_room, byte_room;
} ns_deferred;

/* A part of a team, or a run without a team. Each part has a fiber. */
struct serial_part {
    ns_worker worker;
    ns_fiber *fiber;
    const ns_work_order *order;
    uint32_t root; /* the row of the part's root */
    enum need need;
    uint32_t word;   /* the synchronisation object that the part waits for */
    uint64_t opened; /* how often the barrier had opened when the part arrived */
    ns_deferred deferred;
    int64_t tasks, work_ps;
};

typedef struct {
    const serial_task *holder; /* the holder of a lock */
    uint32_t arrived;          /* tasks that have arrived at a barrier */
    uint64_t opened, permits;  /* how often a barrier has opened; signals of a condition */
    int64_t acquisitions;
} serial_sync;

typedef struct {
    ns_pool pool;
    ns_recorder recorder;
    bool recording, team;
    int64_t clock_cost_ps; /* the time that reading the clock adds to a segment */
    int64_t took_ps;       /* the time of all runs */
    serial_sync *words;    /* [words_known] synchronisation objects of this run */
    int64_t *acquisitions; /* [words_known] counts over all runs */
    uint32_t words_known;
    uint32_t groups;
    serial_part *parts; /* [pool.workers] */
    ns_fiber *caller;
    int error;
} serial_pool;

/* ---- serial_calls.c ---------------------------------------------------------------------------------------------- */

/* Run the body of an order as row `row` of the graph. The body gets a copy of its arguments, which the body may
 * change. */
void ns_serial_run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order);

/* Switch to the next part after `self` that can proceed; if there is none, to the caller of the run. */
void ns_serial_pass_on(serial_pool *pool, serial_part *self);

extern const ns_task_operations ns_serial_calls;
