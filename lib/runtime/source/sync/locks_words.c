/* Locks of one or two words: test-and-set, test and test-and-set, ticket, mutex, and barging. */
#include "platform/waiting.h"
#include "sync/numa_locks.h"

/* ---- test-and-set: each waiting thread writes the word until it finds the lock free ------------------------------ */

enum state { FREE, HELD, HELD_AND_WANTED }; /* HELD_AND_WANTED: only for a mutex */

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 state; /* enum state */
} word_lock;

_Static_assert(offsetof(word_lock, state) == NS_LINE_BYTES, "the word that is written is apart from what all read");

static bool set_tas(ns_numa_lock *base, uint32_t node) {
    /* acquire: pairs with the release by the last holder */
    return ns_atomic_u32_exchange(&((word_lock *)base)->state, HELD, memory_order_acquire) == FREE;
}

static void acquire_tas(ns_numa_lock *base, uint32_t node) {
    ns_patience patience = {0};
    while (!set_tas(base, node)) ns_patience_rest(&patience);
}

static void release_word(ns_numa_lock *base, uint32_t node) {
    /* release: the next holder sees all that was done under the lock */
    ns_atomic_u32_store(&((word_lock *)base)->state, FREE, memory_order_release);
}

NS_DEFINE_LOCK_KIND(tas, word_lock, acquire_tas, set_tas, release_word);

/* ---- test and test-and-set: a waiting thread reads the word, and writes it only when the lock is free ------------ */

static bool is_free(const word_lock *self) {
    /* relaxed: the load only decides whether to try */
    return ns_atomic_u32_load(&self->state, memory_order_relaxed) == FREE;
}

static bool set_ttas(ns_numa_lock *base, uint32_t node) { return is_free((word_lock *)base) && set_tas(base, node); }

static void acquire_ttas(ns_numa_lock *base, uint32_t node) {
    ns_patience patience = {0};
    while (!set_ttas(base, node)) ns_patience_rest(&patience);
}

NS_DEFINE_LOCK_KIND(ttas, word_lock, acquire_ttas, set_ttas, release_word);

/* ---- mutex, for long waits: a waiting thread looks several times, then sleeps until a release --------------------
 *
 * A release frees the lock and wakes one sleeper. Any thread may take the lock before the sleeper is awake; the sleeper
 * then sleeps again, behind all other sleepers (Linux wakes threads in the order in which they began to sleep). The
 * kind `barging` is the same lock: the two kinds differ only in the model. */

static bool take_mutex(ns_numa_lock *base, uint32_t node) {
    uint32_t found = FREE;
    /* acquire: pairs with the release by the last holder */
    return ns_atomic_u32_compare_exchange(&((word_lock *)base)->state, &found, HELD, memory_order_acquire,
                                          memory_order_relaxed);
}

static void acquire_mutex(ns_numa_lock *base, uint32_t node) {
    word_lock *self = (word_lock *)base;
    if (take_mutex(base, node)) return;
    for (uint32_t look = 0; look < base->options.spins; look++) {
        ns_pause();
        if (is_free(self) && take_mutex(base, node)) return;
    }
    /* HELD_AND_WANTED even if no other thread sleeps: the release then wakes one in vain. acquire: as in take_mutex */
    while (ns_atomic_u32_exchange(&self->state, HELD_AND_WANTED, memory_order_acquire) != FREE)
        ns_futex_wait(&self->state, HELD_AND_WANTED);
}

static void release_mutex(ns_numa_lock *base, uint32_t node) {
    word_lock *self = (word_lock *)base;
    /* release: the next holder sees all that was done under the lock */
    if (ns_atomic_u32_exchange(&self->state, FREE, memory_order_release) == HELD_AND_WANTED)
        ns_futex_wake(&self->state, 1);
}

NS_DEFINE_LOCK_KIND(mutex, word_lock, acquire_mutex, take_mutex, release_mutex);

const ns_numa_lock_operations ns_lock_barging = {.name = "barging",
                                                 .bytes = sizeof(word_lock),
                                                 .acquire = acquire_mutex,
                                                 .try_acquire = take_mutex,
                                                 .release = release_mutex};

/* ---- ticket: a thread draws a number, and waits until the number is served --------------------------------------- */

typedef struct {
    ns_numa_lock base;
    NS_OWN_LINE ns_atomic_u32 drawn; /* numbers may wrap, since fewer than 2^32 threads wait */
    NS_OWN_LINE ns_atomic_u32 served;
} ticket_lock;

_Static_assert(offsetof(ticket_lock, drawn) == NS_LINE_BYTES, "drawing does not disturb what all read");
_Static_assert(offsetof(ticket_lock, served) == 2 * NS_LINE_BYTES, "drawing does not disturb waiting threads");

static void acquire_ticket(ns_numa_lock *base, uint32_t node) {
    ticket_lock *self = (ticket_lock *)base;
    /* relaxed: the drawn number orders nothing; the acquire of `served` hands over the protected memory */
    ns_wait_for(&self->served, ns_atomic_u32_fetch_add(&self->drawn, 1, memory_order_relaxed));
}

static bool try_ticket(ns_numa_lock *base, uint32_t node) {
    ticket_lock *self = (ticket_lock *)base;
    /* acquire: pairs with the release by the last holder; relaxed: as in acquire_ticket */
    const uint32_t served = ns_atomic_u32_load(&self->served, memory_order_acquire);
    uint32_t drawn = served; /* equal if no thread has the lock or waits */
    return ns_atomic_u32_compare_exchange(&self->drawn, &drawn, served + 1, memory_order_relaxed, memory_order_relaxed);
}

static void release_ticket(ns_numa_lock *base, uint32_t node) {
    ticket_lock *self = (ticket_lock *)base;
    /* relaxed: only the holder writes this word; release: the next holder sees all that was done under the lock */
    const uint32_t mine = ns_atomic_u32_load(&self->served, memory_order_relaxed);
    ns_atomic_u32_store(&self->served, mine + 1, memory_order_release);
}

NS_DEFINE_LOCK_KIND(ticket, ticket_lock, acquire_ticket, try_ticket, release_ticket);
