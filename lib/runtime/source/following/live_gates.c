#include "following/live_gates.h"

static ns_atomic_u64 *atomic(const int64_t *count) { return (ns_atomic_u64 *)(uintptr_t)count; }

/* The value before. */
static int64_t add(int64_t *count, int64_t number) {
    /* acq_rel: who takes the last one away has seen what those before did */
    return (int64_t)ns_atomic_u64_fetch_add(atomic(count), (uint64_t)number, memory_order_acq_rel);
}

static int64_t now(const int64_t *count) {
    return (int64_t)ns_atomic_u64_load(atomic(count), memory_order_relaxed); /* relaxed: a hint; the gate decides */
}

void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited) {
    const ns_live_subtrees *counts = &pool->graph.live;
    for (uint32_t unit = 0; unit < pool->base.workers; unit++) {
        live[unit] = now(&counts->live[unit]);
        awaited[unit] = now(&counts->awaited[unit]);
    }
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */

bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!(level->flags & NS_FLAG_GATED) || !pool->graph.counts_live) return true;
    ns_live_subtrees *counts = &pool->graph.live;
    const int32_t unit = counts->gate[worker->base.id];
    if (level->flags & NS_FLAG_OWN_FIRST && now(&counts->awaited[unit])) return false;
    uint64_t live = (uint64_t)now(&counts->live[unit]);
    do {
        if ((int64_t)live >= pool->tables.steal.live_most) return false;
    } while (!ns_atomic_u64_compare_exchange(atomic(&counts->live[unit]), &live, live + 1, memory_order_acq_rel,
                                             memory_order_relaxed)); /* acq_rel: as above */
    worker->in_gate = true;
    return true;
}

void ns_thread_leave_gate(ns_thread_worker *worker) {
    if (!worker->in_gate) return;
    ns_live_subtrees *counts = &ns_thread_pool_of(worker)->graph.live;
    add(&counts->live[counts->gate[worker->base.id]], -1);
    worker->in_gate = false;
}

/* ---- subtrees ---------------------------------------------------------------------------------------------------- */

void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row) {
    ns_live_subtrees *counts = &ns_thread_pool_of(worker)->graph.live;
    if (row != NS_NO_ROW && counts->root[row] == (int64_t)row && counts->unit[row] == NS_UNKNOWN) {
        const int32_t unit = counts->gate[worker->base.id], label = ns_live_label(counts, row);
        counts->unit[row] = unit;
        /* relaxed: nobody knows of the subtree yet */
        ns_atomic_u64_store(atomic(&counts->left[row]), 1, memory_order_relaxed);
        if (!worker->in_gate) add(&counts->live[unit], 1);
        worker->in_gate = false;
        if (label != NS_UNKNOWN) add(&counts->awaited[label], -1);
    }
    ns_thread_leave_gate(worker);
}

void ns_thread_live_create(ns_thread_pool *pool, uint32_t row) {
    ns_live_subtrees *counts = &pool->graph.live;
    const int64_t root = row == NS_NO_ROW ? NS_UNKNOWN : counts->root[row];
    if (root != NS_UNKNOWN && root != (int64_t)row) add(&counts->left[root], 1);
}

void ns_thread_live_end(ns_thread_pool *pool, uint32_t row) {
    ns_live_subtrees *counts = &pool->graph.live;
    const int64_t root = row == NS_NO_ROW ? NS_UNKNOWN : counts->root[row];
    if (root == NS_UNKNOWN || add(&counts->left[root], -1) != 1) return;
    const int32_t unit = counts->unit[root];
    counts->unit[root] = NS_UNKNOWN;
    add(&counts->live[unit], -1);
}
