/* Workers that find no task: how they rest between rounds of probes, when they sleep, and who wakes whom (model 4.15;
 * engine/reference/resting.py). The protocol of sleep and wake is in sync/sleepers.h. The plan's rules (`ns_idle`) give
 * phases of rounds, each with its rests; after the last phase a worker sleeps. A worker covers a queue if it is
 * searching and can take from the queue. The reach of a worker to a queue is whether it can take from there, by its own
 * queue or by a steal level: never, sometimes (if a watch or gate of the level allows it), or always. A worker sleeps
 * only if it may take any task: not in joins `own`, `strict`, `leapfrog`, and not in a wait whose end wakes nobody. */
#include "execution/execution.h"
#include "platform/waiting.h"
#include "search/search.h"

static const ns_idle *rule_of(const ns_thread_worker *worker) { return &ns_thread_pool_of(worker)->file.plan.idle; }

/* Return whether the worker may take any task that it finds. */
static bool takes_any(const ns_thread_worker *worker, const ns_thread_wait *wait) {
    const enum ns_join_kind join = ns_thread_pool_of(worker)->file.plan.join;
    return !wait->task || (join != NS_JOIN_OWN && join != NS_JOIN_STRICT && join != NS_JOIN_LEAPFROG);
}

static bool may_sleep(const ns_thread_worker *worker, const ns_thread_wait *wait) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    return pool->sleeps && wait->awaited && takes_any(worker, wait) && !ns_thread_is_quiescent(pool);
}

/* ---- who can take from a queue ----------------------------------------------------------------------------------- */

/* Return [workers] the reach of each worker to queue `q`: as its own queue (part 0), or by steal level `part` - 1. */
static const uint8_t *reach_by(const ns_thread_pool *pool, uint32_t part, uint32_t q) {
    const ns_full_plan *plan = &pool->file.plan;
    return plan->idle.reach.at + ((uint64_t)part * plan->steal.queue_count + q) * pool->base.workers;
}

/* A queue, and the worker that looks at it. */
typedef struct {
    ns_thread_worker *viewer;
    uint32_t q;
    bool is_viewed; /* whether the viewer has read the state of the queue */
} viewed;

/* Return the best reach of `worker` to the queue by levels that are in force now. Leave out levels with the reach
 * `sometimes` whose watch or gate is closed to the worker now. The first call reads the state of the queue. */
static enum ns_reach reach_now(void *context, uint32_t worker) {
    viewed *self = context;
    if (!self->is_viewed) ns_thread_view_queue(self->viewer, self->q);
    self->is_viewed = true;
    const ns_thread_pool *pool = ns_thread_pool_of(self->viewer);
    const ns_plan *steal = &pool->file.plan.steal;
    const ns_view *view = &self->viewer->search.view;
    enum ns_reach best = (enum ns_reach)reach_by(pool, 0, self->q)[worker];
    for (uint32_t at = 0; at < steal->steal_levels && best != NS_REACH_ALWAYS; at++) {
        const ns_level *level = &steal->level[at];
        const enum ns_reach reach = (enum ns_reach)reach_by(pool, 1 + at, self->q)[worker];
        if (reach == NS_REACH_NEVER || !ns_in_force(level, view)) continue;
        if (reach == NS_REACH_SOMETIMES &&
            (!ns_level_opens(steal, level, view, self->q) || !ns_passes_gate(steal, level, (int32_t)worker, view)))
            continue;
        best = reach;
    }
    return best;
}

/* Return whether the worker's reach to queue `q` is sometimes or always. */
static bool can_take(const ns_thread_worker *worker, uint32_t q) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    bool can = !rule_of(worker)->reach.count;
    for (uint32_t part = 0; part <= pool->file.plan.steal.steal_levels && !can; part++)
        can = reach_by(pool, part, q)[worker->base.id];
    return can;
}

/* Return whether the same workers would cover both queues. */
static bool are_alike(const ns_thread_pool *pool, viewed *one, viewed *other) {
    const enum ns_reach first = ns_sleepers_cover_by(pool->sleepers, &(ns_takers){reach_now, one});
    const enum ns_reach second = ns_sleepers_cover_by(pool->sleepers, &(ns_takers){reach_now, other});
    uint32_t worker = 0;
    while (worker < pool->base.workers && (reach_now(one, worker) >= first) == (reach_now(other, worker) >= second))
        worker++;
    return worker == pool->base.workers;
}

/* ---- waking ------------------------------------------------------------------------------------------------------ */

/* Wake `count` sleepers that are among `takers` (NULL: any). Before, make all tasks in the worker's queue available to
 * other workers, so that the sleepers find them. */
static void wake(ns_thread_worker *worker, const ns_takers *takers, int64_t count) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (count <= 0) return;
    ns_thread_queue_share(worker);
    ns_sleepers_wake(pool->sleepers, takers, count);
}

void ns_thread_wake_for_task(ns_thread_worker *worker, uint32_t q, bool held) {
    ns_sleepers *sleepers = ns_thread_pool_of(worker)->sleepers;
    viewed pushed_to = {worker, q, false};
    const ns_takers takers = {reach_now, &pushed_to}, *those = rule_of(worker)->reach.count ? &takers : NULL;
    if (ns_sleepers_pushed(sleepers, those, held)) wake(worker, those, 1);
}

void ns_thread_wake_for_missed(ns_thread_worker *worker, uint32_t q) {
    const ns_sleepers *sleepers = ns_thread_pool_of(worker)->sleepers;
    viewed missed = {worker, q, false};
    const ns_takers takers = {reach_now, &missed};
    /* relaxed: a worker that reads an old number wakes nobody; pushes of the tasks have applied the rules before */
    if (ns_census_sleeping(ns_atomic_u64_load(&sleepers->census, memory_order_relaxed)))
        wake(worker, rule_of(worker)->reach.count ? &takers : NULL, 1);
}

/* Wake `count` sleepers for each queue that has tasks and that no worker covers; of several such queues that the same
 * workers would cover, only for the first. If `gated`, wake nobody for queues to which some worker's reach is `always`.
 * Return whether there is such a queue with tasks and without cover. */
static bool wake_for_uncovered(ns_thread_worker *worker, int64_t count, bool gated) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    bool any = false;
    ns_fence(); /* a worker that pushed a task and woke nobody, since this worker searched, relies on the loads below */
    for (uint32_t q = 0; q < pool->file.plan.steal.queue_count; q++) {
        viewed here = {worker, q, false};
        const ns_takers takers = {reach_now, &here};
        if (!ns_task_queue_length(pool->queues[q])) continue;
        if (!ns_sleepers_is_uncovered(pool->sleepers, &takers)) continue;
        bool skips = gated && ns_sleepers_somebody_is_sure(pool->sleepers, &takers);
        for (uint32_t before = 0; before < q && !skips; before++)
            skips =
                ns_task_queue_length(pool->queues[before]) && are_alike(pool, &here, &(viewed){worker, before, false});
        if (!skips) wake(worker, &takers, count);
        any = true;
    }
    return any;
}

void ns_thread_gate_opens(ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->sleeps || !rule_of(worker)->reach.count) return;
    ns_fence(); /* pairs with the fence of ns_sleepers_announce: the gate opens before the load of the census */
    const uint64_t census = ns_atomic_u64_load(&pool->sleepers->census, memory_order_relaxed); /* relaxed: fenced */
    if (ns_census_sleeping(census)) wake_for_uncovered(worker, 1, true);
}

/* ---- falling asleep ---------------------------------------------------------------------------------------------- */

/* Let the worker search again. `state` says how its sleep has ended: NS_AWAKE if nobody woke the worker. */
static void get_up(ns_thread_worker *worker, enum ns_sleep state) {
    ns_thread_resting *mine = &worker->resting;
    const ns_idle *rule = rule_of(worker);
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool is_counted = rule->counted && state != NS_AWAKE; /* the waking worker counted this one as searching */
    if (!is_counted) ns_sleepers_search(pool->sleepers, worker->base.id, true);
    mine->searches = true;
    mine->knows_pushes = false;
    /* a wake-up by the end of the run is not counted */
    if (state != NS_AWAKE && !ns_thread_task_is_joined(&pool->origin)) ns_thread_count(worker, NS_WAKEUPS, 1);
    if (mine->woken && rule->chain_by == NS_CHAIN_WOKEN) wake(worker, NULL, rule->chain);
}

/* Return the time after which the worker's next sleep ends by itself, in ps; 0: never. The time grows by a factor after
 * each sleep that ended by itself. */
static int64_t timer_ps(const ns_thread_worker *worker) {
    const ns_idle *rule = rule_of(worker);
    int64_t ps = rule->first_ps;
    for (int64_t at = 0; at < worker->resting.timeouts && ps < rule->max_ps; at++)
        if (__builtin_mul_overflow(ps, rule->factor, &ps)) ps = rule->max_ps;
    return ps < rule->max_ps ? ps : rule->max_ps;
}

void ns_thread_check_sleepers(ns_thread_pool *pool) {
    const uint64_t census = ns_atomic_u64_load(&pool->sleepers->census, memory_order_relaxed);
    /* relaxed, twice: ns_sleepers_asleep counts again under the lock. A worker that blocks adds itself before this */
    const uint32_t blocked = ns_atomic_u32_load(&pool->blocked, memory_order_relaxed);
    if (ns_census_sleeping(census) + blocked < pool->team_size) return;
    if (ns_sleepers_asleep(pool->sleepers) + blocked >= pool->team_size)
        ns_thread_end_quiescent(pool, "all workers sleep");
}

/* Sleep, unless the worker was woken since it announced its sleep. Return how the sleep has ended. */
static enum ns_sleep sleep_now(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_resting *mine = &worker->resting;
    const int64_t ps = timer_ps(worker);
    enum ns_sleep state = ns_sleepers_fall_asleep(pool->sleepers, worker->base.id, ps > 0);
    if (state == NS_CALLED) return state;
    ns_thread_count(worker, NS_WAKEUPS_USELESS, mine->woken);
    mine->woken = false;
    if (state == NS_ASLEEP) {
        const uint64_t began = ns_ticks();
        if (!ps) ns_thread_check_sleepers(pool);
        state = ns_sleepers_sleep(pool->sleepers, worker->base.id, ps);
        ns_thread_count(worker, NS_ASLEEP_PS, ns_ticks_to_ps(pool->rate, ns_ticks() - began));
        mine->sleeps_on = ns_thread_task_is_joined(&pool->origin);
    }
    if (state == NS_WOKEN) {
        mine->timeouts = worker->search.fails = 0;
        mine->woken = !mine->sleeps_on;
    } else {
        mine->timeouts++;
    }
    return state;
}

/* A worker that is about to fall asleep, and the wait during which it searches. */
typedef struct {
    ns_thread_worker *worker;
    const ns_thread_wait *wait;
} tired;

/* In NS_MODE_PACED, add the time for looks at all other queues within the worker's reach to the worker's clock. */
static void pay_look(const ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    int64_t ps = 0;
    for (uint32_t q = 0; q < pool->file.plan.steal.queue_count; q++)
        if ((int32_t)q != worker->own && can_take(worker, q)) ps += ns_thread_probe_ps(worker, q);
    ns_thread_pay(ps, NS_RANK_LOOK);
}

/* Return whether the worker could find a task now. Before, correct all watch bits, which may be wrong for a while. */
static bool finds_work(void *context) {
    const tired *self = context;
    ns_thread_pool *pool = ns_thread_pool_of(self->worker);
    if (pool->turns) pay_look(self->worker);
    for (uint32_t q = 0; pool->notes_watches && q < pool->file.plan.steal.queue_count; q++)
        ns_thread_note_queue(pool, q);
    return ns_thread_finds_work(self->worker, self->wait);
}

static bool is_over(void *context) {
    const tired *self = context;
    return self->wait->is_over(self->wait->context) || ns_thread_is_quiescent(ns_thread_pool_of(self->worker));
}

/* Stop the worker's search, let it sleep unless it could find a task after all, and let it search again. Under the rule
 * `recheck: events` the first call of a search, and a call after new pushes, return at once, for one more round. */
static void lie_down(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_resting *mine = &worker->resting;
    const bool compares = rule_of(worker)->recheck == NS_RECHECK_EVENTS && mine->searches;
    const uint64_t pushes = compares ? ns_sleepers_pushes(pool->sleepers) : 0;
    if (compares && (!mine->knows_pushes || mine->pushes != pushes)) {
        mine->knows_pushes = true;
        mine->pushes = pushes;
        return;
    }
    tired self = {worker, wait};
    const ns_sleep_order order = {.worker = worker->base.id,
                                  .searched = mine->searches,
                                  .pushes = pushes,
                                  .awaited = wait->awaited,
                                  .target = wait->children ? *wait->children : 1,
                                  .finds = finds_work,
                                  .is_over = is_over,
                                  .context = &self};
    ns_thread_withdraw_no_work(worker);
    mine->searches = false;
    const enum ns_sleep state = ns_sleepers_lie_down(pool->sleepers, &order);
    get_up(worker, state == NS_ANNOUNCED ? sleep_now(worker) : state);
    /* The task may still be private to its owner: yield, so that the owner can make it public. If workers run in turns,
     * probes take enough time. */
    if (state == NS_AWAKE && !pool->turns) ns_yield();
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Return whether the cap on searching workers is a share of the workers that are not searching. */
static bool counts_idle(const ns_idle *rule) { return rule->cap && rule->cap_of == NS_CAP_BUSY_SHARE; }

/* Return how many workers are not searching if the cap depends on this number; else 0. */
static uint32_t busy(const ns_thread_pool *pool) {
    if (!counts_idle(&pool->file.plan.idle)) return 0;
    const uint32_t idle = ns_atomic_u32_load(&pool->idle, memory_order_relaxed); /* relaxed: a recent number */
    return idle < pool->base.workers ? pool->base.workers - idle : 0;
}

void ns_thread_begin_search(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_resting *mine = &worker->resting;
    /* relaxed, here and below: only the cap on searching workers uses this number */
    if (counts_idle(rule_of(worker))) ns_atomic_u32_fetch_add(&pool->idle, 1, memory_order_relaxed);
    mine->knows_pushes = false;
    mine->timeouts = 0;
    const bool keeps_tasks = worker->own >= 0 && ns_task_queue_length(pool->queues[worker->own]);
    if (!may_sleep(worker, wait) || keeps_tasks)
        ns_sleepers_search(pool->sleepers, worker->base.id, takes_any(worker, wait));
    else if (!ns_sleepers_try_search(pool->sleepers, worker->base.id, busy(pool)))
        lie_down(worker, wait);
    mine->searches = true;
}

void ns_thread_end_search(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_resting *mine = &worker->resting;
    const ns_idle *rule = rule_of(worker);
    if (counts_idle(rule)) ns_atomic_u32_fetch_add(&pool->idle, UINT32_MAX, memory_order_relaxed);
    const uint64_t census = ns_sleepers_stop_searching(pool->sleepers, worker->base.id);
    mine->searches = mine->woken = false;
    if (!ns_census_sleeping(census) || rule->chain_by == NS_CHAIN_WOKEN) return;
    if (rule->reach.count && wake_for_uncovered(worker, rule->chain, false)) return;
    const bool is_last = !rule->reach.count && !ns_census_searching(census);
    if (is_last || rule->chain_by == NS_CHAIN_FINDER) wake(worker, NULL, rule->chain);
}

/* ---- phases of rounds -------------------------------------------------------------------------------------------- */

/* Return the phase to which the worker's last round belongs; NULL if all phases are over. */
static const ns_idle_phase *phase_of(ns_thread_worker *worker) {
    ns_thread_resting *mine = &worker->resting;
    const ns_idle_phase_list phases = rule_of(worker)->phases;
    if (worker->search.fails == 1) mine->phase = 0, mine->rounds = 0;
    for (; mine->phase < phases.count; mine->phase++, mine->rounds = 0) {
        const ns_idle_phase *phase = &phases.at[mine->phase];
        if (!mine->rounds) mine->began = ns_ticks();
        const ns_tick_rate rate = ns_thread_pool_of(worker)->rate;
        const bool lasts = !mine->rounds || ns_ticks() - mine->began < ns_ps_to_ticks(rate, phase->for_ps);
        if (phase->rounds ? mine->rounds < phase->rounds : lasts) {
            mine->rounds++;
            return phase;
        }
    }
    return NULL;
}

/* Return the factor by which rests grow with the number S of searching workers: S / log2(S), both rounded down, at
 * least 1. */
static int64_t crowding(const ns_thread_pool *pool) {
    const uint32_t searching = ns_sleepers_searching(pool->sleepers);
    const int64_t log = searching > 3 ? 31 - __builtin_clz(searching) : 1;
    return searching > 1 ? searching / log : 1;
}

/* Rest by the means of the phase: pauses, yields, or a nap. */
static void rest_in_phase(ns_thread_worker *worker, const ns_idle_phase *phase, int64_t wait_ps) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint64_t began = ns_ticks();
    const bool yields = phase->yields || pool->crowded;
    if (phase->naps && wait_ps)
        ns_nap(wait_ps);
    else if (wait_ps || yields)
        ns_thread_rest_awake(pool, wait_ps, yields);
    ns_thread_count(worker, phase->naps ? NS_ASLEEP_PS : NS_IDLE_BACKOFF_PS,
                    ns_ticks_to_ps(pool->rate, ns_ticks() - began));
}

void ns_thread_rest(ns_thread_worker *worker, const ns_thread_wait *wait, bool probed) {
    const ns_full_plan *plan = &ns_thread_pool_of(worker)->file.plan;
    int64_t wait_ps = ns_thread_next_wait_ps(worker, probed);
    const ns_idle_phase *phase = phase_of(worker);
    if (!phase && may_sleep(worker, wait)) {
        lie_down(worker, wait);
        return;
    }
    const ns_idle_phase_list phases = plan->idle.phases;
    const ns_idle_phase *last = phase || !phases.count ? phase : &phases.at[phases.count - 1];
    if (last) {
        wait_ps = last->wait_ps;
        if (last->crowded && __builtin_mul_overflow(wait_ps, crowding(ns_thread_pool_of(worker)), &wait_ps))
            wait_ps = last->wait_ps;
        if (!probed && wait_ps < plan->backoff.scan_ps) wait_ps = plan->backoff.scan_ps;
    }
    if (ns_thread_is_patient(worker, wait_ps)) ns_thread_announce_no_work(worker, wait);
    if (last)
        rest_in_phase(worker, last, wait_ps);
    else
        ns_thread_back_off(worker, wait_ps);
}

/* ---- phases of the program --------------------------------------------------------------------------------------- */

void ns_thread_rest_ends(ns_thread_worker *worker) {
    ns_thread_resting *mine = &worker->resting;
    const int64_t between_ps = rule_of(worker)->between_ps;
    const bool slept = mine->sits_since_ps && between_ps >= 0 && ns_monotonic_ps() - mine->sits_since_ps >= between_ps;
    if (worker->base.id && (mine->sleeps_on || slept)) ns_thread_count(worker, NS_WAKEUPS, 1);
    mine->sleeps_on = false;
    mine->sits_since_ps = 0;
}

void ns_thread_sits_out(ns_thread_worker *worker) {
    if (!worker->resting.sits_since_ps) worker->resting.sits_since_ps = ns_monotonic_ps();
}
