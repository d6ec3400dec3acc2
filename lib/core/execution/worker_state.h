/* The state of a worker, with the costs and counts of its operations (model 4.1, 4.2 and 6.2;
 * engine/reference/tables.py and thief.py). A search is a worker's time without a task; it has rounds of probes, and a
 * probe looks into one queue (policy/round.h). An overhead is owed from the operation that causes it until the worker
 * next spends time, and then paid. With at most NS_LAP_QUEUES queues, a long search repeats itself: after each lap of
 * NS_LAP_ROUNDS rounds without a task the worker draws the same queues again. */
#pragma once

#include "generated/counters.h"
#include "policy/round.h"

/* The part of a worker's state that simulator and runtime share. */
typedef struct {
    int64_t owed_ps;                      /* overhead to be paid, including owed_owner_ps and owed_thief_ps */
    int64_t owed_owner_ps, owed_thief_ps; /* waits for cache lines, in pushes, pops and joins; in probes and takes */
    int64_t paid_owner_ps, paid_thief_ps; /* the same waits, as far as the last payment has paid them */
    bool owes_lines;                      /* the worker has ever owed waits for cache lines */
    uint32_t id;
    int32_t node;
    int32_t own;     /* the worker's own queue, or NS_UNKNOWN */
    bool own_back;   /* the worker takes tasks from the back of its own queue */
    bool overflowed; /* the own queue has been full: the worker executes its spawned tasks at once */
    /* state of the worker's search */
    bool idle, probed, round_goes_on, probes_nobody, thresholds_known;
    uint32_t level, target;        /* the level and the queue of the present probe */
    int64_t fails;                 /* rounds in a row without a task (or probes, if each probe is followed by a wait) */
    uint64_t lap_begin;            /* random numbers drawn before the first lap of this search: `ns_begin_lap` */
    bool goes_first;               /* if the spawn order adapts: the worker begins spawned children at once */
    int64_t spawns, robbed_before; /* spawns since the last decision on this; tasks stolen from the worker before it */
    int64_t failed, failed_remote; /* failed attempts to steal in this search; of these, on other nodes */
    uint32_t held[2], held_count;  /* the locks that the search holds */
    ns_counters counters;
    ns_round round;
} ns_worker_state;

/* Initialise `self`, a record of zeros, for worker `id` at the start of a run. */
static inline void ns_worker_start(ns_worker_state *self, const ns_full_plan *plan, uint32_t id) {
    const uint32_t own = plan->steal.own[id];
    self->id = id;
    self->node = plan->node.at[id];
    self->own = own == NS_NO_QUEUE ? NS_UNKNOWN : (int32_t)own;
    self->goes_first = plan->adaptive.work_first;
    self->own_back = own != NS_NO_QUEUE && plan->steal.queues[own].own_end != 0;
}

/* Move the owed waits for cache lines, which are paid now, from the counter of overhead to their own counters. */
static inline void ns_pay_lines(ns_worker_state *w) {
    w->paid_owner_ps = w->owed_owner_ps;
    w->paid_thief_ps = w->owed_thief_ps;
    w->owed_owner_ps = w->owed_thief_ps = 0;
    w->counters.overhead_ps -= w->paid_owner_ps + w->paid_thief_ps;
    w->counters.line_owner_ps += w->paid_owner_ps;
    w->counters.line_thief_ps += w->paid_thief_ps;
}

/* Let the worker pay all overhead that the worker owes. Returns the time for this, in ps. */
static inline int64_t ns_pay_owed(ns_worker_state *w) {
    const int64_t owed_ps = w->owed_ps;
    if (!owed_ps) return 0;
    w->owed_ps = 0;
    w->counters.overhead_ps += owed_ps;
    if (w->owes_lines) ns_pay_lines(w);
    return owed_ps;
}

/* Count work that takes `total_ps`; the work would take `local_ps` with all bytes on the worker's node (model 6.4). */
static inline void ns_count_work(ns_counters *self, int64_t total_ps, int64_t local_ps) {
    self->work_local_ps += local_ps;
    self->inflation_numa_ps += total_ps - local_ps;
}

enum { NS_LAP_ROUNDS = 65536, NS_LAP_QUEUES = 2048 };

/* [nodes][nodes] numbers of attempts to steal and of successes, by node of the thief and node of the queue. */
typedef struct {
    int64_t *attempts, *successes;
} ns_steal_counts;

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* Return whether queue `q` lies on another node than the worker. */
static inline bool ns_is_remote(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    const int32_t home = plan->steal.queues[q].home;
    return home >= 0 && home != w->node;
}

/* Return the time to move a cache line from the core of worker `from` to worker `w`; 0 unless the plan adds this
 * latency to operations on queues (costs.line). */
static inline int64_t ns_line_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t from) {
    return plan->costs.line == NS_LINES_LATENCY ? plan->line_ps.at[(uint64_t)w->id * plan->workers + from] : 0;
}

static inline int64_t ns_queue_line_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    return ns_line_ps(plan, w, (uint32_t)plan->steal.queues[q].owner);
}

/* Return the time from the begin of a probe of queue `q` until the probe reads the queue. */
static inline int64_t ns_probe_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    const ns_operation_costs *costs = &plan->costs;
    const int64_t step_ps = ns_is_remote(plan, w, q) ? costs->probe_far_ps : costs->probe_near_ps;
    const int64_t probe_ps = step_ps + ns_queue_line_ps(plan, w, q);
    return probe_ps > costs->least_probe_ps ? probe_ps : costs->least_probe_ps;
}

/* Return the overhead of taking a first task from queue `q` after a probe. */
static inline int64_t ns_take_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    return plan->costs.take_ps + ns_queue_line_ps(plan, w, q);
}

/* ---- ends of queues ---------------------------------------------------------------------------------------------- */

/* Return whether probes by a level count as attempts to steal. */
static inline bool ns_is_attempt(const ns_full_plan *plan, uint32_t level) {
    return (plan->steal.level[level].flags & NS_FLAG_ATTEMPT) != 0;
}

/* Return whether probes by a level take from the back of queue `q`. */
static inline bool ns_takes_back(const ns_full_plan *plan, uint32_t level, uint32_t q) {
    const ns_queue *queue = &plan->steal.queues[q];
    return (ns_is_attempt(plan, level) ? queue->steal_end : queue->own_end) != 0;
}

/* Return whether a worker that waits in a join takes tasks only from its own queue: by the join rule `own`, or by
 * `leapfrog` if no steal level leads to the worker that has the awaited task (anchor thief). */
static inline bool ns_joins_by_itself(const ns_full_plan *plan) {
    if (plan->join == NS_JOIN_OWN) return true;
    return plan->join == NS_JOIN_LEAPFROG && !ns_plan_has_anchor(&plan->steal, NS_ANCHOR_THIEF);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

enum { NS_NO_LOCK = -1 };

/* ns_level_lock returns the lock that a probe of queue `q` by a level needs; ns_queue_lock returns the lock of queue
 * `q` itself (none if `q` < 0). Without such a lock both return NS_NO_LOCK. */
static inline int32_t ns_level_lock(const ns_full_plan *plan, uint32_t level, uint32_t q) {
    const ns_i32s locks = plan->words.level_lock;
    return locks.count ? locks.at[(uint64_t)level * plan->steal.queue_count + q] : NS_NO_LOCK;
}
static inline int32_t ns_queue_lock(const ns_full_plan *plan, int32_t q) {
    return q >= 0 && plan->words.queue_lock.count ? plan->words.queue_lock.at[q] : NS_NO_LOCK;
}

/* The lock of queue `q` is needed already to look into the queue (ns_probe_lock), or, if the plan's probes look first,
 * only to take tasks (ns_take_lock). The other function returns NS_NO_LOCK. */
static inline int32_t ns_probe_lock(const ns_full_plan *plan, uint32_t q) {
    return plan->words.looks_first ? NS_NO_LOCK : ns_queue_lock(plan, (int32_t)q);
}
static inline int32_t ns_take_lock(const ns_full_plan *plan, uint32_t q) {
    return plan->words.looks_first ? ns_queue_lock(plan, (int32_t)q) : NS_NO_LOCK;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Count `attempts` attempts to steal from queue `q`. `successes` of them succeeded, and took `tasks` tasks in all. */
static inline void ns_count_attempts(const ns_steal_counts *self, const ns_full_plan *plan, ns_worker_state *w,
                                     uint32_t q, int64_t attempts, int64_t successes, int64_t tasks) {
    const bool remote = ns_is_remote(plan, w, q);
    const int32_t home = remote ? plan->steal.queues[q].home : w->node;
    const uint64_t pair = (uint64_t)w->node * plan->nodes + (uint64_t)home;
    self->attempts[pair] += attempts;
    self->successes[pair] += successes;
    w->counters.steal_attempts += attempts;
    w->counters.steal_success += successes;
    w->counters.steal_attempts_remote += remote ? attempts : 0;
    w->counters.steal_success_remote += remote ? successes : 0;
    w->counters.tasks_stolen += tasks;
}

/* Count failed attempts to steal from queue `q` in the present search. */
static inline void ns_count_failed(const ns_full_plan *plan, ns_worker_state *w, uint32_t q, int64_t attempts) {
    w->failed += attempts;
    w->failed_remote += ns_is_remote(plan, w, q) ? attempts : 0;
}

/* Return whether searches have laps. They have none if a lap of rounds may miss a queue, because there are too many, or
 * a level, because the level is entered by chance. */
static inline bool ns_has_laps(const ns_plan *steal) {
    return steal->chances == 0 && steal->queue_count <= NS_LAP_QUEUES;
}

/* Begin a lap if one is due: after the first round without a task, and then after every NS_LAP_ROUNDS such rounds.
 * `fails` counts these rounds. At the first lap `*begin` is set to the count of numbers drawn from `victims`; at later
 * laps the stream is set back to this count. */
static inline void ns_begin_lap(const ns_plan *steal, int64_t fails, uint64_t *begin, ns_stream *victims) {
    if (fails % NS_LAP_ROUNDS != 1 || !ns_has_laps(steal)) return;
    if (fails == 1)
        *begin = victims->drawn;
    else
        victims->drawn = *begin;
}

/* Count `rounds` rounds without a queue to probe; also as attempts to steal, if the plan says so. */
static inline void ns_count_empty_rounds(const ns_full_plan *plan, ns_worker_state *w, int64_t rounds) {
    const int64_t attempts = plan->backoff_counts_empty ? rounds : 0;
    w->counters.no_victim += rounds;
    w->counters.steal_attempts += attempts;
    w->failed += attempts;
}

/* ---- roots, tiers and spawn order (model 3.1, 3.6, 4.5 and 4.14) ------------------------------------------------- */

/* Return how the roots (first tasks) of a phase are shared out among workers. In a serial phase all go to worker 0. */
static inline enum ns_deal ns_deal_of(const ns_phase *phase) { return phase->serial ? NS_DEAL_MASTER : phase->deal; }

/* Return whether a worker begins the roots that it gets itself, so that they are in no queue and cannot be stolen: in a
 * serial phase, and if the root is an implicit task of OpenMP. */
static inline bool ns_begins_root(bool serial, uint8_t kind) { return serial || kind == NS_ROW_IMPLICIT; }

/* Return the tier of the task in row `row` of the graph (NS_TIER_LOCAL if the strategy sets no tiers), and the unit
 * (set of workers) for which the task is meant, or NS_UNKNOWN. */
static inline uint32_t ns_tier_of(const ns_control *control, uint32_t row) {
    return control->tier.count ? control->tier.at[row] : (uint32_t)NS_TIER_LOCAL;
}
static inline int32_t ns_label_of(const ns_control *control, uint32_t row) {
    return control->label.count ? control->label.at[row] : NS_UNKNOWN;
}

/* Return, for a plan whose spawn order adapts, whether the worker goes on with the child that it spawns now, and not
 * with the spawning task. After every `every` spawns the worker decides for children if fewer than `steals`
 * tasks were stolen from it since the last decision. A worker whose stack has `stack` or more calls never goes on with
 * a child. */
static inline bool ns_adapts_to_child(const ns_full_plan *plan, const ns_actor *actor, ns_worker_state *w,
                                      int64_t depth) {
    const ns_adaptive *rule = &plan->adaptive;
    if (++w->spawns == rule->every) {
        w->goes_first = actor->robbed - w->robbed_before < rule->steals;
        w->robbed_before = actor->robbed;
        w->spawns = 0;
    }
    return w->goes_first && depth < rule->stack;
}
