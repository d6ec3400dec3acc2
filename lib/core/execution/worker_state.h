/* The state of a worker, the costs and counts of the worker's operations, and the rules that say where roots and
 * spawned tasks go (model 4.1, 4.2 and 6.2; engine/reference/tables.py and thief.py). */
#pragma once

#include "generated/counters.h"
#include "policy/round.h"

/* The part of a worker's state that the engine and the runtime have in common: the head of their records of a worker.
 * Below, "it" is the worker. */
typedef struct {
    int64_t owed_ps; /* overhead to be paid with the next timed step, including owed_owner_ps and owed_thief_ps */
    int64_t owed_owner_ps, owed_thief_ps; /* waits for lines at its pushes, pops, joins; at its probes, takes */
    int64_t paid_owner_ps, paid_thief_ps; /* the waits for cache lines that the last payment has paid */
    bool owes_lines;                      /* it has ever owed waits for cache lines */
    uint32_t id;
    int32_t node;
    int32_t own;     /* its own queue, or NS_UNKNOWN */
    bool own_back;   /* it takes from the back of its own queue */
    bool overflowed; /* its own queue has been full: it executes its spawns at once */
    /* its place in its search */
    bool idle, probed, round_goes_on, probes_nobody, thresholds_known;
    uint32_t level, target; /* of its probe */
    int64_t fails;          /* fruitless rounds (or probes) in a row */
    uint64_t lap_begin;     /* victims drawn until the end of its first fruitless round: `ns_begin_lap` */
    /* if the spawn order adapts: whether it begins spawned children, spawns since the last decision about this, tasks
     * stolen from it until that decision */
    bool goes_first;
    int64_t spawns, robbed_before;
    int64_t failed, failed_remote; /* failed attempts to steal of its present idle episode */
    uint32_t held[2], held_count;  /* the locks that its search holds */
    ns_counters counters;
    ns_round round;
} ns_worker_state;

/* Set `self`, a record of zeros, to the state of a worker at the start of a run. */
static inline void ns_worker_start(ns_worker_state *self, const ns_full_plan *plan, uint32_t id) {
    const uint32_t own = plan->steal.own[id];
    self->id = id;
    self->node = plan->node.at[id];
    self->own = own == NS_NO_QUEUE ? NS_UNKNOWN : (int32_t)own;
    self->goes_first = plan->adaptive.work_first;
    self->own_back = own != NS_NO_QUEUE && plan->steal.queues[own].own_end != 0;
}

/* The overhead that the worker pays includes waits for cache lines. Count these waits in their own columns instead. */
static inline void ns_pay_lines(ns_worker_state *w) {
    w->paid_owner_ps = w->owed_owner_ps;
    w->paid_thief_ps = w->owed_thief_ps;
    w->owed_owner_ps = w->owed_thief_ps = 0;
    w->counters.overhead_ps -= w->paid_owner_ps + w->paid_thief_ps;
    w->counters.line_owner_ps += w->paid_owner_ps;
    w->counters.line_thief_ps += w->paid_thief_ps;
}

/* Let the worker pay the overhead that it owes. Returns the time that the worker spends on the payment. */
static inline int64_t ns_pay_owed(ns_worker_state *w) {
    const int64_t owed_ps = w->owed_ps;
    if (!owed_ps) return 0;
    w->owed_ps = 0;
    w->counters.overhead_ps += owed_ps;
    if (w->owes_lines) ns_pay_lines(w);
    return owed_ps;
}

/* Count work that takes `total_ps`, and would take `local_ps` if all its bytes were local (model 6.4). */
static inline void ns_count_work(ns_counters *self, int64_t total_ps, int64_t local_ps) {
    self->work_local_ps += local_ps;
    self->inflation_numa_ps += total_ps - local_ps;
}

/* With at most NS_LAP_QUEUES queues, a search repeats its victims after a lap of NS_LAP_ROUNDS fruitless rounds. */
enum { NS_LAP_ROUNDS = 65536, NS_LAP_QUEUES = 2048 };

/* How many steals were tried and how many succeeded: [nodes][nodes], by node of the thief and by node of the queue. */
typedef struct {
    int64_t *attempts, *successes;
} ns_steal_counts;

/* ---- costs ------------------------------------------------------------------------------------------------------- */

static inline bool ns_is_remote(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    const int32_t home = plan->steal.queues[q].home;
    return home >= 0 && home != w->node;
}

/* Time to move a cache line from the core of worker `from` to worker `w`; 0 unless operations pay this latency. */
static inline int64_t ns_line_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t from) {
    return plan->costs.line == NS_LINES_LATENCY ? plan->line_ps.at[(uint64_t)w->id * plan->workers + from] : 0;
}

static inline int64_t ns_queue_line_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    return ns_line_ps(plan, w, (uint32_t)plan->steal.queues[q].owner);
}

/* Time from sending a probe of queue `q` until it takes effect. */
static inline int64_t ns_probe_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    const ns_operation_costs *costs = &plan->costs;
    const int64_t step_ps = ns_is_remote(plan, w, q) ? costs->probe_far_ps : costs->probe_near_ps;
    const int64_t probe_ps = step_ps + ns_queue_line_ps(plan, w, q);
    return probe_ps > costs->least_probe_ps ? probe_ps : costs->least_probe_ps;
}

/* Overhead of taking the first task of queue `q`. */
static inline int64_t ns_take_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t q) {
    return plan->costs.take_ps + ns_queue_line_ps(plan, w, q);
}

/* ---- ends of queues ---------------------------------------------------------------------------------------------- */

/* Whether probes of a level count as attempts to steal. */
static inline bool ns_is_attempt(const ns_full_plan *plan, uint32_t level) {
    return (plan->steal.level[level].flags & NS_FLAG_ATTEMPT) != 0;
}

/* Whether probes of a level take from the back of queue `q`. */
static inline bool ns_takes_back(const ns_full_plan *plan, uint32_t level, uint32_t q) {
    const ns_queue *queue = &plan->steal.queues[q];
    return (ns_is_attempt(plan, level) ? queue->steal_end : queue->own_end) != 0;
}

/* Whether a worker that waits in a nested join searches only its own queue. */
static inline bool ns_joins_by_itself(const ns_full_plan *plan) {
    if (plan->join == NS_JOIN_OWN) return true;
    return plan->join == NS_JOIN_LEAPFROG && !ns_plan_has_anchor(&plan->steal, NS_ANCHOR_THIEF);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

enum { NS_NO_LOCK = -1 };

/* ns_level_lock: the lock under which a level probes queue `q`. ns_queue_lock: that of queue `q` (none if `q` < 0). */
static inline int32_t ns_level_lock(const ns_full_plan *plan, uint32_t level, uint32_t q) {
    const ns_i32s locks = plan->words.level_lock;
    return locks.count ? locks.at[(uint64_t)level * plan->steal.queue_count + q] : NS_NO_LOCK;
}
static inline int32_t ns_queue_lock(const ns_full_plan *plan, int32_t q) {
    return q >= 0 && plan->words.queue_lock.count ? plan->words.queue_lock.at[q] : NS_NO_LOCK;
}

/* ns_probe_lock: the lock that a probe needs to look into queue `q`. ns_take_lock: the lock that a probe needs in
 * addition to take tasks from queue `q`. */
static inline int32_t ns_probe_lock(const ns_full_plan *plan, uint32_t q) {
    return plan->words.looks_first ? NS_NO_LOCK : ns_queue_lock(plan, (int32_t)q);
}
static inline int32_t ns_take_lock(const ns_full_plan *plan, uint32_t q) {
    return plan->words.looks_first ? ns_queue_lock(plan, (int32_t)q) : NS_NO_LOCK;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Count `attempts` attempts to steal from queue `q`, of which `successes` brought `tasks` tasks in all. */
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

/* Count failed attempts to steal from queue `q` in the present idle episode. */
static inline void ns_count_failed(const ns_full_plan *plan, ns_worker_state *w, uint32_t q, int64_t attempts) {
    w->failed += attempts;
    w->failed_remote += ns_is_remote(plan, w, q) ? attempts : 0;
}

/* Whether searches have laps. They have none if a lap may miss a queue, or a level that is entered by chance. */
static inline bool ns_has_laps(const ns_plan *steal) {
    return steal->chances == 0 && steal->queue_count <= NS_LAP_QUEUES;
}

/* The worker has made `fails` fruitless rounds in a row. A lap begins after the first such round and then after every
 * NS_LAP_ROUNDS rounds. In each lap the worker draws the same victims: `victims` is set back to `*begin`, the number of
 * victims drawn before the first lap. */
static inline void ns_begin_lap(const ns_plan *steal, int64_t fails, uint64_t *begin, ns_stream *victims) {
    if (fails % NS_LAP_ROUNDS != 1 || !ns_has_laps(steal)) return;
    if (fails == 1)
        *begin = victims->drawn;
    else
        victims->drawn = *begin;
}

/* Count `rounds` rounds in which the worker found no queue to probe. */
static inline void ns_count_empty_rounds(const ns_full_plan *plan, ns_worker_state *w, int64_t rounds) {
    const int64_t attempts = plan->backoff_counts_empty ? rounds : 0;
    w->counters.no_victim += rounds;
    w->counters.steal_attempts += attempts;
    w->failed += attempts;
}

/* ---- roots, tiers and spawn order (model 3.1, 3.6, 4.5 and 4.14) ------------------------------------------------- */

/* How the roots of a phase are dealt. In a serial phase all roots go to worker 0, which works alone. */
static inline enum ns_deal ns_deal_of(const ns_phase *phase) { return phase->serial ? NS_DEAL_MASTER : phase->deal; }

/* Whether the worker begins a dealt root at once, so that the root is in no queue and cannot be stolen: an implicit
 * body, or a root of a serial phase. */
static inline bool ns_begins_root(bool serial, uint8_t kind) { return serial || kind == NS_ROW_IMPLICIT; }

/* ns_tier_of: the tier in force of a row's task. ns_label_of: the unit in the task's label, or NS_UNKNOWN. */
static inline uint32_t ns_tier_of(const ns_control *control, uint32_t row) {
    return control->tier.count ? control->tier.at[row] : (uint32_t)NS_TIER_LOCAL;
}
static inline int32_t ns_label_of(const ns_control *control, uint32_t row) {
    return control->label.count ? control->label.at[row] : NS_UNKNOWN;
}

/* If the spawn order adapts: whether the worker begins the child that it spawns now (and not the rest of the spawning
 * task). The spawning task is `depth` calls deep on the worker's stack. */
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
