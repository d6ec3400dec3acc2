/* A worker's view of queues, copies of tasks in several queues, and takes from queues that are not lanes. A watch has a
 * bit for each queue, which says whether its length has passed a bound, or whether its owner sleeps. */
#include <stdlib.h>

#include "base/bitset.h"
#include "execution/execution.h"
#include "search/search.h"

/* ---- a worker's view --------------------------------------------------------------------------------------------- */

/* Set the bit of queue `q` in each watch in `bits`: whether the owner sleeps; else the bit on the watch board if pushes
 * and pops note bits there; else the bit that follows from the queue's length. */
static void look_at_watches(const ns_thread_pool *pool, uint64_t *bits, uint32_t q) {
    const ns_plan *plan = &pool->file.plan.steal;
    const int64_t length = ns_task_queue_length(pool->queues[q]);
    const ns_thresholds thresholds = ns_task_queue_thresholds(pool->queues[q]);
    for (uint32_t watch = 0; watch < plan->watches; watch++) {
        const int32_t *bound = &plan->watch[2 * watch];
        const bool marked = bound[0] == NS_ASLEEP_MARK
                                ? pool->sleeps && ns_sleepers_has(pool->sleepers, (uint32_t)plan->queues[q].owner)
                            : pool->notes_watches ? ns_watch_board_has(&pool->board, watch, q)
                                                  : ns_watch_bit(bound, false, length, thresholds);
        ns_set_put(bits + (size_t)watch * ns_set_words(plan->queue_count), q, marked);
    }
}

/* Read the present iteration, the switches, and the counts of live subtrees. */
static void look_at_rest(ns_thread_worker *worker) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_view *view = &worker->search.view;
    view->iteration = pool->graph.iteration;
    view->switches = pool->graph.boundary.in_force.switches;
    if (pool->graph.counts_live)
        ns_thread_see_live(pool, (int64_t *)(uintptr_t)view->live, (int64_t *)(uintptr_t)view->awaited);
}

void ns_thread_view_queues(ns_thread_worker *worker, const ns_thread_wait *wait) {
    const ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_search *search = &worker->search;
    uint64_t *bits = (uint64_t *)(uintptr_t)search->view.watch;
    const bool copies = pool->notes_watches && !pool->asks_sleepers;
    if (copies) ns_watch_board_copy(&pool->board, bits);
    for (uint32_t q = 0; pool->watches && !copies && q < pool->file.plan.steal.queue_count; q++)
        look_at_watches(pool, bits, q);
    if (pool->sees_lengths) {
        int64_t *length = (int64_t *)(uintptr_t)search->view.length;
        for (uint32_t q = 0; q < pool->file.plan.steal.queue_count; q++)
            length[q] = ns_task_queue_length(pool->queues[q]);
    }
    /* relaxed: a recent value suffices */
    const uint32_t thief = ns_atomic_u32_load(&worker->thief, memory_order_relaxed);
    search->actor.thief = thief ? (int32_t)(thief - 1) : NS_UNKNOWN;
    look_at_rest(worker);
    if (pool->file.plan.join != NS_JOIN_LEAPFROG) return;
    search->actor.leapfrogs = true;
    search->actor.fails = search->fails;
    search->actor.leaps = wait && wait->task;
    search->actor.taker = search->actor.leaps ? ns_thread_taker_of((const ns_thread_task *)wait->task) : NS_UNKNOWN;
}

void ns_thread_view_queue(ns_thread_worker *worker, uint32_t q) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    ns_thread_note_queue(pool, q);
    if (pool->watches) look_at_watches(pool, (uint64_t *)(uintptr_t)worker->search.view.watch, q);
    ((int64_t *)(uintptr_t)worker->search.view.length)[q] = ns_task_queue_length(pool->queues[q]);
    look_at_rest(worker);
}

static void note(ns_thread_pool *pool, uint32_t q, const ns_owner_step *step) {
    const ns_task_queue *queue = pool->queues[q];
    ns_watch_board_note(&pool->board, q, step, ns_task_queue_length(queue), ns_task_queue_thresholds(queue));
}

void ns_thread_note_queue(ns_thread_pool *pool, uint32_t q) {
    if (pool->notes_watches) note(pool, q, NULL);
}

void ns_thread_note_owner(ns_thread_worker *worker, ns_owner_step step) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (pool->notes_watches && worker->own != NS_UNKNOWN) note(pool, (uint32_t)worker->own, &step);
}

/* ---- tasks with copies: entries in several queues stand for one task (model 4.13) -------------------------------- */

/* An entry of a queue is the address of a task; or, with the lowest bit set, of a ticket, which all entries of a task
 * share. The first worker that takes an entry claims the task. The ticket is freed when its last entry is taken. */
enum { IS_TICKET = 1 }; /* a bit that is 0 in addresses of tasks */

typedef struct {
    ns_thread_task *task;
    ns_atomic_u32 claimed, entries;
} ticket;

static void drop(ticket *self) {
    /* acq_rel: all other entries have read the ticket before it is freed */
    if (ns_atomic_u32_fetch_add(&self->entries, UINT32_MAX, memory_order_acq_rel) == 1) free(self);
}

ns_thread_task *ns_thread_claim(void *entry) {
    if (!((uintptr_t)entry & IS_TICKET)) return entry;
    ticket *of = (ticket *)((uintptr_t)entry - IS_TICKET);
    /* acq_rel: only the first claim finds 0. The queue itself has handed over the task */
    ns_thread_task *task = ns_atomic_u32_exchange(&of->claimed, 1, memory_order_acq_rel) ? NULL : of->task;
    drop(of);
    return task;
}

bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry)) {
    ticket *made = copies ? malloc(sizeof *made) : NULL;
    if (!made) return push(worker, q, task); /* memory is short: push only the task, without copies */
    made->task = task;
    /* relaxed: the queues' own orders hand over the ticket */
    ns_atomic_u32_store(&made->claimed, 0, memory_order_relaxed);
    ns_atomic_u32_store(&made->entries, copies + 1, memory_order_relaxed);
    void *entry = (void *)((uintptr_t)made + IS_TICKET);
    if (!push(worker, q, entry)) {
        free(made);
        return false;
    }
    for (uint32_t at = 0; at < copies; at++) {
        if (!push(worker, copy[at], entry)) drop(made);
    }
    return true;
}

/* ---- taking tasks ------------------------------------------------------------------------------------------------ */

/* A worker that takes a task, and the task in whose strict join the worker waits. */
typedef struct {
    ns_thread_worker *worker;
    const ns_thread_task *waiting;
} strict_taker;

static bool may_take(void *context, void *task) {
    const strict_taker *taker = context;
    const bool may = ns_thread_descends(taker->waiting, task);
    if (may) ns_thread_withdraw_no_work(taker->worker);
    return may;
}

ns_thread_task *ns_thread_queue_take(ns_thread_worker *worker, const ns_thread_wait *wait, uint32_t q, bool is_owner,
                                     enum ns_queue_end end) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    strict_taker taker = {worker, ns_thread_strict_join(pool, wait)};
    if (!taker.waiting && ns_task_queue_length(pool->queues[q])) ns_thread_withdraw_no_work(worker);
    void *entry = ns_task_queue_take(pool->queues[q], is_owner, end, taker.waiting ? may_take : NULL, &taker);
    ns_thread_note_queue(pool, q);
    return ns_thread_claim(entry);
}

void ns_thread_queue_keep(ns_thread_worker *worker, ns_thread_task *task) {
    ns_thread_pool *pool = ns_thread_pool_of(worker);
    if (!ns_task_queue_push(pool->queues[worker->own], task)) ns_thread_execute(worker, task);
    ns_thread_note_queue(pool, (uint32_t)worker->own);
}

void ns_thread_queue_share(ns_thread_worker *worker) {
    if (worker->own != NS_UNKNOWN) ns_task_queue_publish(ns_thread_pool_of(worker)->queues[worker->own]);
}
