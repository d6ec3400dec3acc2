/* How a thread waits: in a loop that first rests and then yields, or asleep until a word changes. */
#ifndef NS_WAITING_H
#define NS_WAITING_H

#include "platform/atomics.h"

/* ---- loops ------------------------------------------------------------------------------------------------------- */

enum { NS_RESTS_BEFORE_YIELD = 256 }; /* some microseconds, more than a hand-over between processors takes */

/* How often a waiting loop has rested; begins at 0. */
typedef struct {
    uint32_t rests;
} ns_patience;

/* Rest once. After many rests the thread yields its processor, which the awaited thread may need. */
static inline void ns_patience_rest(ns_patience *self) {
    if (self->rests++ < NS_RESTS_BEFORE_YIELD)
        ns_pause();
    else
        ns_yield();
}

/* Wait until the word has that value, and acquire what the storing thread did before. */
static inline void ns_wait_for(const ns_atomic_u32 *word, uint32_t value) {
    ns_patience patience = {0};
    /* acquire: pairs with the release of the awaited store */
    while (ns_atomic_u32_load(word, memory_order_acquire) != value) ns_patience_rest(&patience);
}

/* ---- sleep: by the operating system, or by the explorer of interleavings ----------------------------------------- */

#ifdef NS_EXPLORE

void ns_explored_sleep(ns_atomic_u32 *word, uint32_t value);
void ns_explored_wake(ns_atomic_u32 *word, uint32_t count);

static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) { ns_explored_sleep(word, value); }
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) { ns_explored_wake(word, count); }

#else

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleep while the word has that value, until a wake-up. May return early: the caller looks at the word again. */
static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* Wake up to `count` threads that sleep on the word. The memory of the word may be freed or in other use by now: a
 * thread that sleeps there for another reason looks again. */
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif

#endif
