#include "driver/ring.h"

#include "platform/atomics.h"
#include "platform/ticks.h"
#include "threads/worker.h"

enum { HOPS = 20000 }; /* in all, about: some milliseconds among any number of workers */

typedef struct {
    NS_OWN_LINE ns_atomic_u64 ball;
    NS_OWN_LINE int64_t took_ps;
} ring;

/* The hops of as many rounds as come near HOPS. */
static uint64_t whole_rounds(uint64_t workers) { return (HOPS + workers - 1) / workers * workers; }

/* Each worker waits for its turn, and passes the ball on. */
static void pass(ns_task *self, void *arguments) {
    ring *shared = *(ring **)arguments;
    const uint64_t workers = ns_task_workers(self), mine = ns_task_worker(self);
    const uint64_t last = whole_rounds(workers);
    const int64_t began_ps = ns_monotonic_ps();
    for (uint64_t turn = mine; turn < last; turn += workers) {
        /* relaxed: nothing but the line itself is handed over */
        while (ns_atomic_u64_load(&shared->ball, memory_order_relaxed) != turn) continue;
        ns_atomic_u64_store(&shared->ball, turn + 1, memory_order_relaxed);
    }
    if (mine == workers - 1) shared->took_ps = ns_monotonic_ps() - began_ps;
}

int ns_ring_measure(int64_t *hop_ps, ns_pool *pool) {
    ring shared = {0}, *arguments = &shared;
    *hop_ps = 0;
    if (pool->options.mode != NS_MODE_NATIVE || pool->workers < 2) return NS_OK;
    if (((const ns_thread_pool *)pool)->crowded) return NS_OK;
    const int error = ns_pool_team(pool, pass, &arguments, sizeof arguments);
    *hop_ps = shared.took_ps / (int64_t)whole_rounds(pool->workers);
    return error;
}
