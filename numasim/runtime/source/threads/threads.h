/* The thread mode: a pool of workers, each a thread with its own CPU, that execute tasks by the tables of a strategy;
 * inside source/thread*.c.
 *
 * A worker executes tasks nested on its stack: one that waits in a join executes others meanwhile (joins help, own,
 * strict), or its thread sleeps (block). Where tasks go on elsewhere than where they began (spawns work-first, joins
 * continuation), each runs on a fiber of its own: thread_fibers.c.
 */
#ifndef NS_THREADS_H
#define NS_THREADS_H

#include <pthread.h>

#include "plan_tables.h"
#include "platform/fiber.h"
#include "platform/ticks.h"
#include "queues/task_queues.h"
#include "queues/watch_board.h"
#include "round.h"
#include "search/search_locks.h"
#include "similarity.h"
#include "threads/emulation.h"
#include "threads/object_homes.h"
#include "threads/thread_tasks.h"
#include "threads/thread_words.h"

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
    uint64_t placed;     /* tasks that it has placed by rules of dispatch */
    bool thresholds_known;
} ns_thread_search;

struct ns_thread_worker {
    ns_worker base;
    ns_thread_task *free; /* records of the list; NULL: ns_thread_records_more */
    ns_thread_task *slab; /* all records of lists that it has allocated, linked by the first ones of their slabs */
    int32_t own;          /* its own queue, or NS_UNKNOWN */
    int32_t cpu;          /* where it is pinned, or -1 */
    pthread_t thread;
    ns_thread_task *agenda; /* what it executes first in a run */
    /* With tasks on fibers, see thread_fibers.h. */
    ns_fiber *thread_fiber, *home;   /* the thread's own; the one that looks for work */
    struct ns_thread_fiber *resting; /* those without a task */
    ns_thread_task *kept;            /* tasks to go on with, linked by `next` */
    ns_thread_task *left;            /* the task whose fiber was left last, */
    struct ns_thread_fiber *left_fiber;
    uint32_t leaving; /* and for what */
    ns_thread_search search;
    int64_t counters[NS_COUNTERS];
    int64_t *node_attempts, *node_success, *node_bytes; /* [nodes] by the node of the queue, or home */
    NS_OWN_LINE ns_atomic_u64 hopeless; /* `changes` + 1 when it last found nothing within reach; 0: it did */
    ns_atomic_pointer given_back;       /* records that have ended elsewhere */
    ns_atomic_u32 thief;                /* who robbed it last, + 1; 0: nobody */
};

struct ns_thread_pool {
    ns_pool base;
    ns_fields *plan;
    ns_plan_tables tables;
    ns_plan anonymous; /* `tables.steal` without the owners of queues, whose memories are not for others to write */
    ns_task_queue **queues; /* [queues] each near those that use it */
    ns_watch_board board;
    ns_thread_words *words;
    ns_search_locks locks;
    ns_object_homes *homes; /* NULL where nobody asks for them */
    ns_emulation emulation;
    ns_atomic_u64 changes;     /* searches that were begun or ended */
    ns_atomic_u32 stuck;       /* nobody could find anything: all take what they see */
    ns_thread_worker **worker; /* [workers] */
    int32_t *node;             /* [workers + 1] without a plan */
    uint32_t *nobody;          /* [workers] NS_NO_QUEUE */
    bool detached;             /* tasks are on fibers */
    bool balances;             /* children count their parents' `returned` down: joins continuation and block */
    bool asks_parents;         /* levels begin at who has spawned what a worker executed last */
    bool plain;                /* all queues are lanes: thread_lane.h */
    ns_tick_rate rate;
    bool crowded; /* more workers than CPUs */
    bool team;    /* the run has a root for each worker */
    bool watches, sees_lengths, own_dispatch;
    int64_t push_ps, pop_ps; /* for thresholds */
    uint64_t tasks;          /* of the plan's graph */

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

/* thread_search.c */

/* Memory for what `worker` remembers: 0 or NS_ERROR_MEMORY. */
int ns_thread_search_create(ns_thread_worker *worker);
void ns_thread_search_destroy(ns_thread_worker *worker);

/* The next task that the worker executes, by the strategy; NULL where the wait is over. */
ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait);

/* Put a new task into the queue that the strategy says; false: none has room, it is to be executed at once. */
bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count);

/* threads.c: what operations.h says of pools */

int ns_thread_pool_open(ns_pool **made, const ns_pool_options *options, ns_fields *plan);
void ns_thread_pool_close(ns_pool *self);
int ns_thread_pool_run(ns_pool *self, const ns_work_order *order, bool team);
int ns_thread_pool_report(ns_pool *self, ns_report *told);

/* Something goes wrong in a run, which will end with that error. */
void ns_thread_pool_note(ns_thread_pool *self, int error, const char *sentence);

/* thread_pools.c */

/* All of a pool but its threads: 0 or a negative error code. A pool that is made, even with an error, owns the plan
 * (which may be NULL). */
int ns_thread_pool_make(ns_thread_pool **self, const ns_pool_options *options, ns_fields *plan);
void ns_thread_pool_free(ns_thread_pool *self);

/* What a worker's thread allocates itself, where it runs: 0 or NS_ERROR_MEMORY. */
int ns_thread_worker_settle(ns_thread_worker *worker);

/* thread_execution.c */

/* Execute a task, up to its end, or up to where it leaves this worker. */
void ns_thread_execute(ns_thread_worker *worker, ns_thread_task *task);

/* The running segment accesses memory: where it is pretended to be far, that takes longer. */
void ns_thread_touch(ns_task *self, const ns_access *access);

/* Execute what is ordered at once, as a part of `self`: where memory for a task is short. */
void ns_thread_execute_order(ns_task *self, const ns_work_order *order);

/* Execute tasks until the wait is over. */
void ns_thread_work_until(ns_thread_worker *worker, const ns_thread_wait *wait);

#endif
