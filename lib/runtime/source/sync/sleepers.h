/* Who searches for tasks, who sleeps, and who wakes whom: the protocol of workers that find no task (model 4.15).
 * numasim/engine/reference/resting.py defines the rules. A pusher is a worker that puts a task into a queue. A sleeper
 * is a worker that has announced its sleep or sleeps. The census is one word with the numbers of searching workers and
 * of sleepers. A searching worker covers a queue if it can take from the queue: then a pusher need not wake a sleeper.
 *
 * A worker goes to sleep in three steps: announce the sleep, look again for tasks, sleep. From the announcement on,
 * other workers may choose this sleeper to wake it. If it does not sleep yet, and the rule `cancel` allows this, it is
 * called back without a system call.
 *
 * No wake-up is lost: either the pusher sees the announcement, or the sleeper that looks again sees the task. Each
 * first writes (the queue, or the census), then calls ns_fence, and then reads the word that the other writes. So at
 * least one of the two reads the new value of the other. If nobody looks again (`recheck: none`), the pusher needs no
 * fence: the strategy allows that a wake-up is missed, or a timer ends each sleep. With `recheck: last`, only the last
 * searching worker looks again: a pusher that sees a searching worker wakes nobody, and the worker that is last to stop
 * searching finds the task. With `recheck: events` the pusher counts its push, and a sleeper compares the count instead
 * of looking again.
 *
 * If the plan says who can take from which queue, each worker has a word (`doing`) that says what it does, and each
 * worker looks again before it sleeps, also with `last`. A searching worker that can take from a queue only sometimes
 * (NS_REACH_SOMETIMES) may fall asleep although the queue has tasks. So such a worker covers the queue only while no
 * worker that can always take from it (a sure taker) sleeps. */
#pragma once

#include "plan/plan_reader.h"
#include "platform/atomics.h"
#include "sync/numa_locks.h"

/* The states of a worker's sleep. */
enum ns_sleep {
    NS_AWAKE,
    NS_ANNOUNCED, /* the worker has announced its sleep, and does not sleep yet */
    NS_CALLED,    /* the worker was called back before it slept */
    NS_ASLEEP,
    NS_WOKEN /* the worker was woken, and is not awake yet */
};

/* The sleep of one worker. The fields other than `state` are guarded by the lock of all sleepers. */
typedef struct {
    NS_OWN_LINE ns_atomic_u32 state; /* enum ns_sleep; the word of the futex on which the worker sleeps */
    bool timed;                      /* a timer ends the sleep */
    const void *awaits;              /* the task or future whose end the worker waits for, or NULL */
    uint32_t target;                 /* the wait is over after so many ends (of children of the task; future: 1) */
} ns_sleeper;

/* The workers that can take tasks from a queue: reach(context, worker) is NS_REACH_ALWAYS for a sure taker,
 * NS_REACH_SOMETIMES for a worker that can take now. A pointer NULL to this struct: all workers are sure takers. */
typedef struct {
    enum ns_reach (*reach)(void *context, uint32_t worker);
    void *context;
} ns_takers;

typedef struct {
    const ns_idle *rule; /* the plan's rules */
    uint32_t workers;
    ns_sleeper **sleeper; /* [workers] */
    ns_atomic_u32 *doing; /* [workers] at work, searching or a sleeper; used if the plan says who can take */
    NS_OWN_LINE ns_atomic_u64 census; /* low 32 bits: number of searching workers; high 32 bits: number of sleepers */
    NS_OWN_LINE ns_atomic_u64 pushes; /* number of pushes; counted with `recheck: events` while the census is not 0 */
    ns_atomic_u32 waits;              /* number of sleepers that wait for the end of a task or future */
    NS_OWN_LINE ns_mcs lock;          /* guards the list of sleepers */
    uint32_t *order, count;           /* [count] the list of sleepers, in the order of their announcements */
} ns_sleepers;

static inline uint32_t ns_census_searching(uint64_t census) { return (uint32_t)census; }
static inline uint32_t ns_census_sleeping(uint64_t census) { return (uint32_t)(census >> 32); }

/* Make the state of `workers` workers, all awake and none searching. Return 0 or NS_ERROR_MEMORY. */
int ns_sleepers_create(ns_sleepers **made, const ns_idle *rule, uint32_t workers);
void ns_sleepers_destroy(ns_sleepers *self);

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Count the worker as searching, unless the plan's cap on searching workers is reached. `busy` is the number of workers
 * at work, if the cap depends on it. Return whether the worker searches. */
bool ns_sleepers_try_search(ns_sleepers *self, uint32_t worker, uint32_t busy);

/* Count the worker as searching. If `takes_any` is false, the worker may take only some tasks: then it covers no queue,
 * if the plan says who can take. */
void ns_sleepers_search(ns_sleepers *self, uint32_t worker, bool takes_any);

/* Note that the worker stops searching, since it has found a task or its wait is over. Return the new census. */
uint64_t ns_sleepers_stop_searching(ns_sleepers *self, uint32_t worker);

static inline uint32_t ns_sleepers_searching(const ns_sleepers *self) {
    return ns_census_searching(ns_atomic_u64_load(&self->census, memory_order_relaxed)); /* relaxed: a recent number */
}

/* Return the least reach with which a searching worker covers the queue with these takers: NS_REACH_ALWAYS if a sure
 * taker sleeps, else NS_REACH_SOMETIMES. */
enum ns_reach ns_sleepers_cover_by(const ns_sleepers *self, const ns_takers *takers);

/* Return whether no searching worker covers the queue with these takers. */
bool ns_sleepers_is_uncovered(const ns_sleepers *self, const ns_takers *takers);

/* Return whether the worker is a sleeper that nobody has woken. */
static inline bool ns_sleepers_has(const ns_sleepers *self, uint32_t worker) {
    /* relaxed: a thief that reads an old state leaves out a queue, or probes a queue in vain */
    const uint32_t state = ns_atomic_u32_load(&self->sleeper[worker]->state, memory_order_relaxed);
    return state == NS_ANNOUNCED || state == NS_ASLEEP;
}

/* Return whether some worker, whatever it does, is a sure taker. */
bool ns_sleepers_somebody_is_sure(const ns_sleepers *self, const ns_takers *takers);

/* ---- falling asleep ---------------------------------------------------------------------------------------------- */

/* Return the count of pushes so far. */
static inline uint64_t ns_sleepers_pushes(const ns_sleepers *self) {
    /* seq_cst: the count is read before the queues are read */
    return ns_atomic_u64_load(&self->pushes, memory_order_seq_cst);
}

/* A worker that goes to sleep. */
typedef struct {
    uint32_t worker;
    bool searched;                /* the worker was searching, and stops now */
    uint64_t pushes;              /* with `recheck: events`, if `searched`: the count of pushes before its last round */
    const void *awaited;          /* `awaits` of the sleeper, */
    uint32_t target;              /* and its `target` */
    bool (*finds)(void *context); /* looks again: returns whether there is a task that the worker can take */
    bool (*is_over)(void *context); /* returns whether the worker must not sleep, because its wait is over */
    void *context;
} ns_sleep_order;

/* Announce the sleep of an awake worker, and look again for tasks if the rule `recheck` says so. Return NS_ANNOUNCED if
 * the worker may fall asleep now. Else the worker is awake: return NS_AWAKE if it may have found a task or must not
 * sleep, or NS_CALLED or NS_WOKEN if it was woken. */
enum ns_sleep ns_sleepers_lie_down(ns_sleepers *self, const ns_sleep_order *order);

/* Let the announced sleep begin. `timed`: a timer will end the sleep. Return NS_ASLEEP; or, if the worker was chosen to
 * be woken before, and so is awake, NS_CALLED or NS_WOKEN. */
enum ns_sleep ns_sleepers_fall_asleep(ns_sleepers *self, uint32_t worker, bool timed);

/* Sleep until the worker is woken, and for at most `ps` picoseconds if `ps` is not 0. Return NS_WOKEN; or NS_AWAKE if
 * the timer has ended the sleep. */
enum ns_sleep ns_sleepers_sleep(ns_sleepers *self, uint32_t worker, int64_t ps);

/* Return how many workers sleep without a timer and were not chosen to be woken. */
uint32_t ns_sleepers_asleep(ns_sleepers *self);

/* ---- waking ------------------------------------------------------------------------------------------------------ */

/* Note a push into a queue with these takers; `held`: the queue had tasks before. Return whether the rules ask to wake
 * a sleeper: then the caller calls ns_sleepers_wake. */
bool ns_sleepers_pushed(ns_sleepers *self, const ns_takers *takers, bool held);

/* Wake `count` sleepers among the takers, sure takers first; or all of them if the rule `whom` says so. */
void ns_sleepers_wake(ns_sleepers *self, const ns_takers *takers, int64_t count);

/* Wake the sleepers that wait for `count` ends of `awaited`, after so many ends. `awaited` may be freed by now. */
void ns_sleepers_ended(ns_sleepers *self, const void *awaited, uint32_t count);

/* Wake all sleepers. */
void ns_sleepers_wake_all(ns_sleepers *self);
