/* Pools of threads: each worker is a thread, with its own CPU if there are enough, and executes tasks by the strategy
 * of a plan. A root is a first task of a run. A record is the memory of a task (task_records.h). A probe looks for
 * tasks in one queue, a round is one pass of probes (source/search), and a find is a task. A pool executes tasks in one
 * of three ways (execution.h): nested on the worker's stack; in lanes, stacks of slots that hold tasks; or on fibers.
 * The graph is the plan's record of the program's tasks. A watch bit says whether a queue's length passed a bound. */
#pragma once

#include <pthread.h>

#include "execution/worker_state.h"
#include "following/followed_graph.h"
#include "numasim/locks.h"
#include "plan_file.h"
#include "platform/fiber.h"
#include "platform/ticks.h"
#include "platform/waiting.h"
#include "policy/dispatch.h"
#include "policy/round.h"
#include "queues/task_queues.h"
#include "queues/watch_board.h"
#include "sync/locks.h"
#include "sync/sleepers.h"
#include "threads/object_memory.h"
#include "threads/sync_objects.h"
#include "threads/task_records.h"
#include "turns/turns.h"

typedef struct ns_thread_pool ns_thread_pool;

/* A worker's memory for searches, and its view of all queues. */
typedef struct {
    ns_actor actor;
    ns_view view;
    int64_t fails;         /* rounds in a row without a find */
    int64_t idle_ps;       /* time of all searches */
    int64_t looked;        /* number of executed tasks when the worker last looked for a task or passed a wait */
    int64_t *bytes;        /* [nodes] bytes of an access, by the node where they lie */
    int64_t *similarity;   /* [nodes] of the task that is put into a queue: its bytes or objects on each node */
    ns_objects *objects;   /* [2 nodes] of this task: sums of the objects on each node that it reads; that it writes */
    uint32_t *copy;        /* [levels + 1] the queues that get a copy of this task */
    bool thresholds_known; /* the thresholds of the own queue have been computed from measurements */
} ns_thread_search;

/* How a worker rests that finds no task (resting.c). */
typedef struct {
    bool searches;         /* the worker counts as searching */
    bool woken;            /* the worker was woken, and has found no task since */
    bool sleeps_on;        /* the worker slept at the end of the last run */
    bool knows_pushes;     /* `pushes` is valid */
    uint64_t pushes;       /* the count of all workers' pushes before the last round */
    int64_t timeouts;      /* sleeps in a row that a timer ended */
    uint64_t phase;        /* the present phase of the plan's rules for rests between rounds (model 4.15) */
    int64_t rounds;        /* rounds in this phase so far */
    uint64_t began;        /* ticks at which the phase began */
    int64_t sits_since_ps; /* when a run began in which the worker has no part; 0: the worker takes part */
} ns_thread_resting;

/* The fields of a worker that executes tasks on fibers (fiber_execution.c). */
typedef struct {
    ns_fiber *thread_fiber, *home;      /* the thread's own fiber; the fiber that searches for tasks */
    struct ns_thread_fiber *resting;    /* a list of fibers without a task */
    ns_thread_task *left;               /* the task from whose fiber the worker switched last */
    struct ns_thread_fiber *left_fiber; /* this fiber */
    uint32_t leaving;                   /* what is to be done with `left` or `left_fiber` */
    uint32_t nested;                    /* tasks that wait on this worker while it executes other tasks */
    ns_thread_task *aside;              /* in a quiescent pool: a list of waiting tasks */
} ns_thread_fiber_state;

struct ns_thread_worker {
    ns_worker base;
    ns_thread_task *free; /* a list of free records; NULL: call ns_thread_records_more */
    ns_pieces memory;     /* released with the worker */
    ns_thread_task *slab; /* the blocks of records that this worker has allocated, linked by their first records */
    int32_t own;          /* the worker's own queue, or NS_UNKNOWN */
    int32_t cpu;          /* the CPU to which the worker is pinned, or -1 */
    pthread_t thread;
    ns_thread_task *agenda;       /* a list of roots that the worker executes before it searches */
    ns_thread_task *resumable;    /* a list of tasks that the worker resumes before it searches, linked by `next` */
    struct ns_lane_group *groups; /* with lanes: the tasks that have children with dependences (lane_execution.c) */
    ns_thread_fiber_state fibers;
    ns_thread_search search;
    ns_thread_resting resting;
    ns_worker_state order; /* if the spawn order adapts: the time and the result of the last decision */
    bool in_gate;          /* the worker counts as a live subtree, after passing the gate of a level: noted_tasks.h */
    ns_sync_user sync_user;
    int64_t busy_ps; /* if the strategy has a controller: time of all segments of tasks on this worker */
    int64_t counters[NS_COUNTERS];
    int64_t *node_attempts, *node_success; /* [nodes] steals tried, and successful, by the node of the queue */
    int64_t *node_bytes;                   /* [nodes] bytes accessed, by the node of the memory */
    ns_atomic_u64 stack_end;               /* no body begins below this address: worker_stack.h */
    NS_OWN_LINE ns_atomic_u64 no_work;     /* the stamp of the worker's announcement in quiescence.c; 0: none */
    ns_atomic_pointer given_back;          /* a list of this worker's records whose tasks have ended on other workers */
    ns_atomic_u32 thief;                   /* the worker that last stole from this worker's queue, + 1; 0: none */
    ns_atomic_u64 robbed;                  /* if spawn orders adapt: number of tasks stolen from its queue */
};

struct ns_thread_pool {
    ns_pool base;
    const struct ns_thread_execution *execution; /* the way of executing tasks */
    ns_body *const *bodies; /* the library's bodies that wrap bodies of the program, ended by NULL */
    ns_fields *fields;      /* the fields of the plan; NULL: the default plan */
    ns_plan_file file;
    ns_followed_graph graph;
    ns_plan anonymous; /* `file.plan.steal` without own queues: ns_actor_found then changes only the prober's memory */
    ns_task_queue **queues; /* [queues] each in memory of its home node */
    ns_watch_board board;
    ns_thread_sync *sync;
    ns_numa_lock **locks;   /* [words] for each lock that searches take; NULL for other synchronisation objects */
    ns_line *lines;         /* [words] the cache lines of `locks`, in NS_MODE_PACED */
    ns_object_homes *homes; /* NULL if the strategy and the mode need none */
    ns_emulation emulation;
    struct ns_turns *turns;    /* if workers run in turns: turns/turns.h; else NULL */
    ns_sleepers *sleepers;     /* NULL: the plan has no rules for workers that find no task */
    ns_atomic_u32 idle;        /* number of searching or sleeping workers, if the cap on searches depends on it */
    ns_atomic_u64 searches;    /* number of begins and ends of searches so far */
    ns_atomic_u32 quiescent;   /* tasks are left that no worker may take: quiescence.c */
    ns_thread_worker **worker; /* [workers] */
    int32_t *node;             /* [workers + 1] the nodes of workers in the default plan */
    uint32_t *no_queues;       /* [workers] NS_NO_QUEUE: `own` of the plan `anonymous` */
    ns_tick_rate rate;
    bool crowded;          /* whether there are more workers than CPUs */
    bool team;             /* whether the run has a root for each worker (ns_pool_team) */
    uint32_t team_size;    /* number of workers that take part in the run */
    bool notes;            /* whether records of tasks have notes: task_records.h */
    bool adapts;           /* whether workers decide by steals from them what to run after a spawn: child or parent */
    bool copies;           /* whether rules put copies of a new task into several queues */
    bool asks_parents;     /* whether levels name queues of the worker that spawned a worker's last task */
    bool watches;          /* whether the strategy reads watch bits or the threshold s */
    bool asks_sleepers;    /* whether some watch bits say which workers sleep */
    bool notes_watches;    /* whether each change of a queue updates its watch bits; else they follow from its length */
    bool sees_lengths;     /* whether the strategy reads the lengths of queues */
    bool own_dispatch;     /* whether all new tasks of a worker go to its own queue */
    bool can_be_quiescent; /* whether workers may find no work although tasks are left */
    bool sleeps;           /* whether workers that find no task sleep */

    pthread_mutex_t lock;           /* guards the fields below, except atomic words */
    pthread_cond_t started, called; /* a run has started; if workers sleep: worker 0 has called the others to the run */
    pthread_cond_t ended;           /* all workers have left the run */
    uint64_t epoch;                 /* the number of the run */
    uint64_t calls;                 /* the number of the run to which worker 0 has called the other workers */
    uint32_t active;                /* number of workers that have not left the run */
    uint32_t launched;              /* number of threads that were started */
    bool closing;
    int error; /* the first error of a run, or the error of a thread that could not start */
    int64_t makespan_ps;

    NS_OWN_LINE ns_thread_task origin; /* the parent of all roots */
    NS_OWN_LINE ns_atomic_u32 blocked; /* number of workers that sleep in a join by the join rule `block` */
    NS_OWN_LINE ns_atomic_u32 present; /* number of workers that have come to the run */
    ns_atomic_u64 ended_ps;            /* the latest end of a root so far, by CLOCK_MONOTONIC */
    int64_t began_ps;
};

static inline ns_thread_pool *ns_thread_pool_of(const ns_thread_worker *worker) {
    return (ns_thread_pool *)worker->base.pool;
}

/* Return the seed of all random choices. */
static inline uint64_t ns_thread_seed(const ns_thread_pool *pool) {
    return pool->base.options.seed ? pool->base.options.seed : pool->file.seed;
}

static inline ns_thread_worker *ns_thread_worker_of(const ns_thread_task *task) {
    return (ns_thread_worker *)task->base.worker;
}

static inline void ns_thread_count(ns_thread_worker *worker, enum ns_counter counter, int64_t times) {
    if (NUMASIM_COUNTERS) worker->counters[counter] += times;
}

/* What a worker waits for while it executes other tasks: `is_over`(context) returns whether the wait is over. */
typedef struct {
    const ns_task *task; /* the task that waits; NULL: none, the worker may take any task */
    bool (*is_over)(const void *context);
    const void *context;
    const void *awaited;      /* the task or future whose end ends the wait; NULL: the worker does not sleep */
    const uint32_t *children; /* how many ends of children end the wait; NULL: 1 */
} ns_thread_wait;

/* ---- pool_making.c ----------------------------------------------------------------------------------------------- */

/* Make all parts of a pool except its threads. `plan` may be NULL; `mode` has the functions of the pool. Return 0 or a
 * negative error code. If `*self` is not NULL then, even after an error, the pool owns `plan`. */
int ns_thread_pool_make(ns_thread_pool **self, const ns_pool_options *options, ns_fields *plan,
                        const ns_pool_operations *mode);
void ns_thread_pool_free(ns_thread_pool *self);

/* Allocate the worker's memory. Called by the worker's thread, so that the memory is on its node. Return 0 or
 * NS_ERROR_MEMORY. */
int ns_thread_worker_settle(ns_thread_worker *worker);

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Note an error of a run. The run will end with the first such error. */
static inline void ns_thread_pool_note(ns_thread_pool *self, int error, const char *sentence) {
    ns_mutex_lock(&self->lock);
    if (!self->error) self->error = ns_pool_fail(&self->base, error, "%s", sentence);
    pthread_mutex_unlock(&self->lock);
}
