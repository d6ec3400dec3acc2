/* The choice of the queue for a new task. */
#include <string.h>

#include "following/noted_tasks.h"
#include "policy/dispatch.h"
#include "search/search.h"

/* Return whether the worker executes its spawned tasks at once: from the moment when its own queue is full, until the
 * queue has drained to the part of its capacity that the plan gives. */
static bool must_inline(const ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (worker->own == NS_UNKNOWN) return false;
    const ns_queue *queue = &pool->file.plan.steal.queues[worker->own];
    ns_task_queue *own = pool->queues[worker->own];
    if (queue->full != NS_FULL_INLINE || !queue->capacity) return false;
    own->overflowed =
        ns_overflows(own->overflowed, ns_task_queue_length(own), queue->capacity, pool->file.plan.inline_resume_ppm);
    return own->overflowed;
}

/* Count a push into the worker's own queue, and keep the greatest length of the queue. */
static void count_push(const ns_thread_pool *pool, ns_task_queue *own) {
    if (!pool->watches) return;
    const uint64_t pushes = ns_atomic_u64_load(&own->pushes, memory_order_relaxed); /* relaxed: only the owner writes */
    const uint64_t peak = ns_atomic_u64_load(&own->peak, memory_order_relaxed);
    const uint64_t length = (uint64_t)ns_task_queue_length(own);
    ns_atomic_u64_store(&own->pushes, pushes + 1, memory_order_relaxed);
    if (length > peak) ns_atomic_u64_store(&own->peak, length, memory_order_relaxed);
}

static bool push(ns_thread_worker *worker, uint32_t q, void *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool held = pool->sleeps && ns_task_queue_length(pool->queues[q]);
    if (!ns_task_queue_push(pool->queues[q], task)) return false;
    if ((int32_t)q == worker->own) count_push(pool, pool->queues[q]);
    ns_thread_note_queue(pool, q);
    if (__builtin_expect(pool->sleeps, 0)) ns_thread_wake_for_task(worker, q, held);
    return true;
}

/* Sum up the objects (memory) that a task accesses, by the node where they lie and by reads or writes, in
 * `search.objects`. Return the number of sums. */
static uint32_t group_objects(ns_thread_worker *worker, const ns_access *accesses, uint32_t count) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    const uint32_t nodes = pool->file.plan.steal.nodes;
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

/* Put a task into the queue that the strategy chooses. Return false if no queue has room, or the worker executes the
 * task itself. `dealt`: the task is a root (a first task) before the run. The first root that would go only to the own
 * queue stays with the worker. A queue of another worker is locked meanwhile if it has a lock, unless `dealt`. */
static bool place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count,
                  bool dealt) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    const bool keeps = dealt && !worker->agenda;
    if (must_inline(worker)) return false;
    if (pool->own_dispatch) return !keeps && push(worker, (uint32_t)worker->own, task);
    ns_new_task placed = {.count = 1,
                          .source = true,
                          .tier = NS_TIER_LOCAL,
                          .label = NS_UNKNOWN,
                          .copy = worker->search.copy,
                          .similarity = worker->search.similarity};
    if (pool->graph.knows_rows) {
        placed.tier = ns_thread_tier_of(pool, task);
        placed.label = ns_thread_label_of(pool, task);
        ns_thread_number(pool, task, &placed);
    }
    if (pool->homes) {
        placed.object_groups = group_objects(worker, accesses, count);
        placed.objects = worker->search.objects;
    }
    for (;;) {
        ns_thread_view_queues(worker, NULL);
        const int32_t q = ns_place(&pool->file.plan.steal, &worker->search.actor, &worker->search.view, &placed);
        if (q == NS_UNKNOWN || (keeps && q == worker->own && !placed.copies)) return false;
        int32_t held = NS_NO_LOCK;
        if (!dealt && q != worker->own) ns_thread_pass_lock(worker, &held, ns_queue_lock(&pool->file.plan, q));
        const bool pushed = ns_thread_push_copies(worker, (uint32_t)q, placed.copy, placed.copies, task, push);
        ns_thread_pass_lock(worker, &held, NS_NO_LOCK);
        if (pushed) return true; /* otherwise another worker has filled the queue meanwhile */
    }
}

bool ns_thread_place(ns_thread_worker *worker, ns_thread_task *task, const ns_access *accesses, uint32_t count) {
    const ns_full_plan *plan = &ns_thread_pool_of(worker)->file.plan;
    if (plan->puts_take_time) ns_thread_pay(plan->costs.push_ps, NS_RANK_PUT);
    return place(worker, task, accesses, count, false);
}

bool ns_thread_deal(ns_thread_worker *worker, ns_thread_task *root) { return place(worker, root, NULL, 0, true); }
