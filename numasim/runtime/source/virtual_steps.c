/* Steps: how workers of virtual time take turns. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "policy/draws.h"
#include "virtual_state.h"

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
    ns_virtual_switch(pool, pool->main);
    abort(); /* nobody goes on with a run that has failed */
}

void ns_virtual_suspend(virtual_worker *w) {
    w->suspended = pool_of(w)->running;
    ns_virtual_switch(pool_of(w), pool_of(w)->main);
}

void ns_virtual_resume(virtual_worker *w) { ns_virtual_switch(pool_of(w), w->suspended); }

void ns_virtual_on_turn(ns_event *event) { ns_virtual_resume(event->context); }

void ns_virtual_step(virtual_worker *w, enum ns_rank rank, int64_t delay_ps) {
    virtual_pool *pool = pool_of(w);
    ns_clock_schedule(&pool->clock, &w->event, rank, delay_ps);
    if (pool->starting || !ns_clock_pass(&pool->clock, &w->event)) ns_virtual_suspend(w);
}

void ns_virtual_step_overhead(virtual_worker *w, enum ns_rank rank, int64_t step_ps) {
    const int64_t owed = w->owed_ps + step_ps;
    w->owed_ps = 0;
    w->counter[NS_OVERHEAD_PS] += owed;
    ns_virtual_step(w, rank, owed);
}

void ns_virtual_step_idle(virtual_worker *w, enum ns_rank rank, int64_t step_ps) {
    const int64_t owed = w->owed_ps;
    w->owed_ps = 0;
    w->counter[NS_OVERHEAD_PS] += owed;
    w->step_ps = step_ps;
    ns_virtual_step(w, rank, owed + step_ps);
}

static void on_granted(void *context, uint32_t actor, uint32_t word, int64_t since_ps) {
    virtual_pool *pool = context;
    (void)word;
    pool->workers[actor].counter[NS_OVERHEAD_PS] += pool->clock.now_ps - since_ps;
    ns_virtual_resume(&pool->workers[actor]);
}

void ns_virtual_acquire(virtual_worker *w, uint32_t word) {
    ns_words_request(pool_of(w)->words, word, w->base.id, on_granted, pool_of(w));
    ns_virtual_suspend(w);
}

void ns_virtual_record(virtual_pool *pool, enum ns_rank rank, uint64_t actor, uint64_t first, uint64_t second) {
    const uint64_t word[RECORD_WORDS] = {(uint64_t)pool->clock.now_ps, rank, actor, first, second};
    uint64_t hash = 0;
    for (uint32_t at = 0; at < RECORD_WORDS; at++) hash = ns_mix((hash + NS_GAMMA) ^ word[at]);
    pool->trace_hash += hash;
}
