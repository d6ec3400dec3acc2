/* The thread mode: a pool of workers, each a thread with its own CPU, that execute tasks by the tables of a strategy.
 *
 * How tasks are executed is chosen when a pool opens (execution.h): nested on the worker's stack, in the slots of a
 * lane, or on fibers of their own. Where a worker finds its next task is in source/search.
 */
#ifndef NS_WORKER_H
#define NS_WORKER_H

#include <pthread.h>

#include "execution/worker_state.h"
#include "following/followed_graph.h"
#include "plan_tables.h"
#include "platform/fiber.h"
#include "platform/ticks.h"
#include "policy/round.h"
#include "policy/dispatch.h"
#include "queues/task_queues.h"
#include "queues/watch_board.h"
#include "search/search_locks.h"
#include "threads/emulation.h"
#include "threads/object_homes.h"
#include "threads/sync_objects.h"
#include "threads/task_records.h"

typedef struct ns_thread_pool ns_thread_pool;

/* What a worker remembers of its search, and what it has seen of all queues. */
typedef struct {
    ns_actor actor;
    ns_view view;
    int64_t fails;       /* fruitless rounds in a row */
    int64_t idle_ps;     /* what all searches have taken */
    int64_t *bytes;      /* [nodes] of what is being looked at */
    int64_t *similarity; /* [nodes] */
    ns_objects *objects; /* [2 nodes] of the task that is being placed: reads of each node, then writes */
    uint32_t *copy;      /* [levels + 1] the queues that get a copy of it */
    bool thresholds_known;
} ns_thread_search;

/* A worker that executes tasks on fibers: see fiber_execution.c. */
typedef struct {
    ns_fiber *thread_fiber, *home;   /* the thread's own; the one that looks for work */
    struct ns_thread_fiber *resting; /* those without a task */
    ns_thread_task *left;            /* the task whose fiber was left last, */
    struct ns_thread_fiber *left_fiber;
    uint32_t leaving;      /* and for what */
    uint32_t nested;       /* tasks that wait on the worker while it executes others */
    ns_thread_task *aside; /* of a run that is quiescent: tasks that wait, whose waits it looks at in turn */
} ns_thread_fiber_state;

struct ns_thread_worker {
    ns_worker base;
    ns_thread_task *free; /* records of the list; NULL: ns_thread_records_more */
    ns_thread_task *slab; /* all records of lists that it has allocated, linked by the first ones of their slabs */
    int32_t own;          /* its own queue, or NS_UNKNOWN */
    int32_t cpu;          /* where it is pinned, or -1 */
    pthread_t thread;
    ns_thread_task *agenda;       /* what it executes first in a run */
    ns_thread_task *resumable;    /* tasks that it goes on with before it looks for work, linked by `next` */
    struct ns_lane_group *groups; /* with lanes: children with dependences, of all tasks that it executes: */
    ns_thread_fiber_state fibers;
    ns_thread_search search;
    ns_worker_state order; /* where its spawn order adapts: when that was decided last, and how */
    bool in_gate;          /* it has passed the gate of a steal level: live_gates.h */
    ns_sync_user sync_user;
    int64_t busy_ps; /* where a controller is told: what segments have taken on it */
    int64_t counters[NS_COUNTERS];
    int64_t *node_attempts, *node_success, *node_bytes; /* [nodes] by the node of the queue, or home */
    ns_atomic_u64 stack_end;                            /* below this address no body begins: worker_stack.h */
    NS_OWN_LINE ns_atomic_u64 no_work;                  /* its announcement that it finds no work: quiescence.c */
    ns_atomic_pointer given_back;                       /* records that have ended elsewhere */
    ns_atomic_u32 thief;                                /* who robbed it last, + 1; 0: nobody */
    ns_atomic_u64 robbed;                               /* where spawn orders adapt: tasks taken from its own queue */
};

struct ns_thread_pool {
    ns_pool base;
    const struct ns_thread_execution *execution; /* how its tasks are executed */
    ns_body *const *bodies; /* those of the library, which let others begin, or wake who waits for them; NULL behind */
    ns_fields *plan;
    ns_plan_tables tables;
    ns_followed_graph graph;
    ns_plan anonymous; /* `tables.steal` without the owners of queues, whose memories are not for others to write */
    ns_task_queue **queues; /* [queues] each near those that use it */
    ns_watch_board board;
    ns_thread_sync *sync;
    ns_search_locks locks;
    ns_object_homes *homes; /* NULL where the strategy and the mode need none */
    ns_emulation emulation;
    ns_atomic_u64 searches;    /* beginnings and ends of searches so far */
    ns_atomic_u32 quiescent;   /* no worker can find work, and the run has not ended: all take what they see */
    ns_thread_worker **worker; /* [workers] */
    int32_t *node;             /* [workers + 1] without a plan */
    uint32_t *no_queues;       /* [workers] NS_NO_QUEUE */
    ns_tick_rate rate;
    bool crowded;            /* more workers than CPUs */
    bool team;               /* the run has a root for each worker */
    uint32_t team_size;      /* workers that take part in it */
    bool notes;              /* records of tasks have notes: task_records.h */
    bool adapts;             /* the spawn order does */
    bool copies;             /* dispatch rules leave copies of tasks */
    bool asks_parents;       /* levels begin at who has spawned what a worker executed last */
    bool watches;            /* the strategy reads watch bits, */
    bool notes_watches;      /* noted at each change of a queue; else they follow from lengths */
    bool sees_lengths;       /* the strategy reads the lengths of queues */
    bool own_dispatch;       /* all new tasks of a worker go to its own queue */
    bool can_be_quiescent;   /* workers may find no work although tasks are left */
    int64_t push_ps, pop_ps; /* for thresholds */

    pthread_mutex_t lock; /* of what follows, as far as it is not atomic */
    pthread_cond_t started, ended;
    uint64_t epoch;    /* of runs */
    uint32_t active;   /* workers that have not left the run */
    uint32_t launched; /* threads that were started */
    bool closing;
    int error; /* of a thread that could not begin */
    int64_t makespan_ps;

    NS_OWN_LINE ns_thread_task origin; /* the parent of all roots */
    NS_OWN_LINE ns_atomic_u32 blocked; /* workers that sleep in a join */
    NS_OWN_LINE ns_atomic_u32 present; /* workers that have come to the run */
    ns_atomic_u64 ended_ps;            /* when the last root so far has ended, by CLOCK_MONOTONIC */
    int64_t began_ps;
};

static inline ns_thread_pool *ns_thread_pool_of(const ns_thread_worker *worker) {
    return (ns_thread_pool *)worker->base.pool;
}

static inline ns_thread_worker *ns_thread_worker_of(const ns_thread_task *task) {
    return (ns_thread_worker *)task->base.worker;
}

static inline void ns_thread_count(ns_thread_worker *worker, enum ns_counter counter, int64_t times) {
#if NUMASIM_COUNTERS
    worker->counters[counter] += times;
#else
    (void)worker, (void)counter, (void)times;
#endif
}

/* What a worker waits for: it searches until `is_over`. */
typedef struct {
    const ns_task *task; /* in whose join; NULL: none */
    bool (*is_over)(const void *context);
    const void *context;
} ns_thread_wait;

/* Something goes wrong in a run, which will end with that error. */
static inline void ns_thread_pool_note(ns_thread_pool *self, int error, const char *sentence) {
    pthread_mutex_lock(&self->lock);
    if (!self->error) self->error = ns_pool_fail(&self->base, error, "%s", sentence); /* the first says why */
    pthread_mutex_unlock(&self->lock);
}

#endif
