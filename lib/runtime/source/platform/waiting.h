/* How a thread waits: in a loop that first rests and then yields the processor, or asleep until a word changes. */
#pragma once

#include <pthread.h>

#include "platform/atomics.h"

/* ---- loops ------------------------------------------------------------------------------------------------------- */

enum { NS_RESTS_BEFORE_YIELD = 256 }; /* some microseconds: longer than a hand-over between processors */

/* How often a waiting loop has rested: 0 before its first rest. */
typedef struct {
    uint32_t rests;
} ns_patience;

/* Rest once. After NS_RESTS_BEFORE_YIELD rests the thread yields its processor, which the awaited thread may need. */
static inline void ns_patience_rest(ns_patience *self) {
#ifdef NS_TURNS
    ns_turns_pause(!self->rests++);
#else
    if (self->rests++ < NS_RESTS_BEFORE_YIELD)
        ns_pause();
    else
        ns_yield();
#endif
}

/* Wait until the word has this value. The caller then sees all that the storing thread did before its store. */
static inline void ns_wait_for(const ns_atomic_u32 *word, uint32_t value) {
    ns_patience patience = {0};
    /* acquire: pairs with the release of the awaited store */
    while (ns_atomic_u32_load(word, memory_order_acquire) != value) ns_patience_rest(&patience);
}

/* Take a mutex for which workers may compete. */
static inline void ns_mutex_lock(pthread_mutex_t *lock) {
#ifdef NS_TURNS
    ns_turns_lock(lock);
#else
    pthread_mutex_lock(lock);
#endif
}

/* ---- sleep: by the operating system, or by the explorer of interleavings ----------------------------------------- */

#ifdef NS_EXPLORE

void ns_explored_sleep(ns_atomic_u32 *word, uint32_t value);
void ns_explored_wake(ns_atomic_u32 *word, uint32_t count);

static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) { ns_explored_sleep(word, value); }
static inline void ns_futex_wait_for(ns_atomic_u32 *word, uint32_t value, int64_t ps) {
    ns_explored_sleep(word, value); /* time does not pass in the explorer */
}
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) { ns_explored_wake(word, count); }

#elif defined(NS_TURNS)

static inline void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) { ns_turns_sleep(word, value, 0); }
static inline void ns_futex_wait_for(ns_atomic_u32 *word, uint32_t value, int64_t ps) {
    ns_turns_sleep(word, value, ps);
}
static inline void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) { ns_turns_wake(word, count); }
static inline void ns_nap(int64_t ps) { ns_turns_pass(ps); }

#else

/* Sleep until a wake-up, if the word has this value; ns_futex_wait_for sleeps at most `ps` picoseconds. Both may return
 * early: the caller checks the word again. waiting.c uses futexes on Linux; on other systems, and with NS_NO_FUTEX
 * defined, mutexes and condition variables. */
void ns_futex_wait(ns_atomic_u32 *word, uint32_t value);
void ns_futex_wait_for(ns_atomic_u32 *word, uint32_t value, int64_t ps);

/* Wake `count` threads that sleep on the word, or all of them, or more threads. The memory of the word may be freed or
 * reused by now: a thread that sleeps on a new word at the same address checks its own word again. */
void ns_futex_wake(ns_atomic_u32 *word, uint32_t count);

/* Sleep for `ps` picoseconds. */
void ns_nap(int64_t ps);

#endif
