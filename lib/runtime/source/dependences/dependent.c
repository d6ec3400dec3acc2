#include "dependences/dependent.h"

#include <stddef.h>

static const uint32_t UNKNOWN = UINT32_C(1) << 31; /* more than a task waits for */

static char ended; /* the list of a task that has ended begins here */

void ns_dependent_create(ns_dependent *self) {
    /* relaxed: others come to know of it by their lists */
    ns_atomic_pointer_store(&self->waiting, NULL, memory_order_relaxed);
    ns_atomic_u32_store(&self->left, UNKNOWN, memory_order_relaxed);
    self->newest_of = NULL;
}

bool ns_dependent_wait_for(ns_dependent *self, ns_dependent *other, ns_waiting *entry) {
    /* acquire: what `other` did, if it has ended */
    void *newest = ns_atomic_pointer_load(&other->waiting, memory_order_acquire);
    entry->task = self;
    do {
        if (newest == &ended) return false;
        entry->next = newest;
    } while (!ns_atomic_pointer_compare_exchange(&other->waiting, &newest, entry, memory_order_release,
                                                 memory_order_acquire));
    /* release: who ends the other finds the entry, and the task, as they are now. Only the parent pushes, and the list
     * is taken once, as a whole: no ABA */
    return true;
}

/* acq_rel: what all of them did happens before it begins, and the last one hands that over. */
static uint32_t take_away(ns_dependent *self, uint32_t count) {
    return ns_atomic_u32_fetch_add(&self->left, (uint32_t)-count, memory_order_acq_rel) - count;
}

bool ns_dependent_is_free(ns_dependent *self, uint32_t others) { return take_away(self, UNKNOWN - others) == 0; }

bool ns_dependent_release(ns_dependent *self) { return take_away(self, 1) == 0; }

ns_waiting *ns_dependent_end(ns_dependent *self) {
    /* acq_rel: the parent sees what the task did; and the entries are seen as the parent has made them */
    return ns_atomic_pointer_exchange(&self->waiting, &ended, memory_order_acq_rel);
}
