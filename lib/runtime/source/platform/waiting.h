/* How long a thread that waits in a loop keeps its processor: it may be the one that the awaited thread needs. */
#ifndef NS_WAITING_H
#define NS_WAITING_H

#include "platform/atomics.h"

enum { NS_RESTS_BEFORE_YIELD = 256 }; /* some microseconds, more than a hand-over between processors takes */

/* The rests of one wait, from 0. */
typedef struct {
    uint32_t rests;
} ns_patience;

static inline void ns_patience_rest(ns_patience *self) {
    if (self->rests++ < NS_RESTS_BEFORE_YIELD)
        ns_pause();
    else
        ns_yield();
}

/* Wait until the word has that value, and acquire what the storing thread did before. */
static inline void ns_wait_for(const ns_atomic_u32 *word, uint32_t value) {
    ns_patience patience = {0};
    /* acquire: pairs with the release of the store that is waited for */
    while (ns_atomic_u32_load(word, memory_order_acquire) != value) ns_patience_rest(&patience);
}

#endif
