/* Looking for work, event by event: rounds of probes, steals, back-off (model 4.1 to 4.4); equal to
 * engine/reference/thief.py.
 *
 * How time passes, what tasks are and who is told of them differs from engine to engine. So whoever includes this
 * defines the functions of the first section; its workers begin with an `ns_worker_state`.
 *
 * A worker that looks for work has an event pending, LOOK or POLL, or waits for a lock of its search. Whoever takes
 * that event off the clock calls `ns_look`, lets the worker decide again, or calls `ns_lock_granted`. Where a function
 * returns true, the worker has something to run or has come to the end of its join.
 */
#ifndef NUMASIM_SEARCH_THIEF_H
#define NUMASIM_SEARCH_THIEF_H

#include "base/inline.h"
#include "policy/backoff.h"
#include "search/probes.h"

/* ---- what whoever includes this defines -------------------------------------------------------------------------- */

/* What the worker sees of the run now. */
static inline ns_view ns_host_view(const ns_search *s);

/* Whether a task of the worker waits for its children, and whether none of those is left. */
static inline bool ns_host_joins(const ns_worker_state *w);
static inline bool ns_host_join_is_over(const ns_search *s, const ns_worker_state *w);

/* Whether the task at one end of queue `q` descends from the one that waits. */
static inline bool ns_host_may_run(const ns_search *s, const ns_worker_state *w, uint32_t q, bool back);

/* Drop copies of claimed tasks among the `most` tasks at one end of queue `q`; how many of these are left. */
static inline int64_t ns_host_sift(ns_search *s, uint32_t q, bool back, int64_t most);

/* Begin that task. */
static inline void ns_host_begin(ns_search *s, ns_worker_state *w, uint32_t q, bool back);

/* Begin the unit that the worker holds in advance; false: it holds none. */
static inline bool ns_host_begin_reserved(ns_search *s, ns_worker_state *w);

/* In join `leapfrog`: the worker that the worker steals from, which waits in it; or NS_UNKNOWN. */
static inline int32_t ns_host_taker(const ns_search *s, const ns_worker_state *w);

/* How many tasks a probe finds; take them: false where nothing to run comes of it. */
static inline int64_t ns_host_amount(ns_search *s, const ns_worker_state *w);
static inline bool ns_host_take(ns_search *s, ns_worker_state *w, bool back, int64_t count);

/* Let the worker go on after `wait_ps`, and what it owes before that; or pay what it owes, with an event PUT. */
static inline void ns_host_wait(ns_search *s, ns_worker_state *w, enum ns_rank rank, int64_t wait_ps);
static inline void ns_host_pay(ns_search *s, ns_worker_state *w);

/* End the run where no worker can ever find a task. */
static inline void ns_host_despair(ns_search *s, ns_worker_state *w);

/* How many tasks of the phase have not finished, and how many the run has executed; whether anything but searches
 * happens; end the run, in which tasks are but passed to and fro. */
static inline int64_t ns_host_unfinished(const ns_search *s);
static inline int64_t ns_host_executed(const ns_search *s);
static inline bool ns_host_is_under_way(ns_search *s);
static inline void ns_host_give_up(ns_search *s, ns_worker_state *w);

/* The worker polls after `wait_ps`: count rounds that it can only fail in after that; the time that they take. */
static inline int64_t ns_host_pass_over(ns_search *s, ns_worker_state *w, int64_t wait_ps);

/* A worker has announced its queue as a victim. */
static inline void ns_host_announced(ns_search *s);

/* The worker's next event is a poll: others may be found out beforehand. */
static inline void ns_host_foresee(ns_search *s, ns_worker_state *w);

/* Whether nobody has a lock of the search; ask for one, and wait for it; let go of one. */
static inline bool ns_host_is_free(ns_search *s, uint32_t lock);
static inline void ns_host_request(ns_search *s, ns_worker_state *w, uint32_t lock);
static inline void ns_host_release(ns_search *s, ns_worker_state *w, uint32_t lock);

/* ---- locks of the search ----------------------------------------------------------------------------------------- */

static inline void ns_release_search_locks(ns_search *s, ns_worker_state *w) {
    for (uint32_t at = 0; at < w->held_count; at++) ns_host_release(s, w, w->held[at]);
    w->held_count = 0;
}

static inline bool ns_holds_lock(const ns_worker_state *w, int32_t lock) {
    for (uint32_t at = 0; at < w->held_count; at++) {
        if ((int32_t)w->held[at] == lock) return true;
    }
    return false;
}

static inline void ns_send_probe(ns_search *s, ns_worker_state *w) {
    const int64_t step_ps = ns_probe_ps(s->plan, w, w->target);
    w->counters.idle_steal_ps += step_ps;
    ns_host_wait(s, w, NS_RANK_LOOK, step_ps);
}

/* Take the locks of the next probe, that of its level first, and send it; let go of those of the last one. */
static inline void ns_pass_locks(ns_search *s, ns_worker_state *w) {
    const int32_t needed[2] = {ns_level_lock(s->plan, w->level, w->target), ns_probe_lock(s->plan, w->target)};
    uint32_t kept = 0;
    for (uint32_t at = 0; at < w->held_count; at++) {
        const uint32_t lock = w->held[at];
        if ((int32_t)lock == needed[0] || (int32_t)lock == needed[1]) {
            w->held[kept++] = lock;
        } else {
            ns_host_release(s, w, lock);
        }
    }
    w->held_count = kept;
    for (uint32_t at = 0; at < 2; at++) {
        if (needed[at] == NS_NO_LOCK || ns_holds_lock(w, needed[at])) continue;
        ns_host_request(s, w, (uint32_t)needed[at]);
        return;
    }
    ns_send_probe(s, w);
}

/* Something was found: pay for it, then let go of the locks. */
static inline bool ns_leave_search(ns_search *s, ns_worker_state *w) {
    if (w->owed_ps) {
        ns_host_pay(s, w);
        return false;
    }
    ns_release_search_locks(s, w);
    return true;
}

/* ---- the own queue ----------------------------------------------------------------------------------------------- */

/* Begin the next own task where the queue holds more than `keep`; below zero: than its threshold s. */
NS_INLINE bool ns_pop_own(ns_search *s, ns_worker_state *w, int64_t keep) {
    if (w->own == NS_UNKNOWN) return false;
    const uint32_t q = (uint32_t)w->own;
    if (s->queues->length[q] <= (keep < 0 ? s->queues->thresholds[q].low : keep)) return false;
    while (s->queues->copies && !ns_host_sift(s, q, w->own_back, 1)) {
        if (s->queues->length[q] <= (keep < 0 ? s->queues->thresholds[q].low : keep)) return false;
    }
    if (s->plan->join == NS_JOIN_STRICT && !ns_host_may_run(s, w, q, w->own_back)) return false;
    if (ns_queues_owner_steps(s->queues, q, NS_OWNER_TAKES) > 0) ns_host_announced(s);
    w->owed_ps += s->plan->costs.pop_ps;
    ns_host_begin(s, w, q, w->own_back);
    return true;
}

static inline void ns_go_idle(ns_search *s, ns_worker_state *w, int64_t now_ps) {
    const bool first_drain = s->plan->threshold_time == NS_THRESHOLDS_FIRST_DRAIN && !w->thresholds_known;
    w->idle = true;
    w->failed = w->failed_remote = 0;
    if (w->own != NS_UNKNOWN) ns_queues_owner_steps(s->queues, (uint32_t)w->own, NS_OWNER_SEARCHES);
    if (first_drain && w->counters.tasks) ns_compute_thresholds(s, w, now_ps);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static inline bool ns_start_round(ns_search *s, ns_worker_state *w);

/* Tell the strategy of the join that the worker waits in. */
static inline void ns_set_out(ns_search *s, const ns_worker_state *w) {
    if (s->plan->join != NS_JOIN_LEAPFROG) return;
    ns_actor *actor = &s->actors[w->id];
    actor->leapfrogs = true;
    actor->leaps = ns_host_joins(w);
    actor->taker = actor->leaps ? ns_host_taker(s, w) : NS_UNKNOWN;
}

/* Poll after a wait that grows; where nothing can be found before some time, the polls until then are passed over. */
static inline bool ns_back_off(ns_search *s, ns_worker_state *w, bool probed) {
    ns_begin_lap(&s->plan->steal, ++w->fails, &w->lap_begin, &s->actors[w->id].victims);
    int64_t wait_ps = ns_backoff_wait_ps(&s->plan->backoff, w->fails, probed);
    w->counters.idle_backoff_ps += wait_ps;
    if (w->fails % NS_PATIENCE_ROUNDS == 0) ns_host_despair(s, w);
    ns_set_out(s, w);
    wait_ps += ns_host_pass_over(s, w, wait_ps);
    if (!wait_ps) return ns_start_round(s, w);
    ns_host_wait(s, w, NS_RANK_POLL, wait_ps);
    ns_host_foresee(s, w);
    return false;
}

/* Nothing was found: what is left in the own queue, else wait and decide again. */
static inline bool ns_end_round(ns_search *s, ns_worker_state *w) {
    ns_release_search_locks(s, w);
    if (ns_host_begin_reserved(s, w) || ns_pop_own(s, w, 0)) return true;
    if (!w->probed) ns_count_empty_rounds(s->plan, w, 1);
    if (w->probed && s->plan->backoff_after_probe) return ns_start_round(s, w); /* each probe has had its wait */
    return ns_back_off(s, w, w->probed);
}

/* Send the next probe of the round. */
static inline bool ns_next_probe(ns_search *s, ns_worker_state *w) {
    const ns_view seen = ns_host_view(s);
    if (w->probes_nobody ||
        !ns_round_next(&w->round, &s->plan->steal, &s->actors[w->id], &seen, &w->level, &w->target)) {
        return ns_end_round(s, w);
    }
    w->probed = true;
    if (s->plan->locks_probes) {
        ns_pass_locks(s, w);
    } else {
        ns_send_probe(s, w);
    }
    return false;
}

/* Begin a round, or go on with the one that the back-off after a probe has interrupted. */
static inline bool ns_start_round(ns_search *s, ns_worker_state *w) {
    if (w->round_goes_on) {
        w->round_goes_on = false;
        return ns_next_probe(s, w);
    }
    if (s->plan->locks_probes && w->owed_ps) {
        ns_host_wait(s, w, NS_RANK_POLL, 0);
        return false;
    }
    w->probed = false;
    w->probes_nobody = ns_joins_by_itself(s->plan) && ns_host_joins(w);
    ns_set_out(s, w);
    ns_round_begin(&w->round);
    return ns_next_probe(s, w);
}

/* ---- steals ------------------------------------------------------------------------------------------------------ */

/* After a fruitless probe. */
static inline bool ns_missed(ns_search *s, ns_worker_state *w) {
    if (ns_host_join_is_over(s, w) || ns_host_begin_reserved(s, w)) return true;
    if (!s->plan->backoff_after_probe) return ns_next_probe(s, w);
    ns_release_search_locks(s, w);
    w->round_goes_on = true;
    return ns_back_off(s, w, true);
}

/* Whether the level of the worker's probe is still open: its gate may have closed since the probe was sent. */
static inline bool ns_is_still_open(const ns_search *s, const ns_worker_state *w) {
    if (!s->plan->counts_live) return true;
    const ns_view seen = ns_host_view(s);
    return ns_passes_gate(&s->plan->steal, &s->plan->steal.level[w->level], (int32_t)w->id, &seen);
}

/* How many tasks the worker's probe takes from the queue as it is now. */
static inline int64_t ns_found(ns_search *s, const ns_worker_state *w) {
    if (!ns_is_still_open(s, w)) return 0;
    int64_t count = ns_host_amount(s, w);
    if (count && s->queues->copies)
        count = ns_host_sift(s, w->target, ns_takes_back(s->plan, w->level, w->target), count);
    if (!count || s->plan->join != NS_JOIN_STRICT) return count;
    return ns_host_may_run(s, w, w->target, ns_takes_back(s->plan, w->level, w->target)) ? count : 0;
}

/* A steal has filled a queue: thieves may pass tasks to and fro for ever, each too few for their new owner. */
static inline void ns_pass_on(ns_search *s, ns_worker_state *w) {
    if (++s->passes % NS_PATIENCE_PASSES) return;
    const int64_t left = ns_host_unfinished(s), executed = ns_host_executed(s);
    const bool stands = left == s->left && executed == s->executed;
    s->left = left;
    s->executed = executed;
    if (stands && !ns_host_is_under_way(s)) ns_host_give_up(s, w);
}

/* A probe takes effect: it takes `count` tasks. */
static inline bool ns_take_effect(ns_search *s, ns_worker_state *w, int64_t count) {
    const ns_full_plan *plan = s->plan;
    const uint32_t q = w->target;
    if (ns_is_attempt(plan, w->level)) {
        ns_count_attempts(&s->counts, plan, w, q, 1, count != 0, count);
        if (!count) ns_count_failed(plan, w, q, 1);
    }
    ns_actor_found(s->actors, &plan->steal, (int32_t)w->id, w->level, q, count);
    if (!(count ? ns_host_take(s, w, ns_takes_back(plan, w->level, q), count) : ns_missed(s, w))) return false;
    if (count && plan->refill != 0) ns_pass_on(s, w);
    return !w->held_count || ns_leave_search(s, w);
}

/* A probe has come to its queue. If it sees tasks there and the queue has a lock of its own, it takes effect once it
 * has that, too; it is fruitless where somebody else has the lock.
 */
static inline bool ns_look(ns_search *s, ns_worker_state *w) {
    const int64_t count = ns_found(s, w);
    const int32_t lock = count && s->plan->locks_search ? ns_take_lock(s->plan, w->target) : NS_NO_LOCK;
    if (lock == NS_NO_LOCK) return ns_take_effect(s, w, count);
    if (!ns_host_is_free(s, (uint32_t)lock)) return ns_take_effect(s, w, 0);
    ns_host_request(s, w, (uint32_t)lock);
    return false;
}

/* The worker has a lock of its search: it sends its probe, or looks again into the queue in which it has seen tasks,
 * since others may have taken them meanwhile.
 */
static inline bool ns_lock_granted(ns_search *s, ns_worker_state *w, uint32_t lock) {
    w->held[w->held_count++] = lock;
    if ((int32_t)lock != ns_take_lock(s->plan, w->target)) {
        ns_pass_locks(s, w);
        return false;
    }
    const int64_t count = ns_found(s, w);
    if (!count) ns_host_release(s, w, w->held[--w->held_count]);
    return ns_take_effect(s, w, count);
}

/* ---- whether a worker can find anything -------------------------------------------------------------------------- */

/* Whether the worker may take the entry at one end of queue `q`, or drop it. */
static inline bool ns_may_take(ns_search *s, const ns_worker_state *w, uint32_t q, bool back) {
    return s->plan->join != NS_JOIN_STRICT || ns_queues_is_claimed(s->queues, q, back) ||
           ns_host_may_run(s, w, q, back);
}

typedef struct {
    ns_search *search;
    const ns_worker_state *worker;
} ns_search_query;

static bool ns_finds(void *query, uint32_t level, uint32_t q) {
    const ns_search_query *self = (const ns_search_query *)query;
    const ns_full_plan *plan = self->search->plan;
    if (!ns_level_amount(&plan->steal.level[level], self->search->queues->length[q])) return false;
    return ns_may_take(self->search, self->worker, q, ns_takes_back(plan, level, q));
}

/* Whether the own queue holds a task that the worker takes at the end of its next round. */
static inline bool ns_has_own_task(ns_search *s, const ns_worker_state *w) {
    if (w->own == NS_UNKNOWN || !s->queues->length[w->own]) return false;
    return ns_may_take(s, w, (uint32_t)w->own, w->own_back);
}

/* Whether some round of the worker, which waits for nothing else, can bring it a task while no queue changes. */
static inline bool ns_can_find(ns_search *s, const ns_worker_state *w) {
    ns_search_query query = {s, w};
    const ns_view seen = ns_host_view(s);
    if (ns_has_own_task(s, w)) return true;
    if (ns_joins_by_itself(s->plan) && ns_host_joins(w)) return false;
    ns_set_out(s, w);
    return ns_any_within_reach(&s->plan->steal, &s->actors[w->id], &seen, ns_finds, &query);
}

#endif
