/* Running serially: depth first, a child at once where it is spawned. Where it is asked for, the task graph is recorded
 * (recorder.h), so that numasim can simulate the very program. In other orders (enum ns_order) the children of a task
 * wait until it joins, as on a deque; but for a child with a future, since others may get it.
 *
 * The parts of a team wait for each other at barriers, conditions and locks, so each runs on a fiber of its own until
 * it has to wait; then the next one that can go on does, in the order of their numbers.
 *
 * What goes wrong inside a task ends the run where it is: the fibers are given up.
 */
#ifndef NS_SERIAL_H
#define NS_SERIAL_H

#include "api/operations.h"
#include "platform/fiber.h"
#include "record/recorder.h"
#include "serial/deferred.h"

typedef struct serial_part serial_part;

typedef struct {
    ns_task task;
    serial_part *part;
    uint32_t row;                /* in the recorder */
    uint32_t outstanding;        /* children that it has not waited for */
    uint32_t deferred;           /* those of them that have not begun */
    uint32_t held;               /* locks */
    uint32_t first_group, group; /* children between two waits are a group; numbers are never given twice in a run */
    bool oldest_first;           /* the deferred ones, as they are to begin */
    bool getting;                /* recording: it has got one of several futures, and made no other call since */
    bool declared;               /* the segment under way has work */
    int64_t declared_ps;
    int64_t resumed_ps; /* thread's CPU time when the segment under way began */
} serial_task;

enum need { NEED_NOTHING, NEED_LOCK, NEED_PERMIT, NEED_OPENING, NEED_NO_MORE };

/* What runs on a fiber of its own. */
struct serial_part {
    ns_worker worker;
    ns_fiber *fiber;
    const ns_work_order *order;
    uint32_t root; /* its row */
    enum need need;
    uint32_t word;   /* the synchronisation object that it waits for */
    uint64_t opened; /* how often the barrier had opened when it arrived */
    ns_deferred deferred;
    int64_t tasks, work_ps;
};

typedef struct {
    const serial_task *holder; /* of a lock */
    uint32_t arrived;          /* at a barrier */
    uint64_t opened, permits;  /* of a barrier, of a condition */
    int64_t acquisitions;
} serial_sync;

typedef struct {
    ns_pool pool;
    ns_recorder recorder;
    bool recording, team;
    int64_t clock_cost_ps; /* what reading its clock adds to a segment */
    int64_t took_ps;       /* of all runs */
    serial_sync *words;    /* [words_known], of the run under way */
    int64_t *acquisitions; /* [words_known], of all runs */
    uint32_t words_known;
    uint32_t groups;
    serial_part *parts; /* [pool.workers] */
    ns_fiber *caller;
    int error;
} serial_pool;

static inline serial_pool *ns_serial_pool_of(const serial_task *self) {
    return (serial_pool *)(void *)self->task.worker->pool;
}

/* ---- parts.c: whose turn it is ----------------------------------------------------------------------------------- */

/* Whether the part has what it needs. */
bool ns_serial_can_go_on(const serial_pool *pool, const serial_part *self);

/* Go on with the next part that can, after `self`, or where there is none with the caller. */
void ns_serial_pass_on(serial_pool *pool, serial_part *self);

/* End the run: `problem` is what the program does wrong at `name`. */
_Noreturn void ns_serial_give_up(serial_task *self, int error, const char *problem, const char *name);

/* ---- segments.c: what bodies do between two calls ---------------------------------------------------------------- */

/* The body calls: the segment under way ends. */
void ns_serial_leave_body(serial_task *self);

/* The body goes on: a segment begins. */
void ns_serial_resume_body(serial_task *self);

/* The body calls, and its next op is this. */
void ns_serial_begin_op(serial_task *self, enum ns_op code, uint32_t argument);

/* End the run of a task that gets one of several futures and does something else before it has got the others. */
void ns_serial_refuse_early_get(serial_task *self);

/* ---- serial_tasks.c ---------------------------------------------------------------------------------------------- */

/* Run the body of an order as row `row` of the graph. It gets a copy of its arguments, which it may change. */
void ns_serial_run_copy(serial_task *self, uint32_t row, bool oldest_first, const ns_work_order *order);

/* All that this task has deferred, which are the newest of its part. Each is gone from there before it begins; in the
 * other direction, all of them once they have ended. */
void ns_serial_run_deferred(serial_task *self);

void ns_serial_spawn(ns_task *task, const ns_work_order *order);
void ns_serial_spawn_after(ns_task *task, const ns_work_order *order);
void ns_serial_call(ns_task *task, ns_body *body, void *arguments);
void ns_serial_join(ns_task *task);
void ns_serial_get(ns_task *task, ns_future *future);
void ns_serial_work(ns_task *task, int64_t picoseconds);
void ns_serial_access(ns_task *task, const ns_access *access);
void ns_serial_refuse(ns_task *task, int error, const char *sentence);

/* ---- serial_sync.c: locks, atomic counters, conditions, barriers ------------------------------------------------- */

void ns_serial_lock(ns_task *task, uint32_t object);
void ns_serial_unlock(ns_task *task, uint32_t object);
int64_t ns_serial_add(ns_task *task, uint32_t object, int64_t value);
void ns_serial_arrive(ns_task *task, uint32_t object);
void ns_serial_await(ns_task *task, uint32_t object);
void ns_serial_signal(ns_task *task, uint32_t object, uint32_t permits);

#endif
