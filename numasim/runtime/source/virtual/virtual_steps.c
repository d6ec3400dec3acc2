/* Steps: how workers of virtual time take turns. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/draws.h"
#include "virtual/virtual_state.h"

enum { FIRST_ROOM = 8, RECORD_WORDS = 5 };

void ns_virtual_list_push(virtual_worker *w, task_list *list, virtual_task *task) {
    if (list->count == list->room) {
        const uint32_t room = list->room ? 2 * list->room : FIRST_ROOM;
        virtual_task **grown = realloc(list->task, room * sizeof(virtual_task *));
        if (!grown) ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for %u tasks of a worker", room);
        list->task = grown;
        list->room = room;
    }
    list->task[list->count++] = task;
}

virtual_task *ns_virtual_list_shift(task_list *list) {
    virtual_task *first = list->task[0];
    list->count--;
    for (uint32_t at = 0; at < list->count; at++) list->task[at] = list->task[at + 1];
    return first;
}

void ns_virtual_list_free(task_list *list) {
    free(list->task);
    *list = (task_list){0};
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

void ns_virtual_switch(virtual_pool *pool, ns_fiber *to) {
    ns_fiber *from = pool->running;
    pool->running = to;
    ns_fiber_switch(from, to);
}

void ns_virtual_fail(virtual_worker *w, int error, const char *sentence, ...) {
    virtual_pool *pool = pool_of(w);
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(pool->base.problem, sizeof pool->base.problem, sentence, arguments);
    va_end(arguments);
    pool->error = error;
    if (pool->running == pool->main) longjmp(pool->outside, 1);
    ns_virtual_switch(pool, pool->main);
    abort(); /* nobody goes on with a run that has failed */
}

void ns_virtual_suspend(virtual_worker *w) {
    w->suspended = pool_of(w)->running;
    ns_virtual_switch(pool_of(w), pool_of(w)->main);
}

void ns_virtual_resume(virtual_worker *w) { ns_virtual_switch(pool_of(w), w->suspended); }

/* A lock or an atomic word is a worker's, which goes on; what it has waited was overhead. */
static void on_grant(virtual_pool *pool, uint32_t word) {
    const ns_waiter waiter = ns_sync_grant(pool->sync, word, pool->now_ps);
    pool->workers[waiter.actor].state.counters.overhead_ps += pool->now_ps - waiter.since_ps;
    ns_virtual_resume(&pool->workers[waiter.actor]);
}

static void on_turn(virtual_pool *pool, virtual_worker *w) {
    ns_clock_clear(&pool->clock, w->base.id);
    w->pending = false;
    ns_virtual_resume(w);
}

bool ns_virtual_turn(virtual_pool *pool, void (*on_phase_end)(virtual_pool *pool)) {
    const ns_event_key next = ns_clock_next(&pool->clock);
    if (next == NS_NO_EVENT) return false;
    const uint32_t actor = ns_event_actor(next);
    pool->now_ps = ns_event_time(next);
    switch (ns_event_rank(next)) {
        case NS_RANK_GRANT: on_grant(pool, actor); break;
        case NS_RANK_RELEASE:
            ns_virtual_record(pool, NS_RANK_RELEASE, UINT64_C(1) + actor, (uint64_t)ns_sync_open(pool->sync, actor), 0);
            break;
        case NS_RANK_END_OF_INSTANT:
            ns_clock_clear(&pool->clock, pool->base.workers);
            on_phase_end(pool);
            break;
        default: on_turn(pool, &pool->workers[actor]);
    }
    return true;
}

int64_t ns_virtual_require_time(virtual_pool *pool, uint64_t due_ps) {
    if (due_ps <= NS_LATEST_PS) return (int64_t)due_ps;
    pool->error = ns_pool_fail(&pool->base, NS_ERROR_FIELD, "%s", NS_TOO_LATE);
    return NS_LATEST_PS;
}

void ns_virtual_schedule(virtual_worker *w, enum ns_rank rank, int64_t delay_ps) {
    const uint64_t due_ps = (uint64_t)now_of(w) + (uint64_t)delay_ps;
    w->rank = rank;
    w->due_ps = ns_virtual_require_time(pool_of(w), due_ps);
    w->pending = true;
    ns_clock_set(&pool_of(w)->clock, w->base.id, ns_event_key_of(w->due_ps, rank, w->base.id));
}

void ns_virtual_end_phase(virtual_pool *pool) {
    const ns_event_key end = ns_event_key_of(pool->now_ps, NS_RANK_END_OF_INSTANT, 0);
    ns_clock_set(&pool->clock, pool->base.workers, end);
}

void ns_virtual_await_turn(virtual_worker *w) {
    virtual_pool *pool = pool_of(w);
    const ns_event_key mine = ns_event_key_of(w->due_ps, w->rank, w->base.id);
    if (pool->starting || pool->error || !w->pending || mine != ns_clock_next(&pool->clock)) {
        ns_virtual_suspend(w);
        return;
    }
    ns_clock_clear(&pool->clock, w->base.id);
    w->pending = false;
    pool->now_ps = w->due_ps;
}

void ns_virtual_step(virtual_worker *w, enum ns_rank rank, int64_t delay_ps) {
    ns_virtual_schedule(w, rank, delay_ps);
    ns_virtual_await_turn(w);
}

void ns_virtual_step_overhead(virtual_worker *w, enum ns_rank rank, int64_t step_ps) {
    w->state.owed_ps += step_ps;
    ns_virtual_step(w, rank, ns_pay_owed(&w->state));
}

void ns_virtual_request(virtual_worker *w, uint32_t word) {
    if (!ns_sync_request(pool_of(w)->sync, word, w->base.id, 0, now_of(w))) {
        ns_virtual_fail(w, NS_ERROR_MEMORY, "there is no memory for those who wait for word %u", word);
    }
}

void ns_virtual_acquire(virtual_worker *w, uint32_t word) {
    ns_virtual_request(w, word);
    ns_virtual_suspend(w);
}

void ns_virtual_record(virtual_pool *pool, enum ns_rank rank, uint64_t actor, uint64_t first, uint64_t second) {
    const uint64_t word[RECORD_WORDS] = {(uint64_t)pool->now_ps, rank, actor, first, second};
    uint64_t hash = 0;
    for (uint32_t at = 0; at < RECORD_WORDS; at++) hash = ns_mix((hash + NS_GAMMA) ^ word[at]);
    pool->trace_hash += hash;
}

enum ns_op ns_virtual_op_at(const virtual_pool *pool, const virtual_task *task) {
    const bool ended = task->at >= (uint32_t)pool->plan->graph.op_ptr.at[task->row + 1];
    return ended ? NS_OP_END : (enum ns_op)pool->plan->graph.op_code.at[task->at];
}
