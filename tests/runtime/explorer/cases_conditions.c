/* Condition variables: a thread that waits before a signal is woken, by that signal or by another signal. */
#include "explore.h"
#include "numasim/locks.h"
#include "platform/near_memory.h"

static struct condition_case {
    ns_numa_lock *lock;
    ns_numa_condition *condition;
    uint32_t *items; /* guarded by the lock */
} it;

static void make(void) {
    const ns_numa_lock_options options = {.kind = "tas", .nodes = 2};
    const ns_numa_condition_options waiting = {.nodes = 2, .batch = 1};
    ns_explore_require(!ns_numa_lock_create(&it.lock, &options), "the lock can be made");
    ns_explore_require(!ns_numa_condition_create(&it.condition, &waiting), "the condition can be made");
    it.items = ns_near_memory_allocate(sizeof *it.items, 0);
}

static void take(uint32_t node) {
    ns_numa_lock_acquire(it.lock, node);
    while (!*it.items) {
        ns_numa_condition_wait(it.condition, it.lock, node);
        ns_explore_forget(0);
    }
    --*it.items;
    ns_numa_lock_release(it.lock, node);
    ns_explore_forget(1);
}

static void put(uint32_t items, uint32_t node) {
    ns_numa_lock_acquire(it.lock, node);
    *it.items += items;
    ns_numa_lock_release(it.lock, node);
    ns_explore_forget(0);
}

static void put_and_take(uint32_t id) {
    if (id) {
        take(0);
        return;
    }
    put(1, 0);
    ns_numa_condition_signal(it.condition, 0);
}

/* One signal for each of two waiters on two nodes. */
static void signal_two(uint32_t id) {
    if (id < 2) {
        take(id);
        return;
    }
    put(2, 0);
    ns_numa_condition_signal(it.condition, 0);
    ns_explore_forget(1);
    ns_numa_condition_signal(it.condition, 0);
}

static void broadcast(uint32_t id) {
    if (id < 2) {
        take(id);
        return;
    }
    put(2, 0);
    ns_numa_condition_broadcast(it.condition, 1);
}

static void none_left(void) { ns_explore_require(!*it.items, "as many are taken as were put"); }

const ns_explore_case NS_CONDITION_CASES[] = {{"condition/one", 2, make, put_and_take, none_left},
                                              {"condition/two", 3, make, signal_two, none_left},
                                              {"condition/broadcast", 3, make, broadcast, none_left},
                                              {.name = NULL}};
