/* Sleeping until a word changes, without a processor: the operating system's, or the explorer's. */
#ifndef NS_FUTEX_H
#define NS_FUTEX_H

#include "platform/atomics.h"

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

/* Sleep if the word still has that value, until woken. May return without either: look again. */
static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* Wake up to `count` threads that sleep on the word, which need not exist any more: whoever sleeps there for another
 * reason looks again. */
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif

#endif
