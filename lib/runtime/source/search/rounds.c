/* Rounds of probes, and the rests after rounds without a find (a task that the worker gets). A probe looks into one
 * queue; a steal level of the strategy names queues to probe; a round is one pass through the levels. */
#include <stdlib.h>

#include "execution/execution.h"
#include "search/search.h"

static const int64_t SPINNING_PS = 2000000; /* a worker yields its CPU in a longer rest */
enum { PATIENT_ROUNDS = 64 };               /* a worker yields its CPU after each so many rounds without a find */

/* ---- waits ------------------------------------------------------------------------------------------------------- */

void ns_thread_rest_awake(const ns_thread_pool *pool, int64_t wait_ps, bool yields) {
#ifdef NS_TURNS
    ns_turns_pass(wait_ps);
#else
    const uint64_t began = ns_ticks(), span = ns_ps_to_ticks(pool->rate, wait_ps);
    do {
        if (yields)
            ns_yield();
        else
            ns_pause();
    } while (ns_ticks() - began < span && !ns_thread_task_is_joined(&pool->origin) && !ns_thread_is_quiescent(pool));
#endif
}

void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint64_t began = ns_ticks();
    const bool yields = pool->crowded || wait_ps > SPINNING_PS || worker->search.fails % PATIENT_ROUNDS == 0;
    ns_thread_rest_awake(pool, wait_ps, yields);
    ns_thread_count(worker, NS_IDLE_BACKOFF_PS, ns_ticks_to_ps(pool->rate, ns_ticks() - began));
}

int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed) {
    return ns_backoff_wait_ps(&ns_thread_pool_of(worker)->file.plan.backoff, ++worker->search.fails, probed);
}

/* ---- the locks of probes: of a level's group of queues (thesis chapter 6, Algorithm 5), and of single queues ----- */

static int make_locks(ns_thread_pool *pool, ns_i32s words, const ns_numa_lock_options *options) {
    for (uint64_t at = 0; at < words.count; at++) {
        if (words.at[at] == NS_NO_LOCK || pool->locks[words.at[at]]) continue;
        const int error = ns_numa_lock_create(&pool->locks[words.at[at]], options);
        if (error) return error;
    }
    return NS_OK;
}

int ns_thread_make_search_locks(ns_thread_pool *pool) {
    const ns_plan_words *words = &pool->file.plan.words;
    const int64_t batch = words->rules.batch;
    const ns_numa_lock_options options = {.kind = NS_LOCK_KIND_WORD[words->kind],
                                          .nodes = pool->file.plan.nodes,
                                          .home = NS_NUMA_ANYWHERE,
                                          .batch = batch < UINT32_MAX ? (uint32_t)batch : UINT32_MAX};
    pool->locks = calloc(words->role.count + 1, sizeof(ns_numa_lock *));
    pool->lines = calloc(words->role.count + 1, sizeof *pool->lines);
    if (!pool->locks || !pool->lines) return NS_ERROR_MEMORY;
    for (uint64_t at = 0; at < words->role.count; at++)
        pool->lines[at] = (ns_line){.home = words->home.at[at], .owner = NS_NOBODY};
    const int error = make_locks(pool, words->level_lock, &options);
    return error ? error : make_locks(pool, words->queue_lock, &options);
}

void ns_thread_destroy_search_locks(ns_thread_pool *pool) {
    for (uint64_t at = 0; pool->locks && at < pool->file.plan.words.role.count; at++)
        ns_numa_lock_destroy(pool->locks[at]);
    free(pool->locks);
    free(pool->lines);
}

/* In NS_MODE_PACED, add the time of getting `lock` to the worker's clock, by the model of the lock's kind (model 5.2):
 * free if the worker has not waited since `asked_ps`, else handed over. Time that other waiters add is left out. */
static void pay_lock(const ns_thread_worker *worker, int32_t lock, int64_t asked_ps) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_plan_words *words = &pool->file.plan.words;
    ns_line *line = &pool->lines[lock];
    const ns_waiter mine = {.since_ps = asked_ps, .actor = worker->base.id};
    const int64_t now_ps = ns_monotonic_ps();
    int64_t run = 0;
    const int64_t ps =
        now_ps > asked_ps
            ? ns_lock_next(words->kind, &words->rules, &words->transfers, line, &mine, 1, now_ps, &run).delay_ps
            : ns_lock_free_ps(words->kind, &words->transfers, line, worker->base.id);
    ns_line_move(&words->transfers, line, worker->base.id);
    ns_thread_pay_lock(ps, (uint32_t)lock);
}

void ns_thread_pass_lock(const ns_thread_worker *worker, int32_t *held, int32_t next) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint32_t node = (uint32_t)worker->base.node;
    if (*held == next) return;
    ns_thread_settle();
    if (*held != NS_NO_LOCK) ns_numa_lock_release(pool->locks[*held], node);
    if (next != NS_NO_LOCK) {
        const int64_t asked_ps = pool->turns ? ns_monotonic_ps() : 0;
        ns_numa_lock_acquire(pool->locks[next], node);
        if (pool->turns) pay_lock(worker, next, asked_ps);
    }
    *held = next;
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

static void count_attempt(ns_thread_worker *worker, uint32_t q, int64_t taken) {
    const int32_t home = ns_thread_pool_of(worker)->file.plan.steal.queues[q].home;
    const int32_t node = home < 0 ? worker->base.node : home;
    const bool remote = node != worker->base.node;
    ns_thread_count(worker, NS_STEAL_ATTEMPTS, 1);
    ns_thread_count(worker, NS_STEAL_ATTEMPTS_REMOTE, remote);
    ns_thread_count(worker, NS_STEAL_SUCCESS, taken > 0);
    ns_thread_count(worker, NS_STEAL_SUCCESS_REMOTE, taken > 0 && remote);
    ns_thread_count(worker, NS_TASKS_STOLEN, taken);
    worker->node_attempts[node] += NUMASIM_COUNTERS;
    worker->node_success[node] += NUMASIM_COUNTERS && taken > 0;
}

/* Tell the worker whose own queue is `q` which worker has stolen from it and, if the spawn order adapts, how many
 * tasks. */
static void name_thief(const ns_thread_worker *worker, uint32_t q, int64_t taken) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const int32_t robbed = pool->file.plan.steal.queues[q].owner;
    if (pool->file.plan.steal.own[robbed] != q || robbed == (int32_t)worker->base.id) return;
    /* relaxed: a recent value suffices (queue_tasks.c) */
    ns_atomic_u32_store(&pool->worker[robbed]->thief, worker->base.id + 1, memory_order_relaxed);
    if (pool->adapts) ns_atomic_u64_fetch_add(&pool->worker[robbed]->robbed, (uint64_t)taken, memory_order_relaxed);
}

/* Return how many tasks a probe of queue `q` by `level` would take now. */
static int64_t wanted_now(const ns_thread_pool *pool, uint32_t level, uint32_t q) {
    return ns_level_amount(&pool->file.plan.steal.level[level], ns_task_queue_length(pool->queues[q]));
}

int64_t ns_thread_probe_ps(const ns_thread_worker *worker, uint32_t q) {
    const ns_worker_state self = {.id = worker->base.id, .node = worker->base.node};
    return ns_probe_ps(&ns_thread_pool_of(worker)->file.plan, &self, q);
}

/* The locks that a search holds: of the level and of the queue of its last probe. */
typedef struct {
    int32_t level, queue;
} held_locks;

static void release_locks(const ns_thread_worker *worker, held_locks *held) {
    ns_thread_pass_lock(worker, &held->queue, NS_NO_LOCK);
    ns_thread_pass_lock(worker, &held->level, NS_NO_LOCK);
}

/* Take the locks that the next probe needs, and release all others. A worker that waits for the lock of a level holds
 * no lock of a queue, so workers never wait for each other in a circle. */
static void take_locks(const ns_thread_worker *worker, held_locks *held, uint32_t level, uint32_t q) {
    const ns_full_plan *plan = &ns_thread_pool_of(worker)->file.plan;
    const int32_t of_level = ns_level_lock(plan, level, q), of_queue = ns_probe_lock(plan, q);
    if (held->level != of_level || held->queue != of_queue) ns_thread_pass_lock(worker, &held->queue, NS_NO_LOCK);
    ns_thread_pass_lock(worker, &held->level, of_level);
    ns_thread_pass_lock(worker, &held->queue, of_queue);
}

/* Read the length of queue `q`. If the strategy looks before it locks, a probe that sees tasks tries to get the lock of
 * the queue: the probe fails if another worker has the lock; otherwise it reads the length again under the lock. Return
 * how many tasks the probe will take. */
static int64_t look(ns_thread_worker *worker, uint32_t level, uint32_t q, held_locks *held) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_full_plan *plan = &pool->file.plan;
    ns_thread_pay(ns_thread_probe_ps(worker, q), NS_RANK_LOOK);
    const int64_t wanted = wanted_now(pool, level, q);
    const int32_t lock = ns_take_lock(plan, q);
    if (!wanted || lock == NS_NO_LOCK) return wanted;
    if (!ns_numa_lock_try_acquire(pool->locks[lock], (uint32_t)worker->base.node)) {
        if (pool->sleeps && plan->idle.missed) ns_thread_wake_for_missed(worker, q);
        return 0;
    }
    if (pool->turns) pay_lock(worker, lock, ns_monotonic_ps());
    held->queue = lock;
    return wanted_now(pool, level, q);
}

/* Probe queue `q` by `level`. Return the first task that is taken, or NULL; put further tasks into the own queue. */
static ns_thread_task *probe(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t level, uint32_t q,
                             held_locks *held) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_level *by = &pool->file.plan.steal.level[level];
    const ns_queue *queue = &pool->file.plan.steal.queues[q];
    const bool attempt = ns_is_attempt(&pool->file.plan, level);
    if (pool->emulation.plan)
        ns_emulation_probe(&pool->emulation, worker->base.id, worker->base.node, (uint32_t)queue->owner, queue->home);
    const bool passes = ns_thread_pass_gate(worker, by);
    if (!passes) ns_thread_pay(ns_thread_probe_ps(worker, q), NS_RANK_LOOK);
    const int64_t wanted = passes ? look(worker, level, q, held) : 0;
    const enum ns_queue_end end = ns_takes_back(&pool->file.plan, level, q) ? NS_BACK : NS_FRONT;
    const bool is_owner = !attempt && (int32_t)q == worker->own;
    ns_thread_task *first = NULL;
    int64_t taken = 0;
    for (int64_t looked = 0; looked < wanted; looked++) {
        ns_thread_task *task = pool->execution->take(worker, wait, q, is_owner, end);
        if (!task && !pool->copies) break;
        if (!task) continue; /* another worker has claimed this task; further tasks may follow in the queue */
        if (taken++)
            pool->execution->keep(worker, task);
        else
            first = task;
    }
    const ns_operation_costs *costs = &pool->file.plan.costs;
    const ns_worker_state self = {.id = worker->base.id, .node = worker->base.node};
    const int64_t line_ps = taken ? ns_queue_line_ps(&pool->file.plan, &self, q) : 0;
    if (taken) ns_thread_owe(costs->take_ps + line_ps + (taken - 1) * costs->move_ps);
    if (held->queue != ns_probe_lock(&pool->file.plan, q)) ns_thread_pass_lock(worker, &held->queue, NS_NO_LOCK);
    if (!wanted) ns_thread_note_queue(pool, q);
    if (attempt) count_attempt(worker, q, taken);
    ns_actor_found(&worker->search.actor, &pool->anonymous, 0, level, q, taken); /* only this actor uses its array */
    if (taken) name_thief(worker, q, taken);
    if (!taken) ns_thread_leave_gate(worker);
    return first;
}

/* Make the probes of a round, up to the first find or the end of the wait. Return the task, or NULL. Set `*held` to the
 * locks that are still held. */
static ns_thread_task *probe_in_turn(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed,
                                     held_locks *held) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    ns_round round;
    uint32_t level, q;
    ns_round_begin(&round);
    for (;;) {
        ns_thread_view_queues(worker, wait);
        if (!ns_round_next(&round, &pool->file.plan.steal, &search->actor, &search->view, &level, &q)) return NULL;
        *probed = true;
        take_locks(worker, held, level, q);
        ns_thread_task *task = probe(worker, wait, level, q, held);
        if (task || wait->is_over(wait->context)) return task;
        if (pool->file.plan.backoff_after_probe) {
            release_locks(worker, held);
            if (pool->sleepers)
                ns_thread_rest(worker, wait, true);
            else
                ns_thread_back_off(worker, ns_thread_next_wait_ps(worker, true));
        }
    }
}

ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed) {
    held_locks held = {NS_NO_LOCK, NS_NO_LOCK};
    *probed = false;
    ns_thread_task *task = probe_in_turn(worker, wait, probed, &held);
    release_locks(worker, &held);
    return task;
}
