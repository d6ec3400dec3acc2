/* Locks: one thread at a time is in the critical section, and all get there in the order that the kind promises. */
#include "explore.h"
#include "platform/near_memory.h"
#include "sync/numa_locks.h"

enum { BATCH = 1 };

static struct lock_case {
    ns_numa_lock *lock;
    ns_atomic_u32 *counter; /* incremented under the lock, in two steps: a load and a store */
    uint32_t *run;          /* successive acquisitions by node 0 while node 1 waits; or the number of successes */
} it;

static void make(const char *kind) {
    const ns_numa_lock_options options = {.kind = kind, .nodes = 2, .batch = BATCH};
    ns_explore_require(!ns_numa_lock_create(&it.lock, &options), "the lock can be made");
    it.counter = ns_near_memory_allocate(sizeof *it.counter, 0);
    it.run = ns_near_memory_allocate(sizeof *it.run, 0);
}

/* Increment the counter. Relaxed: only the lock prevents lost increments. */
static void increment(void) {
    const uint32_t found = ns_atomic_u32_load(it.counter, memory_order_relaxed);
    ns_atomic_u32_store(it.counter, found + 1, memory_order_relaxed);
}

static void enter(uint32_t id, uint32_t round) {
    ns_numa_lock_acquire(it.lock, id % 2);
    ns_explore_forget(2 * round);
    increment();
    ns_numa_lock_release(it.lock, id % 2);
    ns_explore_forget(2 * round + 1);
}

static void enter_once(uint32_t id) { enter(id, 0); }

static void enter_twice(uint32_t id) {
    enter(id, 0);
    enter(id, 1);
}

static void three(void) {
    ns_explore_require(ns_atomic_u32_load(it.counter, memory_order_relaxed) == 3, "each of three increments counts");
}

static void four(void) {
    ns_explore_require(ns_atomic_u32_load(it.counter, memory_order_relaxed) == 4, "each of four increments counts");
}

/* Try to take the lock. */
static void try_once(uint32_t id) {
    if (!ns_numa_lock_try_acquire(it.lock, id % 2)) return;
    increment();
    ++*it.run;
    ns_numa_lock_release(it.lock, id % 2);
}

static void enter_or_try(uint32_t id) {
    if (id < 2)
        enter_once(id);
    else
        try_once(id);
}

/* One thread takes the lock until the lock's words have their first values again, while the other thread tries. */
static void enter_thrice_or_try(uint32_t id) {
    for (uint32_t round = 0; round < 3 && id == 0; round++) enter(id, round);
    if (id == 1) try_once(id);
}

static void require_tries(uint32_t entries) {
    ns_explore_require(*it.run <= 1 && ns_atomic_u32_load(it.counter, memory_order_relaxed) == entries + *it.run,
                       "who tries has the lock alone, or not at all");
}

static void tried_by_one(void) { require_tries(2); }

static void tried_by_other(void) { require_tries(3); }

static void tried_by_all(void) {
    ns_explore_require(*it.run >= 1, "one of those that try gets the lock");
    ns_explore_require(ns_atomic_u32_load(it.counter, memory_order_relaxed) == *it.run,
                       "who tries has the lock alone, or not at all");
}

/* Return the word at which threads arrive: the first word of the lock. */
static ns_atomic_pointer *door(void) { return (ns_atomic_pointer *)(void *)((char *)it.lock + NS_LINE_BYTES); }

static void enter_in_order(uint32_t id) {
    ns_explore_arriving(door());
    ns_numa_lock_acquire(it.lock, id % 2);
    ns_explore_require(!ns_explore_ahead(), "the lock is granted in the order of arrival");
    ns_explore_granted();
    increment();
    ns_numa_lock_release(it.lock, id % 2);
}

/* Threads 0 and 1 are on node 0, and thread 0 takes the lock twice. Thread 2 is on node 1. */
static void enter_by_node(uint32_t id) {
    const uint32_t node = id / 2;
    if (node) ns_explore_arriving(door());
    for (uint32_t round = id > 0; round < 2; round++) {
        ns_numa_lock_acquire(it.lock, node);
        ns_explore_forget(2 * round);
        ns_atomic_pointer_load(door(), memory_order_relaxed); /* orders this thread with the arrival of node 1 */
        if (node) ns_explore_granted();
        *it.run = ns_explore_waiting() ? *it.run + 1 : 0;
        /* the first entry that is counted may be earlier than the arrival of node 1 */
        ns_explore_require(*it.run <= 1 + BATCH,
                           "a node hands the lock over within itself at most `batch` times in a row");
        ns_numa_lock_release(it.lock, node);
        ns_explore_forget(2 * round + 1);
    }
}

#define OF_KIND(kind, constant) \
    static void make_##kind(void) { make(#kind); }
NS_EACH_LOCK_KIND(OF_KIND)

#define CASES(kind, constant)                                                              \
    {"lock/" #kind "/three", 3, make_##kind, enter_once, three},                           \
        {"lock/" #kind "/twice", 2, make_##kind, enter_twice, four},                       \
        {"lock/" #kind "/tried", 3, make_##kind, enter_or_try, tried_by_one},              \
        {"lock/" #kind "/looked at", 2, make_##kind, enter_thrice_or_try, tried_by_other}, \
        {"lock/" #kind "/all try", 3, make_##kind, try_once, tried_by_all},

const ns_explore_case NS_LOCK_CASES[] = {
    NS_EACH_LOCK_KIND(CASES){"lock/ticket/order", 3, make_ticket, enter_in_order, three},
    {"lock/mcs/order", 3, make_mcs, enter_in_order, three},
    {"lock/clh/order", 3, make_clh, enter_in_order, three},
    {"lock/cohort/batch", 3, make_cohort, enter_by_node, NULL},
    {.name = NULL}};
