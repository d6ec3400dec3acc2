/* What a worker sees of the queues, and the watch bits that are noted at each change of a queue. */
#include "base/bitset.h"
#include "following/live_gates.h"
#include "following/noted_tasks.h"
#include "search/search.h"

/* The watch bits where they are not noted at pushes and pops: from the lengths of the queues. */
static void watch_lengths(const ns_thread_pool *pool, uint64_t *bits) {
    const ns_plan *plan = &pool->tables.steal;
    for (uint32_t q = 0; q < plan->queue_count; q++) {
        const int64_t length = ns_task_queue_length(pool->queues[q]);
        const ns_thresholds thresholds = ns_task_queue_thresholds(pool->queues[q]);
        for (uint32_t watch = 0; watch < plan->watches; watch++) {
            const bool marked = ns_watch_bit(&plan->watch[2 * watch], false, length, thresholds);
            ns_set_put(bits + (size_t)watch * ns_set_words(plan->queue_count), q, marked);
        }
    }
}

static void look_at_watches(const ns_thread_pool *pool, uint64_t *bits) {
    if (pool->notes_watches)
        ns_watch_board_copy(&pool->board, bits);
    else
        watch_lengths(pool, bits);
}

/* In join `leapfrog`: in whose join the worker waits, and whom it may steal from. */
static void see_taker(ns_actor *actor, const ns_thread_wait *wait) {
    actor->leapfrogs = true;
    actor->leaps = wait && wait->task;
    actor->taker = actor->leaps ? ns_thread_taker_of((const ns_thread_task *)wait->task) : NS_UNKNOWN;
}

void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    if (pool->watches) look_at_watches(pool, (uint64_t *)(uintptr_t)search->view.watch);
    if (pool->sees_lengths) {
        int64_t *length = (int64_t *)(uintptr_t)search->view.length;
        for (uint32_t q = 0; q < pool->tables.steal.queue_count; q++) length[q] = ns_task_queue_length(pool->queues[q]);
    }
    /* relaxed: the last thief, soon enough */
    const uint32_t thief = ns_atomic_u32_load(&worker->thief, memory_order_relaxed);
    search->actor.thief = thief ? (int32_t)(thief - 1) : NS_UNKNOWN;
    search->view.iteration = pool->graph.iteration;
    search->view.switches = pool->graph.boundary.in_force.switches;
    if (pool->graph.counts_live)
        ns_thread_see_live(pool, (int64_t *)(uintptr_t)search->view.live, (int64_t *)(uintptr_t)search->view.awaited);
    if (pool->tables.join == NS_JOIN_LEAPFROG) see_taker(&search->actor, wait);
}

void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q) {
    if (!pool->notes_watches) return;
    const ns_task_queue *queue = pool->queues[q];
    ns_watch_board_mark(&pool->board, q, ns_task_queue_length(queue), ns_task_queue_thresholds(queue));
}

void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!pool->notes_watches || worker->own == NS_UNKNOWN) return;
    const ns_task_queue *own = pool->queues[worker->own];
    ns_watch_board_owner_steps(&pool->board, (uint32_t)worker->own, step, ns_task_queue_length(own),
                               ns_task_queue_thresholds(own));
}
