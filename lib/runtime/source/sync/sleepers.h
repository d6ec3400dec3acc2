/* Who searches for tasks, who sleeps, and who wakes whom: the protocol of workers that find no task (model 4.15).
 * numasim/engine/reference/resting.py defines the rules.
 *
 * A worker goes to sleep in three steps: announce the sleep, look again for tasks, sleep. From the announcement on,
 * other workers may choose the worker as the sleeper to wake. A worker that was chosen before it sleeps is called back
 * without a system call, if the rule `cancel` allows this.
 *
 * No wake-up is lost: either the worker that pushes a task sees the announcement, or the worker that looks again sees
 * the task. Each first writes (the queue, or the census), then calls ns_fence, and then reads the word that the other
 * worker writes. So at least one of the two reads the new value of the other. If nobody looks again (`recheck: none`),
 * the pushing worker needs no fence: the strategy allows that a wake-up is missed, or a timer ends each sleep.
 *
 * If only the last searching worker looks again (`recheck: last`), a pushing worker that sees a searching worker relies
 * on the worker that is last to stop searching, which looks again and finds the task. With `recheck: events` the
 * pushing worker counts its push, and a worker that goes to sleep compares the count instead of looking again.
 *
 * If the plan says who can take from each queue, each worker has a word (`doing`) that says what the worker does, and
 * each worker looks again before it sleeps, also with `last`. A searching worker that can take from a queue only
 * sometimes (NS_REACH_SOMETIMES) may fall asleep although the queue has tasks. So the pushing worker relies on such a
 * worker only while no worker sleeps that can always take from the queue. */
#pragma once

#include "plan/plan_reader.h"
#include "platform/atomics.h"
#include "sync/numa_locks.h"

/* The states of a worker's sleep. */
enum ns_sleep {
    NS_AWAKE,
    NS_ANNOUNCED, /* the worker looks again, and may be woken */
    NS_CALLED,    /* the worker was called back before it slept */
    NS_ASLEEP,
    NS_WOKEN /* the worker was woken */
};

/* The sleep of one worker. The fields other than `state` are guarded by the lock of all sleepers. */
typedef struct {
    NS_OWN_LINE ns_atomic_u32 state; /* enum ns_sleep; the word on which the worker sleeps */
    bool timed;                      /* the sleep ends by itself */
    const void *awaits;              /* the task or future that the worker waits for, or NULL */
    uint32_t target;                 /* the count of `awaits` that ends the wait */
} ns_sleeper;

/* The workers that can take tasks from a queue: always (sure takers), or now (SOMETIMES). NULL: all are sure takers. */
typedef struct {
    enum ns_reach (*reach)(void *context, uint32_t worker);
    void *context;
} ns_takers;

typedef struct {
    const ns_idle *rule;
    uint32_t workers;
    ns_sleeper **sleeper;             /* [workers] */
    ns_atomic_u32 *doing;             /* [workers] what the worker does, if not all can always take from all queues */
    NS_OWN_LINE ns_atomic_u64 census; /* number of searching workers (low 32 bits) and of sleepers in `order` */
    NS_OWN_LINE ns_atomic_u64 pushes; /* counted under the rule `recheck: events` while workers search or sleep */
    ns_atomic_u32 waits;              /* sleepers that wait for a task or a future to end */
    NS_OWN_LINE ns_mcs lock;          /* guards `order` */
    uint32_t *order, count;           /* [count] announced or asleep, in the order of their announcements */
} ns_sleepers;

static inline uint32_t ns_census_searching(uint64_t census) { return (uint32_t)census; }
static inline uint32_t ns_census_sleeping(uint64_t census) { return (uint32_t)(census >> 32); }

/* Make the state of `workers` workers, all awake and none searching. Return 0 or NS_ERROR_MEMORY. */
int ns_sleepers_create(ns_sleepers **made, const ns_idle *rule, uint32_t workers);
void ns_sleepers_destroy(ns_sleepers *self);

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Count the worker as searching, if the plan's cap on searching workers allows one more while `busy` workers are at
 * work. Return whether the worker searches. */
bool ns_sleepers_try_search(ns_sleepers *self, uint32_t worker, uint32_t busy);

/* Count the worker as searching. If the worker `takes_any` task, pushing workers may rely on this worker instead of
 * waking a sleeper. */
void ns_sleepers_search(ns_sleepers *self, uint32_t worker, bool takes_any);

/* The worker stops searching: it has found a task, or its wait is over. Return the new census. */
uint64_t ns_sleepers_stop_searching(ns_sleepers *self, uint32_t worker);

static inline uint32_t ns_sleepers_searching(const ns_sleepers *self) {
    return ns_census_searching(ns_atomic_u64_load(&self->census, memory_order_relaxed)); /* relaxed: a recent number */
}

/* Return the reach from which a searching worker covers a queue: ALWAYS if a sure taker sleeps, else SOMETIMES. */
enum ns_reach ns_sleepers_cover_by(const ns_sleepers *self, const ns_takers *takers);

/* Return whether no searching worker covers the queue with these takers (ns_sleepers_cover_by). */
bool ns_sleepers_is_uncovered(const ns_sleepers *self, const ns_takers *takers);

/* Return whether the worker has announced its sleep or sleeps, and nobody has woken it since. */
static inline bool ns_sleepers_has(const ns_sleepers *self, uint32_t worker) {
    /* relaxed: a thief that reads an old state leaves out a queue, or probes a queue in vain */
    const uint32_t state = ns_atomic_u32_load(&self->sleeper[worker]->state, memory_order_relaxed);
    return state == NS_ANNOUNCED || state == NS_ASLEEP;
}

/* Return whether one of the takers is sure. */
bool ns_sleepers_somebody_is_sure(const ns_sleepers *self, const ns_takers *takers);

/* ---- falling asleep ---------------------------------------------------------------------------------------------- */

/* Return the count of pushes. A worker that goes to sleep compares this count with the later count. */
static inline uint64_t ns_sleepers_pushes(const ns_sleepers *self) {
    /* seq_cst: the count is read before the queues are read */
    return ns_atomic_u64_load(&self->pushes, memory_order_seq_cst);
}

/* A worker that goes to sleep. */
typedef struct {
    uint32_t worker;
    bool searched;       /* the worker was searching, and stops now */
    uint64_t pushes;     /* with `recheck: events`, if `searched`: the count before its last round */
    const void *awaited; /* the sleep also ends when the count of this comes to `target`; or NULL */
    uint32_t target;
    bool (*finds)(void *context);   /* look again: whether there is a task that the worker can take */
    bool (*is_over)(void *context); /* whether the worker must not sleep, whatever tasks there are */
    void *context;
} ns_sleep_order;

/* Announce the sleep of an awake worker, and look again for tasks if the rule `recheck` says so. Return NS_ANNOUNCED if
 * the worker may fall asleep now. Else the worker is awake: return NS_AWAKE if it may have found a task or must not
 * sleep, or NS_CALLED or NS_WOKEN if it was woken. */
enum ns_sleep ns_sleepers_lie_down(ns_sleepers *self, const ns_sleep_order *order);

/* Begin the sleep that was announced. `timed`: the sleep ends by itself. Return NS_ASLEEP; or, if the worker was woken
 * before and stays awake, NS_CALLED or NS_WOKEN. */
enum ns_sleep ns_sleepers_fall_asleep(ns_sleepers *self, uint32_t worker, bool timed);

/* Sleep for at most `ps` picoseconds, if this is not 0. Return NS_WOKEN, or NS_AWAKE if the sleep has ended by itself.
 * The worker is awake then. */
enum ns_sleep ns_sleepers_sleep(ns_sleepers *self, uint32_t worker, int64_t ps);

/* Return how many workers sleep without a timer. Workers that are being woken do not count. */
uint32_t ns_sleepers_asleep(ns_sleepers *self);

/* ---- waking ------------------------------------------------------------------------------------------------------ */

/* A task has been pushed into a queue with these takers, which had tasks before if `held`. Return whether a sleeper is
 * to be woken: then the caller calls ns_sleepers_wake. */
bool ns_sleepers_pushed(ns_sleepers *self, const ns_takers *takers, bool held);

/* Wake `count` sleeping takers, sure takers first; or all sleeping takers if the rule says so. */
void ns_sleepers_wake(ns_sleepers *self, const ns_takers *takers, int64_t count);

/* The count of `awaited` has come to `count`: wake the sleepers whose wait is over. `awaited` may be freed by now. */
void ns_sleepers_ended(ns_sleepers *self, const void *awaited, uint32_t count);

/* Wake all sleepers. */
void ns_sleepers_wake_all(ns_sleepers *self);
