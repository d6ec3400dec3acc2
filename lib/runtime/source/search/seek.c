/* The search for a worker's next task: in its own queue, then in rounds of probes of other queues, with rests between
 * rounds. A wait says when the search is over without a task; a find is a task that the worker gets. */
#include <stdlib.h>

#include "base/bitset.h"
#include "execution/execution.h"
#include "search/search.h"

int ns_thread_search_create(ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_plan *plan = &pool->file.plan.steal;
    ns_pieces *memory = &worker->memory;
    int64_t *cursor = ns_pieces_take(memory, plan->levels, sizeof *cursor);
    int32_t *chance_ppm = ns_pieces_take(memory, plan->chances, sizeof *chance_ppm);
    ns_thread_search *search = &worker->search;
    search->view.length = ns_pieces_take(memory, plan->queue_count, sizeof *search->view.length);
    search->view.watch =
        ns_pieces_take(memory, (uint64_t)ns_set_words(plan->queue_count) * plan->watches, sizeof *search->view.watch);
    search->view.live = ns_pieces_take(memory, plan->workers, sizeof *search->view.live);
    search->view.awaited = ns_pieces_take(memory, plan->workers, sizeof *search->view.awaited);
    search->copy = ns_pieces_take(memory, (uint64_t)plan->levels + 1, sizeof *search->copy);
    search->bytes = ns_pieces_take(memory, plan->nodes, sizeof *search->bytes);
    search->similarity = ns_pieces_take(memory, plan->nodes, sizeof *search->similarity);
    search->objects = ns_pieces_take(memory, 2 * (uint64_t)plan->nodes, sizeof *search->objects);
    if (memory->is_short) return NS_ERROR_MEMORY;
    const uint64_t seed = ns_thread_seed(pool);
    ns_actor_init(&worker->search.actor, plan, (int32_t)worker->base.id, seed, cursor, chance_ppm);
    worker->own = worker->search.actor.own;
    return NS_OK;
}

/* ---- the own queue ----------------------------------------------------------------------------------------------- */

/* Take a task from the own queue if the queue has more than `keep` tasks (-1: more than its threshold s). Return NULL
 * if not. */
static ns_thread_task *pop_own(ns_thread_worker *worker, const ns_thread_wait *wait, int64_t keep) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (worker->own == NS_UNKNOWN) return NULL;
    const ns_task_queue *queue = pool->queues[worker->own];
    if (keep < 0) keep = ns_task_queue_thresholds(queue).low;
    const uint8_t end = pool->file.plan.steal.queues[worker->own].own_end;
    ns_thread_task *task;
    do {
        if (keep && ns_task_queue_length(queue) <= keep) return NULL;
        if (pool->watches && ns_task_queue_length(queue)) ns_thread_note_owner(worker, NS_OWNER_TAKES);
        task = pool->execution->take(worker, wait, (uint32_t)worker->own, true, (enum ns_queue_end)end);
    } while (!task && pool->copies && ns_task_queue_length(queue)); /* skip copies of claimed tasks */
    if (task) ns_thread_owe(pool->file.plan.costs.pop_ps);
    return task;
}

/* Compute the thresholds S and s of the worker's queue from measurements since the start of the run. */
static void compute_thresholds(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const ns_full_plan *plan = &pool->file.plan;
    const int64_t span_ps = ns_monotonic_ps() - pool->began_ps;
    if (worker->own == NS_UNKNOWN || span_ps <= 0) return;
    worker->search.thresholds_known = true;
    ns_task_queue *own = pool->queues[worker->own];
    const int32_t capacity = plan->steal.queues[worker->own].capacity;
    ns_measured seen = {.capacity = capacity ? capacity : INT64_C(1) << 62,
                        .span_ps = span_ps,
                        .executed = worker->base.tasks,
                        .busy_ps = span_ps - worker->search.idle_ps,
                        .queues = plan->steal.queue_count};
    /* relaxed: recent counts are enough */
    seen.pushes = (int64_t)ns_atomic_u64_load(&own->pushes, memory_order_relaxed);
    for (uint32_t q = 0; q < plan->steal.queue_count; q++) {
        seen.peak_sum += (int64_t)ns_atomic_u64_load(&pool->queues[q]->peak, memory_order_relaxed);
    }
    const ns_operation_costs *costs = &plan->costs;
    ns_task_queue_set_thresholds(own, ns_thresholds_computed(&plan->thresholds, costs->push_ps, costs->pop_ps, &seen));
    ns_thread_note_queue(pool, (uint32_t)worker->own);
}

/* ---- searches ---------------------------------------------------------------------------------------------------- */

/* Take a task from any queue, or else a waiting task from `fibers.aside`. Return NULL if there is none. Called if the
 * pool is quiescent: the strategy lets no worker have the tasks that are left, and the run ends with an error. */
static ns_thread_task *take_anything(ns_thread_worker *worker) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_task *task = NULL;
    for (uint32_t q = 0; !task && q < pool->file.plan.steal.queue_count; q++) {
        task = ns_thread_claim(ns_task_queue_take(pool->queues[q], (int32_t)q == worker->own, NS_FRONT, NULL, NULL));
    }
    if (task || !worker->fibers.aside) return task;
    task = worker->fibers.aside;
    worker->fibers.aside = task->next;
    return task;
}

/* Rest after a round without a find. */
static void rest(ns_thread_worker *worker, const ns_thread_wait *wait, bool probed) {
    const ns_full_plan *plan = &ns_thread_pool_of(worker)->file.plan;
    if (!probed) {
        ns_thread_count(worker, NS_NO_VICTIM, 1);
        if (plan->backoff_counts_empty) ns_thread_count(worker, NS_STEAL_ATTEMPTS, 1);
    }
    if (probed && plan->backoff_after_probe) return; /* each probe of the round has already waited */
    if (ns_thread_pool_of(worker)->sleepers) {
        ns_thread_rest(worker, wait, probed);
        return;
    }
    const int64_t wait_ps = ns_thread_next_wait_ps(worker, probed);
    if (ns_thread_is_patient(worker, wait_ps)) ns_thread_announce_no_work(worker, wait);
    ns_thread_back_off(worker, wait_ps);
}

/* Return the stolen task; or, if the strategy puts stolen tasks into the own queue first, put it there and return the
 * next task from the own queue, or NULL. */
static ns_thread_task *after_steal(ns_thread_worker *worker, const ns_thread_wait *wait, ns_thread_task *stolen) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const int64_t refill = pool->file.plan.refill;
    if (!refill) return stolen;
    ns_thread_leave_gate(worker); /* takes from the own queue need no gate */
    pool->execution->keep(worker, stolen);
    return pop_own(worker, wait, refill);
}

/* Search until a task is found or the wait is over. Return the task, or NULL. */
static ns_thread_task *search(ns_thread_worker *worker, const ns_thread_wait *wait) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool only_own = wait->task && pool->file.plan.join == NS_JOIN_OWN;
    ns_thread_task *task = NULL;
    while (!task && !wait->is_over(wait->context)) {
        bool probed = false;
        ns_thread_task *stolen = only_own ? NULL : ns_thread_go_round(worker, wait, &probed);
        if (stolen) {
            task = after_steal(worker, wait, stolen);
        } else if (!wait->is_over(wait->context)) {
            task = pop_own(worker, wait, 0);
            if (!task && ns_thread_is_quiescent(pool)) task = take_anything(worker);
            if (!task) rest(worker, wait, probed);
        }
    }
    return task;
}

static void yield_between_tasks(int64_t ps) {
#ifdef NS_TURNS
    ns_thread_owe(ps);
#else
    ns_yield();
#endif
}

ns_thread_task *ns_thread_seek(ns_thread_worker *worker, const ns_thread_wait *wait) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool ended_one = worker->base.tasks != worker->search.looked, over = wait->is_over(wait->context);
    worker->search.looked = worker->base.tasks;
    if (over) return NULL;
    if (ended_one && pool->file.plan.costs.yield_ps) yield_between_tasks(pool->file.plan.costs.yield_ps);
    ns_thread_task *task = pop_own(worker, wait, pool->file.plan.refill);
    if (!task) {
        const ns_full_plan *plan = &pool->file.plan;
        ns_thread_note_owner(worker, NS_OWNER_SEARCHES);
        const bool first_drain = plan->threshold_time == NS_THRESHOLDS_FIRST_DRAIN && pool->watches;
        if (first_drain && !worker->search.thresholds_known && worker->base.tasks) compute_thresholds(worker);
        const uint64_t began = ns_ticks();
        ns_thread_note_search(pool);
        if (pool->sleepers) ns_thread_begin_search(worker, wait);
        task = search(worker, wait);
        if (pool->sleepers) ns_thread_end_search(worker);
        ns_thread_note_search(pool);
        worker->search.idle_ps += ns_ticks_to_ps(pool->rate, ns_ticks() - began);
    }
    if (!task) return NULL;
    worker->search.fails = 0;
    ns_thread_note_spawner(worker, task);
    return task;
}
