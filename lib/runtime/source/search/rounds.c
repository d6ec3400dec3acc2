/* Rounds of probes by the steal levels of the strategy, and the waits after fruitless ones. */
#include <sched.h>

#include "execution/execution.h"
#include "following/live_gates.h"
#include "search/search.h"

static const int64_t SPINNING_PS = 2000000; /* up to this it keeps its CPU */
enum { PATIENT_ROUNDS = 64 };               /* fruitless rounds after which a worker lets others have its CPU */

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* Rest for `wait_ps`, and let others have the CPU if that, or all of this, takes long. */
void ns_thread_back_off(ns_thread_worker *worker, int64_t wait_ps) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint64_t began = ns_ticks(), span = ns_ps_to_ticks(pool->rate, wait_ps);
    const bool yields = pool->crowded || wait_ps > SPINNING_PS || worker->search.fails % PATIENT_ROUNDS == 0;
    do {
        if (yields)
            sched_yield();
        else
            ns_pause();
    } while (ns_ticks() - began < span && !ns_thread_task_is_joined(&pool->origin) && !ns_thread_is_quiescent(pool));
    ns_thread_count(worker, NS_IDLE_BACKOFF_PS, ns_ticks_to_ps(pool->rate, ns_ticks() - began));
}

int64_t ns_thread_next_wait_ps(ns_thread_worker *worker, bool probed) {
    return ns_backoff_wait_ps(&ns_thread_pool_of(worker)->tables.backoff, ++worker->search.fails, probed);
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

static void count_attempt(ns_thread_worker *worker, uint32_t q, int64_t taken) {
    const int32_t home = ns_thread_pool_of(worker)->tables.steal.queues[q].home;
    const int32_t node = home < 0 ? worker->base.node : home;
    const bool remote = node != worker->base.node;
    ns_thread_count(worker, NS_STEAL_ATTEMPTS, 1);
    ns_thread_count(worker, NS_STEAL_ATTEMPTS_REMOTE, remote);
    ns_thread_count(worker, NS_STEAL_SUCCESS, taken > 0);
    ns_thread_count(worker, NS_STEAL_SUCCESS_REMOTE, taken > 0 && remote);
    ns_thread_count(worker, NS_TASKS_STOLEN, taken);
#if NUMASIM_COUNTERS
    worker->node_attempts[node]++;
    worker->node_success[node] += taken > 0;
#endif
}

/* Note for the robbed worker who its thief is, and how much it has taken. */
static void name_thief(const ns_thread_worker *worker, uint32_t q, int64_t taken) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const int32_t robbed = pool->tables.steal.queues[q].owner;
    if (pool->tables.steal.own[robbed] != q || robbed == (int32_t)worker->base.id) return;
    /* relaxed: as in queue_view.c */
    ns_atomic_u32_store(&pool->worker[robbed]->thief, worker->base.id + 1, memory_order_relaxed);
    if (pool->adapts) ns_atomic_u64_fetch_add(&pool->worker[robbed]->robbed, (uint64_t)taken, memory_order_relaxed);
}

/* How many tasks a probe of queue `q` by `level` is to take, now. */
static int64_t wanted_now(const ns_thread_pool *pool, uint32_t level, uint32_t q) {
    return ns_level_amount(&pool->tables.steal.level[level], ns_task_queue_length(pool->queues[q]));
}

/* How many tasks a probe is to take that has come to queue `q`, whose lock it takes into `*held` if that is more than
 * none: it looks again under a lock that it has seen tasks without, and is fruitless where somebody has that lock, as
 * in lib/engine/thief.cpp. */
static int64_t look(const ns_thread_pool *pool, uint32_t level, uint32_t q, uint32_t node, int32_t *held) {
    const int32_t lock = ns_search_locks_of_queue(&pool->locks, q);
    if (!pool->locks.looks_first) ns_search_locks_pass(&pool->locks, held, lock, node);
    const int64_t wanted = wanted_now(pool, level, q);
    if (!wanted || *held == lock) return wanted;
    return ns_search_locks_try(&pool->locks, held, lock, node) ? wanted_now(pool, level, q) : 0;
}

/* Probe queue `q` by `level`: the first task of those that it takes, or NULL. */
static ns_thread_task *probe(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t level, uint32_t q) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_level *by = &pool->tables.steal.level[level];
    const ns_queue *queue = &pool->tables.steal.queues[q];
    const bool attempt = (by->flags & NS_FLAG_ATTEMPT) != 0;
    if (pool->emulation.is_on) {
        ns_emulation_probe(&pool->emulation, worker->base.id, worker->base.node, (uint32_t)queue->owner, queue->home);
    }
    const uint32_t node = (uint32_t)worker->base.node;
    int32_t held = NS_NO_LOCK;
    const int64_t wanted = ns_thread_pass_gate(worker, by) ? look(pool, level, q, node, &held) : 0;
    const uint8_t end = attempt ? queue->steal_end : queue->own_end;
    const bool is_owner = !attempt && (int32_t)q == worker->own;
    ns_thread_task *first = NULL;
    int64_t taken = 0;
    for (int64_t looked = 0; looked < wanted; looked++) {
        ns_thread_task *task = pool->execution->take(worker, wait, q, is_owner, (enum ns_queue_end)end);
        if (!task && !pool->copies) break;
        if (!task) continue; /* somebody else has it: others may be behind it */
        if (taken++)
            pool->execution->keep(worker, task);
        else
            first = task;
    }
    ns_search_locks_pass(&pool->locks, &held, NS_NO_LOCK, node);
    if (!wanted) ns_thread_note_queue(pool, q);
    if (attempt) count_attempt(worker, q, taken);
    ns_actor_found(&worker->search.actor, &pool->anonymous, 0, level, q, taken); /* the only actor that it sees */
    if (taken) name_thief(worker, q, taken);
    if (!taken) ns_thread_leave_gate(worker);
    return first;
}

/* The probes of a round: a task, or NULL with `*probed`. `*held` is the lock of a level that the last one left. */
static ns_thread_task *probe_in_turn(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed,
                                     int32_t *held) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    ns_round round;
    uint32_t level, q;
    ns_round_begin(&round);
    for (;;) {
        ns_thread_view_queues(worker, wait);
        if (!ns_round_next(&round, &pool->tables.steal, &search->actor, &search->view, &level, &q)) return NULL;
        *probed = true;
        ns_search_locks_pass(&pool->locks, held, ns_search_locks_of_level(&pool->locks, level, q),
                             (uint32_t)worker->base.node);
        ns_thread_task *task = probe(worker, wait, level, q);
        if (task || wait->is_over(wait->context)) return task;
        if (pool->tables.backoff_after_probe) {
            ns_search_locks_pass(&pool->locks, held, NS_NO_LOCK, (uint32_t)worker->base.node);
            ns_thread_back_off(worker, ns_thread_next_wait_ps(worker, true));
        }
    }
}

ns_thread_task *ns_thread_go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed) {
    int32_t held = NS_NO_LOCK;
    *probed = false;
    ns_thread_task *task = probe_in_turn(worker, wait, probed, &held);
    ns_search_locks_pass(&ns_thread_pool_of(worker)->locks, &held, NS_NO_LOCK, (uint32_t)worker->base.node);
    return task;
}
