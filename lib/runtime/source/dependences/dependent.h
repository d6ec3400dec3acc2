/* A task that may wait for others of its parent: how those that end and the parent, which still adds to what waits for
 * them, agree on who lets it begin. All else about dependences is the parent's own (dependences.h).
 *
 * A task has a list of those that wait for it, onto which the parent pushes, and which is closed when the task ends:
 * what comes later need not wait. It counts those that it waits for. They count down while its parent is still finding
 * them, so that the count begins far above their number, and the parent takes the difference away when it knows it.
 */
#ifndef NS_DEPENDENT_H
#define NS_DEPENDENT_H

#include "platform/atomics.h"

typedef struct ns_dependent ns_dependent;

/* One task that waits, in the list of one that it waits for. */
typedef struct ns_waiting {
    ns_dependent *task;
    struct ns_waiting *next;
} ns_waiting;

struct ns_dependent {
    ns_atomic_pointer waiting;     /* ns_waiting, the newest first; or that it has ended */
    ns_atomic_u32 left;            /* how many it waits for, and what its parent has yet to take away */
    uint32_t row;                  /* in a task graph, where there is one */
    const ns_dependent *newest_of; /* of those that it lets wait, the newest: the parent's own */
};

/* A task that waits for none so far. */
void ns_dependent_create(ns_dependent *self);

/* The parent: `self` waits for `other`, which `entry` says in its list: false where that has ended already, and all
 * that it did is seen. */
bool ns_dependent_wait_for(ns_dependent *self, ns_dependent *other, ns_waiting *entry);

/* The parent: `self` waits for that many in all; whether they have ended, so that it can begin. */
bool ns_dependent_is_free(ns_dependent *self, uint32_t others);

/* `self` has ended: those that wait for it. */
ns_waiting *ns_dependent_end(ns_dependent *self);

/* One of those that `self` waits for has ended: whether it was the last, so that it can begin. */
bool ns_dependent_release(ns_dependent *self);

#endif
