/* How a worker finds its next task: its own queue, rounds of probes by the tables of the strategy, waits after
 * fruitless ones; and into which queue a new task goes. What numasim/engine/search.py says in virtual time, on real
 * queues.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "threads/thread_lane.h"

enum { DOUBTFUL_ROUNDS = 256 };                     /* after so many it asks whether any of them can ever succeed, */
static const int64_t LONG_PS = INT64_C(1000000000); /* and before it waits longer than this */
static const int64_t SPINNING_PS = 2000000;         /* up to this it keeps its CPU */
enum { PATIENT_ROUNDS = 64 };                       /* fruitless rounds after which a worker lets others have its CPU */

int ns_thread_search_create(ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_plan *plan = &pool->tables.steal;
    int64_t *cursor = calloc((size_t)plan->levels + 1, sizeof *cursor);
    int32_t *chance_ppm = calloc((size_t)plan->chances + 1, sizeof *chance_ppm);
    int64_t *length = calloc((size_t)plan->queue_count + 1, sizeof *length);
    uint8_t *watch = calloc((size_t)plan->queue_count * plan->watches + 1, sizeof *watch);
    worker->search.bytes = calloc(2 * (size_t)plan->nodes, sizeof *worker->search.bytes);
    worker->search.objects = calloc(2 * (size_t)plan->nodes, sizeof *worker->search.objects);
    worker->search.view = (ns_view){.length = length, .watch = watch};
    worker->search.actor = (ns_actor){.cursor = cursor, .chance_ppm = chance_ppm};
    const bool all = cursor && chance_ppm && length && watch && worker->search.bytes && worker->search.objects;
    if (!all) return NS_ERROR_MEMORY;
    worker->search.similarity = worker->search.bytes + plan->nodes;
    const uint64_t seed = pool->base.options.seed ? pool->base.options.seed : pool->tables.seed;
    ns_actor_init(&worker->search.actor, plan, (int32_t)worker->base.id, seed, cursor, chance_ppm);
    worker->own = worker->search.actor.own;
    return NS_OK;
}

void ns_thread_search_destroy(ns_thread_worker *worker) {
    free(worker->search.bytes);
    free(worker->search.objects);
    free(worker->search.actor.cursor);
    free(worker->search.actor.chance_ppm);
    free((void *)(uintptr_t)worker->search.view.length);
    free((void *)(uintptr_t)worker->search.view.watch);
}

/* ---- what a worker sees ------------------------------------------------------------------------------------------ */

/* The watch bits of lanes, whose owners note nothing at a push or a pop: from their lengths. */
static void watch_lanes(const ns_thread_pool *pool, uint8_t *bits) {
    const ns_plan *plan = &pool->tables.steal;
    for (uint32_t q = 0; q < plan->queue_count; q++) {
        const int64_t length = ns_task_queue_length(pool->queues[q]);
        const ns_thresholds thresholds = ns_task_queue_thresholds(pool->queues[q]);
        for (uint32_t watch = 0; watch < plan->watches; watch++) {
            bits[watch * plan->queue_count + q] = ns_watch_bit(&plan->watch[2 * watch], false, length, thresholds);
        }
    }
}

static void look_at_watches(const ns_thread_pool *pool, uint8_t *bits) {
    if (pool->plain)
        watch_lanes(pool, bits);
    else
        ns_watch_board_copy(&pool->board, bits);
}

/* See the queues as they are now, as far as the strategy looks at them. */
static void look_around(ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    if (pool->watches) look_at_watches(pool, (uint8_t *)(uintptr_t)search->view.watch);
    if (pool->sees_lengths) {
        int64_t *length = (int64_t *)(uintptr_t)search->view.length;
        for (uint32_t q = 0; q < pool->tables.steal.queue_count; q++) length[q] = ns_task_queue_length(pool->queues[q]);
    }
    /* relaxed: whoever robbed last, soon enough */
    const uint32_t thief = ns_atomic_u32_load(&worker->thief, memory_order_relaxed);
    search->actor.thief = thief ? (int32_t)(thief - 1) : NS_UNKNOWN;
}

/* Queue `q` has been changed, or found to be other than its bits say. */
static void mark(ns_thread_pool *pool, uint32_t q) {
    if (!pool->watches || pool->plain) return;
    const ns_task_queue *queue = pool->queues[q];
    ns_watch_board_mark(&pool->board, q, ns_task_queue_length(queue), ns_task_queue_thresholds(queue));
}

/* Whether the task that joins strictly may execute `task`: one of its descendants. */
static bool descends(void *context, void *task) {
    const ns_thread_task *waiting = context;
    for (const ns_thread_task *each = task; each; each = each->parent) {
        if (each == waiting) return true;
    }
    return false;
}

/* About to take a task: what the worker may have said of its hopes holds no more. */
static void hope_again(ns_thread_worker *worker) {
    /* seq_cst: who takes a task has not said that there is none */
    if (!ns_thread_pool_of(worker)->plain) ns_atomic_u64_store(&worker->hopeless, 0, memory_order_seq_cst);
}

/* Who takes in which join. */
typedef struct {
    ns_thread_worker *worker;
    const ns_thread_task *waiting;
} strict_taker;

static bool may_take(void *context, void *task) {
    const strict_taker *taker = context;
    const bool may = descends((void *)(uintptr_t)taker->waiting, task);
    if (may) hope_again(taker->worker);
    return may;
}

static ns_thread_task *take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                            uint8_t end) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->plain) return ns_thread_lane_take(worker, wait->task, q);
    strict_taker taker = {worker, (const ns_thread_task *)wait->task};
    const bool picky = pool->tables.join == NS_JOIN_STRICT && wait->task;
    if (!picky && ns_task_queue_length(pool->queues[q])) hope_again(worker);
    ns_thread_task *task =
        ns_task_queue_take(pool->queues[q], is_owner, (enum ns_queue_end)end, picky ? may_take : NULL, &taker);
    mark(pool, q);
    return task;
}

/* ---- the own queue ----------------------------------------------------------------------------------------------- */

/* The next own task where the queue holds more than `keep` (-1: its threshold s). */
static ns_thread_task *pop_own(ns_thread_worker *worker, const ns_thread_wait *wait, int64_t keep) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (worker->own == NS_UNKNOWN) return NULL;
    const ns_task_queue *queue = pool->queues[worker->own];
    if (keep < 0) keep = ns_task_queue_thresholds(queue).low;
    if (keep && ns_task_queue_length(queue) <= keep) return NULL;
    return take(worker, wait, (uint32_t)worker->own, true, pool->tables.steal.queues[worker->own].own_end);
}

/* S and s from what the worker has measured, once its queue has drained for the first time. */
static void compute_thresholds(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_plan_tables *tables = &pool->tables;
    const int64_t span_ps = ns_monotonic_ps() - pool->began_ps;
    if (worker->own == NS_UNKNOWN || span_ps <= 0) return;
    worker->search.thresholds_known = true;
    ns_task_queue *own = pool->queues[worker->own];
    const int32_t capacity = tables->steal.queues[worker->own].capacity;
    ns_measured seen = {.capacity = capacity ? capacity : INT64_C(1) << 62,
                        .span_ps = span_ps,
                        .executed = worker->base.tasks,
                        .busy_ps = span_ps - worker->search.idle_ps,
                        .queues = tables->steal.queue_count};
    /* relaxed: counts of others are as good as they are */
    seen.pushes = (int64_t)ns_atomic_u64_load(&own->pushes, memory_order_relaxed);
    for (uint32_t q = 0; q < tables->steal.queue_count; q++) {
        seen.peak_sum += (int64_t)ns_atomic_u64_load(&pool->queues[q]->peak, memory_order_relaxed);
    }
    ns_task_queue_set_thresholds(own, ns_thresholds_computed(&tables->thresholds, pool->push_ps, pool->pop_ps, &seen));
    mark(pool, (uint32_t)worker->own);
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

/* The robbed worker is to know its thief. */
static void tell_robbed(const ns_thread_worker *worker, uint32_t q) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const int32_t robbed = pool->tables.steal.queues[q].owner;
    if (pool->tables.steal.own[robbed] != q || robbed == (int32_t)worker->base.id) return;
    /* relaxed: as in look_around */
    ns_atomic_u32_store(&pool->worker[robbed]->thief, worker->base.id + 1, memory_order_relaxed);
}

/* Put what was taken beyond the first task into the own queue. */
static void keep_for_later(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->plain) {
        ns_thread_lane_keep(worker, task);
        return;
    }
    if (!ns_task_queue_push(pool->queues[worker->own], task)) ns_thread_execute(worker, task);
    mark(pool, (uint32_t)worker->own);
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
    const int64_t wanted = ns_level_amount(by, ns_task_queue_length(pool->queues[q]));
    const bool is_owner = !attempt && (int32_t)q == worker->own;
    ns_thread_task *first = NULL;
    int64_t taken = 0;
    while (taken < wanted) {
        ns_thread_task *task = take(worker, wait, q, is_owner, attempt ? queue->steal_end : queue->own_end);
        if (!task) break;
        if (taken++)
            keep_for_later(worker, task);
        else
            first = task;
    }
    if (!wanted) mark(pool, q);
    if (attempt) count_attempt(worker, q, taken);
    ns_actor_found(&worker->search.actor, &pool->anonymous, 0, level, q, taken); /* the only actor that it sees */
    if (taken) tell_robbed(worker, q);
    return first;
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

static bool is_stuck(const ns_thread_pool *pool) {
    return ns_atomic_u32_load(&pool->stuck, memory_order_relaxed); /* relaxed: soon enough */
}

/* Rest for `wait_ps`, and let others have the CPU if that, or all of this, takes long. */
static void back_off(ns_thread_worker *worker, int64_t wait_ps) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint64_t began = ns_ticks(), span = ns_ps_to_ticks(pool->rate, wait_ps);
    const bool yields = pool->crowded || wait_ps > SPINNING_PS || worker->search.fails % PATIENT_ROUNDS == 0;
    do {
        if (yields)
            sched_yield();
        else
            ns_pause();
    } while (ns_ticks() - began < span && !ns_thread_task_is_joined(&pool->origin) && !is_stuck(pool));
    ns_thread_count(worker, NS_IDLE_BACKOFF_PS, ns_ticks_to_ps(pool->rate, ns_ticks() - began));
}

/* How long to rest after one more fruitless round, or probe. */
static int64_t next_wait_ps(ns_thread_worker *worker, bool probed) {
    return ns_backoff_wait_ps(&ns_thread_pool_of(worker)->tables.backoff, ++worker->search.fails, probed);
}

/* A probe under the locks that it is made under, of which the level's stays held. */
static ns_thread_task *probe_locked(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t level, uint32_t q,
                                    int32_t *held) {
    const ns_search_locks *locks = &ns_thread_pool_of(worker)->locks;
    const uint32_t node = (uint32_t)worker->base.node;
    int32_t of_queue = NS_NO_LOCK;
    ns_search_locks_pass(locks, held, ns_search_locks_of_level(locks, level, q), node);
    ns_search_locks_pass(locks, &of_queue, ns_search_locks_of_queue(locks, q), node);
    ns_thread_task *task = probe(worker, wait, level, q);
    ns_search_locks_pass(locks, &of_queue, NS_NO_LOCK, node);
    return task;
}

/* The probes of a round: a task, or NULL with `*probed`. `*held` is the lock of a level that the last one left. */
static ns_thread_task *go_round_locking(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed,
                                        int32_t *held) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    ns_round round;
    uint32_t level, q;
    ns_round_begin(&round);
    for (;;) {
        look_around(worker);
        if (!ns_round_next(&round, &pool->tables.steal, &search->actor, &search->view, &level, &q)) return NULL;
        *probed = true;
        ns_thread_task *task = probe_locked(worker, wait, level, q, held);
        if (task || wait->is_over(wait->context)) return task;
        if (pool->tables.backoff_after_probe) {
            ns_search_locks_pass(&pool->locks, held, NS_NO_LOCK, (uint32_t)worker->base.node);
            back_off(worker, next_wait_ps(worker, true));
        }
    }
}

static ns_thread_task *go_round(ns_thread_worker *worker, const ns_thread_wait *wait, bool *probed) {
    int32_t held = NS_NO_LOCK;
    *probed = false;
    ns_thread_task *task = go_round_locking(worker, wait, probed, &held);
    ns_search_locks_pass(&ns_thread_pool_of(worker)->locks, &held, NS_NO_LOCK, (uint32_t)worker->base.node);
    return task;
}

/* What `has_tasks` asks for. */
typedef struct {
    const ns_thread_pool *pool;
    const ns_thread_task *waiting; /* in a strict join, or NULL */
} hope;

/* Look at a task without taking it. */
typedef struct {
    const ns_thread_task *waiting;
    bool suits;
} glance;

static bool look_at(void *context, void *task) {
    glance *self = context;
    self->suits = descends((void *)(uintptr_t)self->waiting, task);
    return false;
}

/* Whether the queue has anything that the worker may execute. */
static bool has_tasks(void *context, uint32_t level, uint32_t q) {
    const hope *self = context;
    const ns_plan *plan = &self->pool->tables.steal;
    if (ns_task_queue_length(self->pool->queues[q]) == 0 || !self->waiting) {
        return ns_task_queue_length(self->pool->queues[q]) > 0;
    }
    const bool attempt = (plan->level[level].flags & NS_FLAG_ATTEMPT) != 0;
    const uint8_t end = attempt ? plan->queues[q].steal_end : plan->queues[q].own_end;
    glance found = {self->waiting, false};
    ns_task_queue_take(self->pool->queues[q], false, (enum ns_queue_end)end, look_at, &found);
    return found.suits;
}

/* Whether the worker could find a task if all others did nothing. */
static bool has_hope(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool strict = pool->tables.join == NS_JOIN_STRICT && wait->task;
    if (!strict && worker->own != NS_UNKNOWN && ns_task_queue_length(pool->queues[worker->own])) return true;
    if (wait->task && pool->tables.join == NS_JOIN_OWN) return false;
    hope asked = {pool, strict ? (const ns_thread_task *)wait->task : NULL};
    look_around(worker);
    const ns_thread_search *search = &worker->search;
    return ns_any_within_reach(&pool->tables.steal, &search->actor, &search->view, has_tasks, &asked);
}

/* Whether nobody can find anything any more: all have said so since the last change, or sleep. */
static bool is_hopeless(const ns_thread_pool *pool, uint64_t stamp) {
    /* acquire: in no other order than it was written in */
    uint32_t hopeless = ns_atomic_u32_load(&pool->blocked, memory_order_acquire);
    for (uint32_t id = 0; id < pool->base.workers; id++) {
        hopeless += ns_atomic_u64_load(&pool->worker[id]->hopeless, memory_order_acquire) == stamp;
    }
    return hopeless >= pool->base.workers;
}

/* A worker begins to search, or ends that: what others have found out about their hopes is of yesterday. */
static void note_change(ns_thread_pool *pool) {
    /* seq_cst: whoever counts this sees what was done before, and asks anew */
    if (!pool->plain) ns_atomic_u64_fetch_add(&pool->changes, 1, memory_order_seq_cst);
}

/* Say whether there is hope; where there is none for anybody, the run is to end with an error, and does so soonest if
 * all take whatever they see. */
static void doubt(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->plain) return; /* who joins has all that it waits for in its own queue, or it is being executed */
    /* seq_cst: see note_change */
    const uint64_t stamp = ns_atomic_u64_load(&pool->changes, memory_order_seq_cst) + 1;
    const bool hopes = has_hope(worker, wait) || wait->is_over(wait->context);
    ns_atomic_u64_store(&worker->hopeless, hopes ? 0 : stamp, memory_order_seq_cst);
    if (hopes || ns_thread_task_is_joined(&pool->origin) || !is_hopeless(pool, stamp)) return;
    ns_thread_pool_note(pool, NS_ERROR_DEADLOCK, "the strategy and the joins let no worker have them");
    ns_atomic_u32_store(&pool->stuck, 1, memory_order_relaxed); /* relaxed: seen soon */
}

/* Take a task from wherever one is. */
static ns_thread_task *take_anything(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_task *task = NULL;
    for (uint32_t q = 0; !task && q < pool->tables.steal.queue_count; q++) {
        task = ns_task_queue_take(pool->queues[q], (int32_t)q == worker->own, NS_FRONT, NULL, NULL);
    }
    return task;
}

/* After a fruitless round. */
static void rest(ns_thread_worker *worker, const ns_thread_wait *wait, bool probed) {
    const ns_plan_tables *tables = &ns_thread_pool_of(worker)->tables;
    if (!probed) {
        ns_thread_count(worker, NS_NO_VICTIM, 1);
        if (tables->backoff_counts_empty) ns_thread_count(worker, NS_STEAL_ATTEMPTS, 1);
    }
    if (probed && tables->backoff_after_probe) return; /* each probe has had its wait */
    const int64_t wait_ps = next_wait_ps(worker, probed);
    if (wait_ps > LONG_PS || worker->search.fails % DOUBTFUL_ROUNDS == 0) doubt(worker, wait);
    back_off(worker, wait_ps);
}

/* What a round has brought joins the own queue where that is to be refilled, and the worker decides again. */
static ns_thread_task *after_steal(ns_thread_worker *worker, const ns_thread_wait *wait, ns_thread_task *stolen) {
    const int64_t refill = ns_thread_pool_of(worker)->tables.refill;
    if (!refill) return stolen;
    keep_for_later(worker, stolen);
    return pop_own(worker, wait, refill);
}

/* Search until something is found or the wait is over. */
static ns_thread_task *search(ns_thread_worker *worker, const ns_thread_wait *wait) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool only_own = wait->task && pool->tables.join == NS_JOIN_OWN;
    ns_thread_task *task = NULL;
    while (!task && !wait->is_over(wait->context)) {
        bool probed = false;
        ns_thread_task *stolen = only_own ? NULL : go_round(worker, wait, &probed);
        if (stolen) {
            task = after_steal(worker, wait, stolen);
        } else if (!wait->is_over(wait->context)) {
            task = pop_own(worker, wait, 0);
            if (!task && is_stuck(pool)) task = take_anything(worker);
            if (!task) rest(worker, wait, probed);
        }
    }
    return task;
}

ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (wait->is_over(wait->context)) return NULL;
    ns_thread_task *task = pop_own(worker, wait, pool->tables.refill);
    if (!task) {
        const ns_plan_tables *tables = &pool->tables;
        const bool first_drain = tables->threshold_time == NS_THRESHOLDS_FIRST_DRAIN && pool->watches;
        if (first_drain && !worker->search.thresholds_known && worker->base.tasks) compute_thresholds(worker);
        const uint64_t began = ns_ticks();
        note_change(pool);
        task = search(worker, wait);
        note_change(pool);
        worker->search.idle_ps += ns_ticks_to_ps(pool->rate, ns_ticks() - began);
    }
    if (task) worker->search.fails = 0;
    return task;
}

/* ---- placing ----------------------------------------------------------------------------------------------------- */

/* Whether the worker executes its spawns at once: from a full own queue on, until it has emptied somewhat. */
static bool must_inline(const ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (worker->own == NS_UNKNOWN) return false;
    const ns_queue *queue = &pool->tables.steal.queues[worker->own];
    ns_task_queue *own = pool->queues[worker->own];
    if (queue->full != NS_FULL_INLINE || !queue->capacity) return false;
    own->overflowed =
        ns_overflows(own->overflowed, ns_task_queue_length(own), queue->capacity, pool->tables.inline_resume_ppm);
    return own->overflowed;
}

/* A task has come into the worker's own queue. */
static void count_push(const ns_thread_pool *pool, ns_task_queue *own) {
    if (!pool->watches) return;
    const uint64_t pushes = ns_atomic_u64_load(&own->pushes, memory_order_relaxed); /* relaxed: only the owner writes */
    const uint64_t peak = ns_atomic_u64_load(&own->peak, memory_order_relaxed);
    const uint64_t length = (uint64_t)ns_task_queue_length(own);
    ns_atomic_u64_store(&own->pushes, pushes + 1, memory_order_relaxed);
    if (length > peak) ns_atomic_u64_store(&own->peak, length, memory_order_relaxed);
}

static bool push(ns_thread_worker *worker, uint32_t q, ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!ns_task_queue_push(pool->queues[q], task)) return false;
    if ((int32_t)q == worker->own) count_push(pool, pool->queues[q]);
    mark(pool, q);
    return true;
}

/* The objects that a task accesses, by their homes and whether it reads or writes them; how many groups. */
static uint32_t group_objects(ns_thread_worker *worker, const ns_access *accesses, uint32_t count) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint32_t nodes = pool->tables.steal.nodes;
    ns_objects *groups = worker->search.objects;
    for (uint32_t at = 0; at < 2 * nodes; at++) {
        groups[at] = (ns_objects){.home = (int32_t)(at % nodes), .mode = at < nodes ? NS_COUNT_READS : NS_COUNT_WRITES};
    }
    for (uint32_t at = 0; at < count; at++) {
        const bool writes = accesses[at].mode & NS_WRITE;
        memset(worker->search.bytes, 0, nodes * sizeof *worker->search.bytes);
        ns_object_homes_find(pool->homes, &accesses[at], NS_NO_HOME, worker->search.bytes);
        for (uint32_t home = 0; home < nodes; home++) {
            ns_objects *group = &groups[home + (writes ? nodes : 0)];
            group->bytes += worker->search.bytes[home];
            group->count += worker->search.bytes[home] > 0;
        }
    }
    return 2 * nodes;
}

bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (must_inline(worker)) return false;
    if (pool->own_dispatch) return push(worker, (uint32_t)worker->own, task);
    ns_new_task placed = {.index = worker->search.placed++ % pool->tasks,
                          .count = pool->tasks,
                          .source = true,
                          .similarity = worker->search.similarity};
    if (pool->homes) {
        placed.object_groups = group_objects(worker, accesses, count);
        placed.objects = worker->search.objects;
    }
    for (;;) {
        look_around(worker);
        const int32_t q = ns_place(&pool->tables.steal, &worker->search.actor, &worker->search.view, &placed);
        if (q == NS_UNKNOWN) return false;
        if (push(worker, (uint32_t)q, task)) return true; /* else somebody else has filled it meanwhile */
    }
}
