/* The queue lock of Mellor-Crummey and Scott (1991), in the form with the holder's place inside the lock. A thread
 * needs a place on its stack only while it waits, any thread may release the lock, and the holder can ask whether a
 * thread waits. A lock of all zero is free.
 */
#ifndef NS_MCS_H
#define NS_MCS_H

#include "platform/atomics.h"

/* Where a thread waits. */
typedef struct {
    ns_atomic_pointer next; /* the place behind, once it is linked */
    ns_atomic_u32 waits;
} ns_mcs_place;

typedef struct {
    NS_OWN_LINE ns_atomic_pointer tail; /* NULL: free; &holder: held, no thread waits; else the last place */
    NS_OWN_LINE ns_mcs_place holder;    /* `next`: the first place that waits */
} ns_mcs;

_Static_assert(sizeof(ns_mcs) == 2 * NS_LINE_BYTES, "new threads do not disturb the holder");

void ns_mcs_acquire(ns_mcs *self);
bool ns_mcs_try_acquire(ns_mcs *self); /* false where another thread has the lock */
void ns_mcs_release(ns_mcs *self);

/* Returns whether a thread waits. Only the holder may ask. */
bool ns_mcs_wanted(const ns_mcs *self);

#endif
