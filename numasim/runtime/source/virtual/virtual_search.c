/* Looking for work in virtual time: own queue, rounds of probes, steals, back-off (the interpreter's `free(w)`; model
 * 4.1 to 4.4). Equal, event for event, to engine/reference/thief.py, and told as a worker goes through it.
 */
#include "policy/backoff.h"
#include "virtual/virtual_state.h"

enum { PATIENCE_ROUNDS = 256, NO_LOCK = -1 };

static bool is_remote(const virtual_worker *w, uint32_t q) {
    const int32_t home = pool_of(w)->plan->steal.queues[q].home;
    return home >= 0 && home != w->base.node;
}

/* What a step that touches the header of queue `q` takes, the transfer of its line included. */
static int64_t with_line(const virtual_worker *w, uint32_t q, int64_t step_ps) {
    const ns_full_plan *plan = pool_of(w)->plan;
    return plan->costs.line ? step_ps + ns_virtual_line_ps(w, (uint32_t)plan->steal.queues[q].owner) : step_ps;
}

static int64_t probe_ps(const virtual_worker *w, uint32_t q) {
    const ns_operation_costs *costs = &pool_of(w)->plan->costs;
    const int64_t step = with_line(w, q, is_remote(w, q) ? costs->probe_far_ps : costs->probe_near_ps);
    return step > costs->least_probe_ps ? step : costs->least_probe_ps;
}

static virtual_task *pop(virtual_pool *pool, uint32_t q, uint8_t end) {
    return (virtual_task *)(uintptr_t)ns_queues_pop(&pool->queues, q, end);
}

/* ---- own queue --------------------------------------------------------------------------------------------------- */

/* Whether the task at `end` of queue `q` is a descendant of the one that waits: a strict join runs no others. */
static bool may_run(const virtual_worker *w, uint32_t q, uint8_t end) {
    const virtual_task *top = top_of(w);
    if (!top || pool_of(w)->plan->join != NS_JOIN_STRICT) return true;
    const virtual_task *next = (virtual_task *)(uintptr_t)ns_queues_peek(&pool_of(w)->queues, q, end);
    return top->row < next->row && next->row < top->row + pool_of(w)->plan->graph.size.at[top->row];
}

/* Begin the next own task where the queue holds more than `keep`; below zero: than its threshold s. */
static bool pop_own(virtual_worker *w, int64_t keep) {
    virtual_pool *pool = pool_of(w);
    if (w->own == NS_UNKNOWN) return false;
    const uint32_t q = (uint32_t)w->own;
    const uint8_t end = pool->plan->steal.queues[q].own_end;
    if (pool->queues.length[q] <= (keep < 0 ? pool->queues.thresholds[q].low : keep) || !may_run(w, q, end))
        return false;
    w->owed_ps += pool->plan->costs.pop_ps;
    ns_virtual_begin(w, pop(pool, q, end));
    return true;
}

/* ---- idle episodes ----------------------------------------------------------------------------------------------- */

void ns_virtual_compute_thresholds(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    const ns_queues *queues = &pool->queues;
    if (w->own == NS_UNKNOWN || !now_of(w)) return;
    w->thresholds_known = true;
    const ns_measured seen = {
        .capacity = queues->capacity[w->own],
        .pushes = queues->pushes[w->own],
        .span_ps = now_of(w),
        .executed = w->counter[NS_TASKS],
        .busy_ps = w->counter[NS_WORK_LOCAL_PS] + w->counter[NS_INFLATION_NUMA_PS],
        .peak_sum = ns_queues_peak_sum(queues),
        .queues = pool->plan->steal.queue_count,
    };
    ns_queues_set_thresholds(
        &pool->queues, (uint32_t)w->own,
        ns_thresholds_computed(&pool->plan->thresholds, pool->plan->costs.push_ps, pool->plan->costs.pop_ps, &seen));
}

static void go_idle(virtual_worker *w) {
    w->idle = true;
    w->failed = w->failed_remote = 0;
    const bool drains = pool_of(w)->plan->threshold_time == NS_THRESHOLDS_FIRST_DRAIN;
    if (!w->thresholds_known && w->counter[NS_TASKS] && drains) ns_virtual_compute_thresholds(w);
}

static bool join_is_over(const virtual_worker *w) {
    const virtual_task *top = top_of(w);
    return top && w->idle && !top->pending;
}

/* ---- whether anything can still happen --------------------------------------------------------------------------- */

static bool finds(void *context, uint32_t level, uint32_t q) {
    const virtual_worker *w = context;
    const virtual_pool *pool = pool_of(w);
    const ns_queue *queue = &pool->plan->steal.queues[q];
    const ns_level *here = &pool->plan->steal.level[level];
    const uint8_t end = here->flags & NS_FLAG_ATTEMPT ? queue->steal_end : queue->own_end;
    return ns_level_amount(here, pool->queues.length[q]) && may_run(w, q, end);
}

static bool can_find(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    if (!w->idle || (w->stack.count && pool->plan->join == NS_JOIN_OWN)) return false;
    const ns_view view = view_of(pool);
    return ns_any_within_reach(&pool->plan->steal, &pool->actors[w->base.id], &view, finds, w);
}

static bool can_go_on(virtual_pool *pool) {
    if (ns_clock_has_progress(&pool->clock)) return true;
    for (uint32_t at = 0; at < pool->base.workers; at++) {
        if (join_is_over(&pool->workers[at]) || can_find(&pool->workers[at])) return true;
    }
    return false;
}

/* ---- locks of the search ----------------------------------------------------------------------------------------- */

static void release_held(virtual_worker *w) {
    for (uint32_t at = 0; at < w->held_count; at++) {
        ns_sync_release(pool_of(w)->sync, w->held[at], w->base.id, now_of(w));
    }
    w->held_count = 0;
}

static bool holds(const virtual_worker *w, int32_t word) {
    for (uint32_t at = 0; at < w->held_count; at++) {
        if (w->held[at] == (uint32_t)word) return true;
    }
    return false;
}

/* Let go of what the next probe does not need. */
static void release_others(virtual_worker *w, const int32_t *needed) {
    uint32_t kept = 0;
    for (uint32_t at = 0; at < w->held_count; at++) {
        const uint32_t word = w->held[at];
        if ((int32_t)word == needed[0] || (int32_t)word == needed[1]) {
            w->held[kept++] = word;
        } else {
            ns_sync_release(pool_of(w)->sync, word, w->base.id, now_of(w));
        }
    }
    w->held_count = kept;
}

/* Take the locks of the next probe, that of its level first; false where the phase has ended meanwhile. */
static bool pass_locks(virtual_worker *w, uint32_t level, uint32_t q) {
    virtual_pool *pool = pool_of(w);
    const uint64_t at = (uint64_t)level * pool->plan->steal.queue_count + q;
    const int32_t needed[2] = {pool->level_lock ? pool->level_lock[at] : NO_LOCK,
                               pool->queue_lock ? pool->queue_lock[q] : NO_LOCK};
    release_others(w, needed);
    for (uint32_t i = 0; i < 2; i++) {
        if (needed[i] == NO_LOCK || holds(w, needed[i])) continue;
        ns_virtual_acquire(w, (uint32_t)needed[i]);
        if (w->retired) return false;
        w->held[w->held_count++] = (uint32_t)needed[i];
    }
    return true;
}

/* ---- steals ------------------------------------------------------------------------------------------------------ */

static void count_attempt(virtual_worker *w, uint32_t q, int64_t count) {
    virtual_pool *pool = pool_of(w);
    const int32_t home = pool->plan->steal.queues[q].home;
    const uint64_t pair = (uint64_t)w->base.node * pool->report.nodes + (uint64_t)(home < 0 ? w->base.node : home);
    const bool remote = is_remote(w, q);
    pool->report.node_attempts[pair]++;
    w->counter[NS_STEAL_ATTEMPTS]++;
    w->counter[NS_STEAL_ATTEMPTS_REMOTE] += remote;
    if (count) {
        pool->report.node_success[pair]++;
        w->counter[NS_STEAL_SUCCESS]++;
        w->counter[NS_STEAL_SUCCESS_REMOTE] += remote;
        w->counter[NS_TASKS_STOLEN] += count;
    } else {
        w->failed++;
        w->failed_remote += remote;
    }
}

/* Move `count` tasks: the first is begun, the others go to the own queue; with refill, all do. */
static void take(virtual_worker *w, uint32_t q, uint8_t end, int64_t count) {
    virtual_pool *pool = pool_of(w);
    ns_virtual_record(pool, NS_RANK_LOOK, w->base.id, q, (uint64_t)count);
    w->owed_ps += with_line(w, q, pool->plan->costs.take_ps) + (count - 1) * pool->plan->costs.move_ps;
    virtual_task *begun = NULL;
    task_list rest = {0};
    for (int64_t at = 0; at < count; at++) {
        virtual_task *task = pop(pool, q, end);
        if (at == 0 && pool->plan->refill == 0) {
            begun = task;
        } else {
            ns_virtual_list_push(w, &rest, task);
        }
    }
    if (begun) {
        ns_virtual_begin(w, begun);
    } else {
        w->fails = 0;
        ns_virtual_end_idle(w);
    }
    for (uint32_t at = 0; at < rest.count; at++) ns_virtual_push(w, (uint32_t)w->own, rest.task[at]);
    ns_virtual_list_free(&rest);
}

/* A probe takes effect: whether it brought tasks. */
static bool look(virtual_worker *w, uint32_t level, uint32_t q) {
    virtual_pool *pool = pool_of(w);
    const ns_level *here = &pool->plan->steal.level[level];
    const ns_queue *queue = &pool->plan->steal.queues[q];
    const bool attempt = here->flags & NS_FLAG_ATTEMPT;
    const uint8_t end = attempt ? queue->steal_end : queue->own_end;
    int64_t count = ns_level_amount(here, pool->queues.length[q]);
    if (count && !may_run(w, q, end)) count = 0;
    if (attempt) count_attempt(w, q, count);
    ns_actor_found(pool->actors, &pool->plan->steal, (int32_t)w->base.id, level, q, count);
    if (count) take(w, q, end, count);
    return count;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static bool next_probe(virtual_worker *w, uint32_t *level, uint32_t *q) {
    virtual_pool *pool = pool_of(w);
    if (w->stack.count && pool->plan->join == NS_JOIN_OWN) return false;
    const ns_view view = view_of(pool);
    return ns_round_next(&w->round, &pool->plan->steal, &pool->actors[w->base.id], &view, level, q);
}

/* Wait after what was fruitless; false where that takes no time. */
static bool back_off(virtual_worker *w, bool probed) {
    virtual_pool *pool = pool_of(w);
    const int64_t wait_ps = ns_backoff_wait_ps(&pool->plan->backoff, w->fails, probed);
    w->counter[NS_IDLE_BACKOFF_PS] += wait_ps;
    if (w->fails % PATIENCE_ROUNDS == 0 && pool->outstanding && !can_go_on(pool)) {
        ns_virtual_fail(w, NS_ERROR_DEADLOCK, "%lld tasks are left at %lld ps and no worker can run them",
                        (long long)pool->outstanding, (long long)now_of(w));
    }
    if (wait_ps) ns_virtual_step_idle(w, NS_RANK_POLL, wait_ps);
    return wait_ps;
}

/* Something was found, or the join is over: pay for it, then let go of the locks. */
static void leave_search(virtual_worker *w) {
    if (!w->held_count) return;
    if (w->owed_ps) ns_virtual_step_overhead(w, NS_RANK_PUT, 0);
    release_held(w);
}

enum probing { FOUND, OVER, MISSED, NO_MORE };

/* Send the next probe of the round and see what it brings. */
static enum probing probe(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    uint32_t level, q;
    if (!next_probe(w, &level, &q)) return NO_MORE;
    w->probed = true;
    if (pool->locks_search && !pass_locks(w, level, q)) return OVER;
    const int64_t step_ps = probe_ps(w, q);
    w->counter[NS_IDLE_STEAL_PS] += step_ps;
    ns_virtual_step_idle(w, NS_RANK_LOOK, step_ps);
    if (w->retired) return OVER;
    const bool found = look(w, level, q);
    if (!found && !join_is_over(w)) return MISSED;
    leave_search(w);
    return found ? FOUND : OVER;
}

static void count_empty_round(virtual_worker *w) {
    w->counter[NS_NO_VICTIM]++;
    if (!pool_of(w)->plan->backoff_counts_empty) return;
    w->counter[NS_STEAL_ATTEMPTS]++;
    w->failed++;
}

/* The round is over and brought nothing: take what is left in the own queue, or wait; false where neither is so. */
static bool end_round(virtual_worker *w) {
    release_held(w);
    if (pop_own(w, 0)) return true;
    if (!w->probed) count_empty_round(w);
    if (w->probed && pool_of(w)->plan->backoff_after_probe) return false; /* each probe has had its wait */
    w->fails++;
    return back_off(w, w->probed);
}

/* Wait after a fruitless probe, in the middle of a round; false where that takes no time. */
static bool wait_within(virtual_worker *w) {
    release_held(w);
    w->round_goes_on = true;
    w->fails++;
    return back_off(w, true);
}

/* Begin a round, or go on with the one that a wait after a probe has interrupted. False: it has to be begun
 * again, after what was owed is paid. */
static bool begin_round(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    if (w->round_goes_on) {
        w->round_goes_on = false;
        return true;
    }
    if (pool->locks_search && w->owed_ps) {
        ns_virtual_step_idle(w, NS_RANK_POLL, 0);
        return false;
    }
    w->probed = false;
    ns_round_begin(&w->round);
    return true;
}

/* One round, or as many as take no time, and the wait behind it. */
static void go_round(virtual_worker *w) {
    const bool after_probes = pool_of(w)->plan->backoff_after_probe;
    if (!begin_round(w)) return;
    for (;;) {
        const enum probing outcome = probe(w);
        if (outcome == FOUND || outcome == OVER) return;
        if (outcome == MISSED && !after_probes) continue;
        const bool waited = outcome == MISSED ? wait_within(w) : end_round(w);
        if (waited || !begin_round(w)) return;
    }
}

void ns_virtual_search(virtual_worker *w, virtual_task *waiting) {
    while (!w->retired && top_of(w) == waiting && (!waiting || waiting->pending)) {
        if (w->agenda.count && !w->stack.count) {
            ns_virtual_begin(w, ns_virtual_list_shift(&w->agenda));
            return;
        }
        if (pop_own(w, pool_of(w)->plan->refill)) return;
        if (!w->idle) go_idle(w);
        go_round(w);
    }
}
