/* The state of a run in virtual time: workers, tasks, the plan that they follow (model 3 and 4).
 *
 * Each worker is a fiber of one thread. What takes time is a step: the worker gives the clock an event and is suspended
 * until it is its turn, which comes in the order (time, rank, worker). Between two steps a worker runs undisturbed.
 *
 * Where tasks never leave the worker that began them, they run nested on its stack, as they do on real threads. With
 * continuations (join `continuation`, spawn order work-first) each task has a fiber of its own; `worker->stack` says
 * what is on top of what, and whoever leaves goes on with the top.
 */
#ifndef NS_VIRTUAL_STATE_H
#define NS_VIRTUAL_STATE_H

#include <setjmp.h>
#include <stddef.h>

#include "api/operations.h"
#include "clock/clock.h"
#include "control/iteration_boundary.h"
#include "execution/live_subtrees.h"
#include "execution/steps.h"
#include "execution/task_numbers.h"
#include "plan_file.h"
#include "platform/fiber.h"
#include "queues/queues.h"
#include "record/ops.h"
#include "search/probes.h"
#include "sync/objects.h"

/* As in numasim/workload/graph.py. */

typedef struct virtual_task virtual_task;
typedef struct virtual_worker virtual_worker;
typedef struct virtual_pool virtual_pool;

/* A group that a task has begun and not ended. */
typedef struct virtual_group virtual_group;
struct virtual_group {
    virtual_task *owner;
    virtual_group *around; /* the one that its owner was in then, or NULL */
    virtual_task *taken;   /* in join `leapfrog`: of its tasks under way, the one begun last */
    uint32_t members;      /* tasks that have not finished */
    bool gathering;        /* its owner waits at its end, off the stack or asleep */
};

/* Who may wait for a task: its parent, and the owner of its group. */
enum { BY_PARENT, BY_GROUP, WAYS_TO_WAIT };

struct virtual_task {
    ns_task base;
    virtual_task *parent;
    virtual_task *before, *behind; /* among all tasks of the pool */
    uint32_t row, at;              /* in the plan's graph: its row, its next op */
    uint32_t pending;              /* children that have not finished */
    uint32_t references;           /* the task itself until it has finished, and its children as long as they live */
    uint32_t spawner;              /* the worker that spawned it */
    bool begun, waiting;
    virtual_group *group, *innermost; /* that counts it, of a call the tasks that it spawns; that it began last */
    /* where the spawn order adapts: how many calls deep it stands on its worker's stack; who last put its rest away */
    uint32_t depth, left_by;
    uint32_t taker;      /* in join `leapfrog`: the worker that has begun it */
    virtual_task *taken; /* likewise: of its children under way, the one begun last; */
    virtual_task *taken_before[WAYS_TO_WAIT], *taken_behind[WAYS_TO_WAIT]; /* its neighbours in that order */
    uint32_t height;         /* in a backlog: the worker's stack has to be lower */
    virtual_worker *sleeper; /* that is blocked in its join */
    ns_fiber *fiber;         /* its own, or NULL */
    int64_t since_ps;        /* measured costs: CPU time when it went on last */
    ns_body *body;
    ns_future *future;
    void *arguments; /* `copy`; of a call, the caller's */
    _Alignas(max_align_t) char copy[];
};

typedef struct {
    virtual_task **task;
    uint32_t count, room;
} task_list;

struct virtual_worker {
    ns_worker base;
    ns_worker_state state;
    int64_t due_ps; /* time of its event, where one is pending */
    enum ns_rank rank;
    bool pending;
    ns_fiber *fiber;                        /* its own loop */
    ns_fiber *suspended;                    /* what runs when its event happens */
    task_list stack, outbox, agenda, taken; /* `taken`: beside the first, by a steal */
    task_list backlog;                      /* to be offered once its stack is low enough, the last one first */
    uint32_t requested;                     /* the lock that its search waits for */
    int64_t step_ps;                        /* the idle part of the pending step */
    int64_t blocked_until_ps;
    bool retired; /* the phase has ended under its search */
};

/* What changes of the plan's graph, in which the program runs in lockstep; NULL where no task depends on another. */
typedef struct {
    uint32_t *depends;      /* [rows] predecessors */
    uint32_t *predecessors; /* [rows] of those, that have not finished */
    virtual_task **held;    /* [rows] tasks that were spawned */
} virtual_graph;

struct virtual_pool {
    ns_pool base;
    ns_fields *fields;
    ns_plan_file file;
    const ns_full_plan *plan; /* that of the file */
    uint64_t seed;
    virtual_graph graph;
    ns_clock clock; /* slots: the workers, the end of the phase, the words */
    int64_t now_ps;
    ns_sync *sync;
    ns_pages pages;
    ns_queues queues;
    ns_live_subtrees live;
    ns_task_numbers numbers;
    ns_iteration_boundary boundary;
    uint32_t copy[65], copies; /* the queues that get a copy of the task that was placed last, and one place more */
    ns_report report;
    virtual_worker *workers;
    ns_search search;
    ns_fiber *main, *running;   /* the caller of ns_pool_run; the fiber that runs */
    jmp_buf outside;            /* where the caller goes on if a phase cannot begin */
    virtual_task *tasks;        /* all that there are, whoever holds them */
    ns_fiber **fibers, **spare; /* [fiber_room] all fibers of tasks; those of finished ones */
    uint32_t fiber_count, spare_count, fiber_room;
    int64_t clock_cost_ps; /* what measuring takes, of every measurement */
    bool detached;         /* tasks have fibers of their own */
    int64_t outstanding;   /* tasks of the phase that have not finished */
    ns_steps steps;        /* the run of a phase that is on, or comes next */
    uint32_t iteration;    /* that of the phase that is on */
    uint64_t phases_run;   /* every run of one */
    int64_t phase_start_ps;
    bool starting; /* not all workers have been told that the phase begins */
    bool serial;   /* worker 0 runs it alone */
    bool phase_over;
    int error;
    uint64_t trace_hash;
};

static inline virtual_pool *pool_of(const virtual_worker *w) { return (virtual_pool *)w->base.pool; }
static inline virtual_worker *worker_of(const virtual_task *task) { return (virtual_worker *)task->base.worker; }
static inline int64_t now_of(const virtual_worker *w) { return pool_of(w)->now_ps; }
static inline ns_view view_of(const virtual_pool *pool) {
    return (ns_view){.length = pool->queues.length,
                     .watch = pool->queues.watch,
                     .iteration = pool->iteration,
                     .switches = pool->boundary.in_force.switches,
                     .live = pool->live.live,
                     .awaited = pool->live.awaited};
}
static inline virtual_task *top_of(const virtual_worker *w) {
    return w->stack.count ? w->stack.task[w->stack.count - 1] : NULL;
}

/* The plan and the program do not go together, or memory is short: the run ends. Does not return. */
_Noreturn void ns_virtual_fail(virtual_worker *w, int error, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- steps (virtual_steps.c) ------------------------------------------------------------------------------------- */

/* Go on with another fiber; the running one is suspended. */
void ns_virtual_switch(virtual_pool *pool, ns_fiber *to);
/* Let the first event happen: false where none is pending. That of the end of a phase is `on_phase_end`. */
bool ns_virtual_turn(virtual_pool *pool, void (*on_phase_end)(virtual_pool *pool));
/* The next op of a task in the plan's graph. */
enum ns_op ns_virtual_op_at(const virtual_pool *pool, const virtual_task *task);

void ns_virtual_list_push(virtual_worker *w, task_list *list, virtual_task *task);
virtual_task *ns_virtual_list_shift(task_list *list);
void ns_virtual_list_free(task_list *list);

/* Suspend the running fiber until somebody resumes the worker; no event is scheduled. */
void ns_virtual_suspend(virtual_worker *w);
/* Suspend it until the worker's event; where that comes next, it happens at once. */
void ns_virtual_await_turn(virtual_worker *w);
/* Go on with the worker at once; the caller is the clock's fiber. */
void ns_virtual_resume(virtual_worker *w);
/* The time of an event; where it lies after NS_LATEST_PS, the run ends with an error at the next turn. */
int64_t ns_virtual_require_time(virtual_pool *pool, uint64_t due_ps);
/* Let the worker have its turn `delay_ps` from now. */
void ns_virtual_schedule(virtual_worker *w, enum ns_rank rank, int64_t delay_ps);
/* The phase is over when this instant is. */
void ns_virtual_end_phase(virtual_pool *pool);
/* A step of the worker; one that is all overhead, together with what is owed. */
void ns_virtual_step(virtual_worker *w, enum ns_rank rank, int64_t delay_ps);
void ns_virtual_step_overhead(virtual_worker *w, enum ns_rank rank, int64_t step_ps);
/* Ask for a lock or an atomic word; and wait until it is the worker's, which is overhead. */
void ns_virtual_request(virtual_worker *w, uint32_t word);
void ns_virtual_acquire(virtual_worker *w, uint32_t word);
/* A record of both hashes (model 1.3). */
void ns_virtual_record(virtual_pool *pool, enum ns_rank rank, uint64_t actor, uint64_t first, uint64_t second);

/* ---- tasks (virtual_tasks.c) ------------------------------------------------------------------------------------- */

/* The task of a row of the plan's graph. */
virtual_task *ns_virtual_new_task(virtual_worker *w, uint32_t row, const ns_work_order *order);
/* One holder of a task less; one that nobody holds lets go of its parent. */
void ns_virtual_drop(virtual_pool *pool, virtual_task *task);
/* Free a task, whoever holds it. */
void ns_virtual_free_task(virtual_pool *pool, virtual_task *task);
/* Begin `task`, that was queued or dealt: it comes on top of the stack. */
void ns_virtual_begin(virtual_worker *w, virtual_task *task);
void ns_virtual_end_idle(virtual_worker *w);
/* In join `leapfrog`: the worker has begun a task, or goes on with it; the task has finished. */
void ns_virtual_note_taker(virtual_worker *w, virtual_task *task);
void ns_virtual_forget_taker(virtual_task *task);
/* `parent`, which runs on `w`, spawns a task: that one, or the parent, is to be queued or comes on top of the stack. */
void ns_virtual_spawn(virtual_worker *w, virtual_task *parent, virtual_task *child);
/* Put a task at the back of a queue. */
void ns_virtual_push(virtual_worker *w, uint32_t q, virtual_task *task);
/* Put a task into a queue: at once, or where that takes time, as the worker's next step. */
void ns_virtual_offer(virtual_worker *w, virtual_task *task);
/* Let a root that waits for no other task be begun by the worker that it is dealt to, or put it into a queue. */
void ns_virtual_give_root(virtual_worker *w, virtual_task *root);
/* All roots have been dealt. */
void ns_virtual_end_roots(virtual_worker *w);
/* The worker has finished the last predecessor of a spawned task; and of all that it releases with one. */
void ns_virtual_release(virtual_worker *w, virtual_task *task);
void ns_virtual_offer_released(virtual_worker *w);
/* Take the steps that put what waits in the outbox. */
void ns_virtual_settle_outbox(virtual_worker *w);

/* ---- searching (virtual_search.c) -------------------------------------------------------------------------------- */

/* Look for work until there is more on the stack, or the join on top of it is over, or the phase is. */
void ns_virtual_search(virtual_worker *w);

/* ---- bodies (virtual_bodies.c) ----------------------------------------------------------------------------------- */

/* Put what waits in the outbox, and run what is on top of the stack, until `self` is (NULL: until nothing is). */
void ns_virtual_settle(virtual_worker *w, virtual_task *self);
/* The body goes on after a call into the runtime. */
void ns_virtual_went_on(virtual_task *task);
/* Let its work since then take its time; the worker that did it. */
virtual_worker *ns_virtual_end_segment(virtual_task *task);
/* Check that the next op of the plan's graph is `op`: its argument. */
uint32_t ns_virtual_expect(virtual_worker *w, const virtual_task *task, enum ns_op op);
/* WAIT or END_GROUP, behind the last segment. */
void ns_virtual_wait(virtual_worker *w, virtual_task *task);
/* What is left of a body when it returns: its last segment, and a join that the graph has there. */
void ns_virtual_end_body(virtual_task *task);

/* ---- groups (virtual_groups.c; what bodies call: virtual.h) -------------------------------------------------------
 */

/* A task that `parent` creates belongs to the innermost group that its parent is in. */
void ns_virtual_enter_group(virtual_task *task, const virtual_task *parent);
/* Free the groups that a task has not ended, since its run ended before. */
void ns_virtual_close_groups(virtual_task *task);
/* Whether the task has come to the end of a group; how many others it waits for where it has come to. */
bool ns_virtual_gathers(const virtual_task *task);
uint32_t ns_virtual_awaited(const virtual_task *task);

/* ---- what programs call (virtual_calls.c) ------------------------------------------------------------------------ */

/* What the synchronisation objects of a pool tell it. */
ns_sync_listener ns_virtual_listener(virtual_pool *pool);

/* ---- the mode (virtual.c) ---------------------------------------------------------------------------------------- */

extern const ns_task_operations ns_virtual_calls;

#endif
