/* The ways in which a thread waits: in a loop that first rests and then yields the processor, or asleep until a word
 * changes. */
#ifndef NS_WAITING_H
#define NS_WAITING_H

#include "platform/atomics.h"

/* ---- loops ------------------------------------------------------------------------------------------------------- */

enum { NS_RESTS_BEFORE_YIELD = 256 }; /* some microseconds, which is more than a hand-over between processors takes */

/* How often a waiting loop has rested. Begins at 0. */
typedef struct {
    uint32_t rests;
} ns_patience;

/* Rest once. After NS_RESTS_BEFORE_YIELD rests the thread yields its processor, which the awaited thread may need. */
static inline void ns_patience_rest(ns_patience *self) {
    if (self->rests++ < NS_RESTS_BEFORE_YIELD)
        ns_pause();
    else
        ns_yield();
}

/* Wait until the word has this value. The caller then sees all that the storing thread did before its store. */
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

/* Sleep while the word has this value, until a wake-up. The function may return early: the caller checks the word
 * again. */
static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* Wake up to `count` threads that sleep on the word. The memory of the word may be freed or reused by now: a thread
 * that sleeps there for another reason checks its own word again. */
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif

#endif
