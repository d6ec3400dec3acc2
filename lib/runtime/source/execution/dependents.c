#include "execution/dependents.h"

#include <string.h>

#include "execution/execution.h"
#include "search/search.h"
#include "threads/memory_accesses.h"

/* ---- of all ways to execute them --------------------------------------------------------------------------------- */

static uint32_t count_accesses(const ns_work_order *order) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < order->dependence_count; at++) count += order->dependences[at].access != NULL;
    return count;
}

static void copy_accesses(const ns_work_order *order, ns_access *accesses) {
    for (uint32_t at = 0; at < order->dependence_count; at++) {
        if (order->dependences[at].access) *accesses++ = *order->dependences[at].access;
    }
}

ns_thread_dependent *ns_thread_dependent_create(ns_dependences *known, const ns_work_order *order,
                                                ns_waiting **entries) {
    const uint32_t accesses = count_accesses(order);
    ns_thread_dependent *made = ns_arena_take(&known->arena, sizeof *made);
    void *arguments = ns_arena_take(&known->arena, order->bytes);
    ns_access *copies = ns_arena_take(&known->arena, accesses * sizeof *copies);
    if (!made || !arguments || !copies) return NULL;
    *made = (ns_thread_dependent){
        .body = order->body, .arguments = arguments, .accesses = copies, .access_count = accesses};
    ns_dependent_create(&made->base);
    if (order->bytes) memcpy(arguments, order->arguments, order->bytes);
    copy_accesses(order, copies);
    if (!ns_dependences_find(known, &made->base, order->dependences, order->dependence_count)) return NULL;
    *entries = ns_arena_take(&known->arena, known->before_count * sizeof **entries);
    return *entries ? made : NULL;
}

bool ns_thread_dependent_wait(ns_dependences *known, ns_thread_dependent *made, ns_waiting *entries) {
    uint32_t others = 0;
    for (uint32_t at = 0; at < known->before_count; at++)
        others += ns_dependent_wait_for(&made->base, known->before[at], &entries[at]);
    return ns_dependent_is_free(&made->base, others);
}

void ns_thread_execute_after_all(ns_task *self, const ns_work_order *order) {
    ns_join(self);
    ns_thread_execute_order(self, order);
}

/* ---- with records ------------------------------------------------------------------------------------------------ */

void ns_thread_execute_unplaced(ns_task *self, ns_thread_dependent *unplaced) {
    while (unplaced) {
        ns_thread_dependent *child = unplaced;
        unplaced = child->next;
        child->unplaced = &unplaced;
        ns_thread_execute((ns_thread_worker *)self->worker, child->record);
    }
}

/* Put a child that can begin into a queue, or before `*unplaced` where none has room. */
static void offer(ns_task *self, ns_thread_dependent *child, ns_thread_dependent **unplaced) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    child->record->base.worker = &worker->base;
    if (ns_thread_execution_of(worker)->release(worker, child->record, child->accesses, child->access_count)) return;
    child->next = *unplaced;
    *unplaced = child;
}

void ns_thread_run_dependent(ns_task *self, void *arguments) {
    ns_thread_dependent *mine = *(ns_thread_dependent **)arguments;
    for (uint32_t at = 0; at < mine->access_count; at++) ns_thread_touch(self, &mine->accesses[at]);
    ns_thread_enter_body(self->worker, self, mine->body, mine->arguments);
    ns_join(self);
    ns_thread_dependent *unplaced = NULL;
    for (ns_waiting *each = ns_dependent_end(&mine->base), *next; each; each = next) {
        next = each->next;
        if (ns_dependent_release(each->task))
            offer(self, (ns_thread_dependent *)each->task, mine->unplaced ? mine->unplaced : &unplaced);
    }
    ns_thread_execute_unplaced(self, unplaced);
}

ns_thread_dependent *ns_thread_dependent_spawn(ns_task *self, const ns_work_order *order) {
    ns_thread_task *parent = (ns_thread_task *)self;
    const bool is_first = !ns_dependences_of(self);
    ns_dependences *known = ns_dependences_open(self);
    if (known) parent->pending += is_first; /* see ns_thread_begin_join */
    ns_waiting *entries = NULL;
    ns_thread_dependent *made = known ? ns_thread_dependent_create(known, order, &entries) : NULL;
    const ns_work_order wrapped = {
        .body = ns_thread_run_dependent, .arguments = &made, .bytes = sizeof(ns_thread_dependent *)};
    if (made) made->record = ns_thread_task_create((ns_thread_worker *)self->worker, parent, &wrapped);
    if (!made || !made->record) {
        ns_thread_execute_after_all(self, order);
        return NULL;
    }
    made->record->base.worker = self->worker;
    parent->pending++;
    if (ns_thread_pool_of((ns_thread_worker *)self->worker)->notes)
        ns_thread_note_child((ns_thread_worker *)self->worker, parent, made->record);
    return ns_thread_dependent_wait(known, made, entries) ? made : NULL;
}
