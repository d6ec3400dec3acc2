/* Children with dependences, on threads: each is a task whose body is a wrapper, which runs the program's body and then
 * lets those begin that waited for it. A child that waits is in no queue; who lets it begin puts it into one.
 */
#ifndef NS_DEPENDENTS_H
#define NS_DEPENDENTS_H

#include "dependences/dependences.h"
#include "threads/worker.h"

typedef struct ns_thread_dependent ns_thread_dependent;
struct ns_thread_dependent {
    ns_dependent base;
    uint32_t access_count;
    ns_body *body;
    void *arguments;
    const ns_access *accesses; /* [access_count] of its first segment */
    ns_thread_task *record;    /* without lanes */
    void *group;               /* with lanes: which of its parent's */
    ns_thread_dependent *next; /* of those that found no room in a queue */
    ns_thread_dependent *
        *unplaced; /* where it puts those that it lets begin and that find no room; NULL: nowhere yet */
};

/* A child for `order`, in the memory of `known`, with those that it waits for in `known->before`, and an entry for each
 * of their lists in `*entries`: NULL where memory is short. */
ns_thread_dependent *ns_thread_dependent_create(ns_dependences *known, const ns_work_order *order,
                                                ns_waiting **entries);

/* The child waits for those in `known->before`: whether it can begin at once, for all have ended. */
bool ns_thread_dependent_wait(ns_dependences *known, ns_thread_dependent *made, ns_waiting *entries);

/* Where memory is short: wait for all children, and execute what is ordered. */
void ns_thread_execute_after_all(ns_task *self, const ns_work_order *order);

/* ---- with records, and not in lanes ------------------------------------------------------------------------------ */

/* A task whose children have dependences counts one more of them than there are until it joins them, so that its end
 * joins them in any case: they are known, or NULL, when the join begins. */
static inline ns_dependences *ns_thread_begin_join(ns_thread_task *self) {
    ns_dependences *known = ns_dependences_of(&self->base);
    if (known) self->pending--;
    return known;
}

static inline void ns_thread_end_join(ns_thread_task *self, const ns_dependences *known) {
    if (known) ns_dependences_close(&self->base);
}

/* The body of them all. */
void ns_thread_run_dependent(ns_task *self, void *arguments);

/* A new child of `self`: it, if it can begin, or NULL. */
ns_thread_dependent *ns_thread_dependent_spawn(ns_task *self, const ns_work_order *order);

/* Execute a child that can begin and finds no room in a queue. What it lets begin comes to the same list: chains of
 * such children do not nest. */
void ns_thread_execute_unplaced(ns_task *self, ns_thread_dependent *unplaced);

#endif
