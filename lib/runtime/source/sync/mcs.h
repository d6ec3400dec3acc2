/* The queue lock of Mellor-Crummey and Scott (1991), in the form in which the place of who holds it is in the lock: a
 * place on the stack is needed only while waiting, whoever has the lock may release it, and it can be told whether
 * anybody waits. A lock of all zero is free.
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
    NS_OWN_LINE ns_atomic_pointer tail; /* NULL: free; &holder: held, and nobody waits; else the last place */
    NS_OWN_LINE ns_mcs_place holder;    /* its `next` is the first that waits */
} ns_mcs;

_Static_assert(sizeof(ns_mcs) == 2 * NS_LINE_BYTES, "who comes does not disturb the holder");

void ns_mcs_acquire(ns_mcs *self);
bool ns_mcs_try_acquire(ns_mcs *self); /* false where somebody has it */
void ns_mcs_release(ns_mcs *self);

/* Whether anybody waits; only the holder may ask. */
bool ns_mcs_wanted(const ns_mcs *self);

#endif
