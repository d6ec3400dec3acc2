/* Looking for work in virtual time: the rounds of core/search/thief.h, gone through by the workers' fibers, with what
 * those rounds leave to an engine.
 */
#include "search/thief.h"
#include "virtual/virtual_state.h"

static inline virtual_worker *searcher(const ns_worker_state *state) {
    return (virtual_worker *)(uintptr_t)((const char *)state - offsetof(virtual_worker, state));
}

static inline virtual_pool *pool_with(const ns_search *search) {
    return (virtual_pool *)(uintptr_t)((const char *)search - offsetof(virtual_pool, search));
}

static inline virtual_task *pop(ns_search *s, uint32_t q, bool back) {
    return (virtual_task *)(uintptr_t)ns_queues_pop(s->queues, q, back);
}

/* ---- what the rounds leave to an engine -------------------------------------------------------------------------- */

static inline ns_view ns_host_view(const ns_search *s) { return view_of(pool_with(s)); }

static inline bool ns_host_joins(const ns_worker_state *w) { return top_of(searcher(w)); }

static inline bool ns_host_join_is_over(const ns_search *s, const ns_worker_state *w) {
    const virtual_task *top = top_of(searcher(w));
    (void)s;
    return top && w->idle && !ns_virtual_awaited(top);
}

static inline bool ns_host_may_run(const ns_search *s, const ns_worker_state *w, uint32_t q, bool back) {
    const virtual_task *top = top_of(searcher(w));
    const virtual_task *next = (const virtual_task *)(uintptr_t)ns_queues_peek(s->queues, q, back);
    return !top || (top->row < next->row && next->row < top->row + s->plan->graph.size.at[top->row]);
}

static inline int32_t ns_host_taker(const ns_search *s, const ns_worker_state *w) {
    const virtual_task *top = top_of(searcher(w));
    const int way = ns_virtual_gathers(top) ? BY_GROUP : BY_PARENT;
    const virtual_task *task = way == BY_GROUP ? top->innermost->taken : top->taken;
    (void)s;
    while (task && task->taker == w->id) task = task->taken_before[way];
    return task ? (int32_t)task->taker : NS_UNKNOWN;
}

static inline int64_t ns_host_sift(ns_search *s, uint32_t q, bool back, int64_t most) {
    return ns_queues_sift(s->queues, q, back, most);
}

static inline void ns_host_begin(ns_search *s, ns_worker_state *w, uint32_t q, bool back) {
    ns_virtual_begin(searcher(w), pop(s, q, back));
}

/* Nobody holds a task in advance: plans with helpers are refused. */
static inline bool ns_host_begin_reserved(ns_search *s, ns_worker_state *w) {
    (void)s;
    (void)w;
    return false;
}

static inline int64_t ns_host_amount(ns_search *s, const ns_worker_state *w) {
    return ns_level_amount(&s->plan->steal.level[w->level], s->queues->length[w->target]);
}

/* The first task is begun, the others go to the own queue; with refill, all do. */
static inline bool ns_host_take(ns_search *s, ns_worker_state *w, bool back, int64_t count) {
    virtual_worker *worker = searcher(w);
    virtual_task *begun = NULL;
    ns_virtual_record(pool_with(s), NS_RANK_LOOK, w->id, w->target, (uint64_t)count);
    w->owed_ps += ns_take_ps(s->plan, w, w->target) + (count - 1) * s->plan->costs.move_ps;
    if (s->plan->refill == 0) begun = pop(s, w->target, back);
    for (int64_t at = begun ? 1 : 0; at < count; at++) {
        ns_virtual_list_push(worker, &worker->taken, pop(s, w->target, back));
    }
    if (begun) {
        ns_virtual_begin(worker, begun);
    } else {
        w->fails = 0;
        ns_virtual_end_idle(worker);
    }
    for (uint32_t at = 0; at < worker->taken.count; at++) {
        ns_virtual_push(worker, (uint32_t)w->own, worker->taken.task[at]);
    }
    worker->taken.count = 0;
    return true;
}

static inline void ns_host_wait(ns_search *s, ns_worker_state *w, enum ns_rank rank, int64_t wait_ps) {
    (void)s;
    searcher(w)->step_ps = wait_ps;
    ns_virtual_schedule(searcher(w), rank, ns_pay_owed(w) + wait_ps);
}

static inline void ns_host_pay(ns_search *s, ns_worker_state *w) { ns_host_wait(s, w, NS_RANK_PUT, 0); }

static inline bool ns_host_is_under_way(ns_search *s) {
    const virtual_pool *pool = pool_with(s);
    if (ns_clock_has_progress(&pool->clock)) return true;
    for (uint32_t at = 0; at < pool->base.workers; at++) {
        if (ns_host_join_is_over(s, &pool->workers[at].state)) return true;
    }
    return false;
}

static bool can_go_on(virtual_pool *pool) {
    if (ns_host_is_under_way(&pool->search)) return true;
    for (uint32_t at = 0; at < pool->base.workers; at++) {
        const ns_worker_state *w = &pool->workers[at].state;
        if (w->idle && ns_can_find(&pool->search, w)) return true;
    }
    return false;
}

static inline void ns_host_despair(ns_search *s, ns_worker_state *w) {
    virtual_pool *pool = pool_with(s);
    if (!pool->outstanding || can_go_on(pool)) return;
    ns_virtual_fail(searcher(w), NS_ERROR_DEADLOCK, "%lld tasks are left at %lld ps and no worker can run them",
                    (long long)pool->outstanding, (long long)pool->now_ps);
}

static inline int64_t ns_host_unfinished(const ns_search *s) { return pool_with(s)->outstanding; }

static inline int64_t ns_host_executed(const ns_search *s) {
    const virtual_pool *pool = pool_with(s);
    int64_t tasks = 0;
    for (uint32_t at = 0; at < pool->base.workers; at++) tasks += pool->workers[at].state.counters.tasks;
    return tasks;
}

static inline void ns_host_give_up(ns_search *s, ns_worker_state *w) {
    const virtual_pool *pool = pool_with(s);
    ns_virtual_fail(searcher(w), NS_ERROR_DEADLOCK,
                    "%lld tasks are left at %lld ps and thieves pass them to and fro without beginning one",
                    (long long)pool->outstanding, (long long)pool->now_ps);
}

static inline int64_t ns_host_pass_over(ns_search *s, ns_worker_state *w, int64_t wait_ps) {
    (void)s, (void)w, (void)wait_ps;
    return 0; /* every round is gone through */
}

static inline void ns_host_announced(ns_search *s) { (void)s; }

static inline void ns_host_foresee(ns_search *s, ns_worker_state *w) {
    (void)s;
    (void)w;
}

static inline bool ns_host_is_free(ns_search *s, uint32_t lock) { return ns_sync_is_free(pool_with(s)->sync, lock); }

static inline void ns_host_request(ns_search *s, ns_worker_state *w, uint32_t lock) {
    (void)s;
    searcher(w)->rank = NS_RANK_GRANT;
    searcher(w)->requested = lock;
    ns_virtual_request(searcher(w), lock);
}

static inline void ns_host_release(ns_search *s, ns_worker_state *w, uint32_t lock) {
    ns_sync_release(pool_with(s)->sync, lock, w->id, pool_with(s)->now_ps);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* Take the next implicit body or own task, or start to search. */
static bool seek(virtual_worker *w) {
    ns_search *search = &pool_of(w)->search;
    if (w->agenda.count && !w->stack.count) {
        ns_virtual_begin(w, ns_virtual_list_shift(&w->agenda));
        return true;
    }
    if (ns_pop_own(search, &w->state, search->plan->refill)) return true;
    if (!w->state.idle) ns_go_idle(search, &w->state, now_of(w));
    return ns_start_round(search, &w->state);
}

/* What the worker has waited for has come. */
static bool go_on(virtual_worker *w) {
    ns_search *search = &pool_of(w)->search;
    switch (w->rank) {
        case NS_RANK_LOOK: return ns_look(search, &w->state);
        case NS_RANK_GRANT: return ns_lock_granted(search, &w->state, w->requested);
        case NS_RANK_PUT: ns_release_search_locks(search, &w->state); return true;
        default: return ns_host_join_is_over(search, &w->state) || seek(w);
    }
}

void ns_virtual_search(virtual_worker *w) {
    bool found = seek(w);
    while (!found) {
        ns_virtual_await_turn(w);
        if (w->retired) return;
        found = go_on(w);
    }
}
