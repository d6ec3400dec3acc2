#include "platform/waiting.h"

#if !defined(NS_EXPLORE) && !defined(NS_TURNS)

#include <time.h>

enum { PS_PER_NS = 1000 };
static const int64_t NS_PER_S = 1000000000;

static struct timespec span_of(int64_t ps) {
    const int64_t ns = (ps + PS_PER_NS - 1) / PS_PER_NS;
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

void ns_nap(int64_t ps) {
    const struct timespec span = span_of(ps);
    nanosleep(&span, NULL);
}

#if defined(__linux__) && !defined(NS_NO_FUTEX)

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void ns_futex_wait_for(ns_atomic_u32 *word, uint32_t value, int64_t ps) {
    const struct timespec span = span_of(ps);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &span, NULL, 0);
}

void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#else

#include <pthread.h>

/* A bed is a mutex with a condition variable, which several words share. A wake-up wakes all threads that sleep in the
 * bed of the word; they check their words again. A thread changes the word before it wakes sleepers, and a sleeper
 * checks the word under the bed's lock: either this check finds the new value, or the wake-up comes when the sleeper
 * sleeps. */
enum { BEDS_LOG_2 = 6, BEDS = 1 << BEDS_LOG_2 };

static struct bed {
    NS_OWN_LINE pthread_mutex_t lock;
    pthread_cond_t woken;
} beds[BEDS];

static void make_beds(void) {
    for (int at = 0; at < BEDS; at++) {
        pthread_mutex_init(&beds[at].lock, NULL);
        pthread_cond_init(&beds[at].woken, NULL);
    }
}

/* Return the bed of a word. Multiplying by 2^64 over the golden ratio spreads addresses (Knuth, volume 3, 6.4). */
static struct bed *bed_of(const ns_atomic_u32 *word) {
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, make_beds);
    return &beds[((uint64_t)(uintptr_t)word >> 2) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - BEDS_LOG_2)];
}

void ns_futex_wait(ns_atomic_u32 *word, uint32_t value) {
    struct bed *bed = bed_of(word);
    pthread_mutex_lock(&bed->lock);
    /* relaxed: the caller loads the word again, with the order that the caller needs */
    if (ns_atomic_u32_load(word, memory_order_relaxed) == value) pthread_cond_wait(&bed->woken, &bed->lock);
    pthread_mutex_unlock(&bed->lock);
}

void ns_futex_wait_for(ns_atomic_u32 *word, uint32_t value, int64_t ps) {
    struct bed *bed = bed_of(word);
    const struct timespec span = span_of(ps);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock that pthread_cond_timedwait uses */
    until.tv_sec += span.tv_sec + (until.tv_nsec + span.tv_nsec) / NS_PER_S;
    until.tv_nsec = (until.tv_nsec + span.tv_nsec) % NS_PER_S;
    pthread_mutex_lock(&bed->lock);
    if (ns_atomic_u32_load(word, memory_order_relaxed) == value) /* relaxed: as in ns_futex_wait */
        pthread_cond_timedwait(&bed->woken, &bed->lock, &until);
    pthread_mutex_unlock(&bed->lock);
}

void ns_futex_wake(ns_atomic_u32 *word, uint32_t count) {
    struct bed *bed = bed_of(word);
    pthread_mutex_lock(&bed->lock);
    pthread_cond_broadcast(&bed->woken);
    pthread_mutex_unlock(&bed->lock);
}

#endif

#endif
