/* Real threads on locks, conditions and barriers. Exit status 1 and a sentence if a count is not exact. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "platform/sanitizers.h"

#ifdef NS_THREAD_SANITIZER /* finds races by their order alone, so fewer repetitions suffice */
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif
enum { THREADS = 6, NODES = 2, ROUNDS = 1500 / SHARE, ITEMS = 600 / SHARE, EPISODES = 300 / SHARE };

typedef struct {
    ns_numa_lock *lock;
    ns_numa_condition *filled, *emptied;
    ns_numa_barrier *barrier;
    int64_t counter;            /* not atomic: the tested lock makes the count exact */
    int64_t items, taken, most; /* the state of a buffer with room for one item */
    int64_t arrivals[THREADS];  /* not atomic: written before a barrier, read by all threads after the barrier */
    int64_t early;
} shared;

typedef struct {
    shared *all;
    uint32_t id;
} member;

static uint32_t node_of(const member *self) { return self->id % NODES; }

static void *count(void *argument) {
    member *self = argument;
    for (int round = 0; round < ROUNDS; round++) {
        ns_numa_lock_acquire(self->all->lock, node_of(self));
        self->all->counter++;
        ns_numa_lock_release(self->all->lock, node_of(self));
    }
    return NULL;
}

/* One half of the threads wait for the lock, and the other half try until they have the lock. */
static void *count_by_trying(void *argument) {
    member *self = argument;
    for (int round = 0; round < ROUNDS; round++) {
        if (self->id < THREADS / 2)
            ns_numa_lock_acquire(self->all->lock, node_of(self));
        else
            while (!ns_numa_lock_try_acquire(self->all->lock, node_of(self))) sched_yield();
        self->all->counter++;
        ns_numa_lock_release(self->all->lock, node_of(self));
    }
    return NULL;
}

static void put(shared *all, uint32_t node) {
    ns_numa_lock_acquire(all->lock, node);
    while (all->items) ns_numa_condition_wait(all->emptied, all->lock, node);
    all->items++;
    if (all->items > all->most) all->most = all->items;
    ns_numa_lock_release(all->lock, node);
    ns_numa_condition_signal(all->filled, node);
}

static void take(shared *all, uint32_t node) {
    ns_numa_lock_acquire(all->lock, node);
    while (!all->items) ns_numa_condition_wait(all->filled, all->lock, node);
    all->items--;
    all->taken++;
    ns_numa_lock_release(all->lock, node);
    ns_numa_condition_signal(all->emptied, node);
}

static void *exchange(void *argument) {
    member *self = argument;
    for (int item = 0; item < ITEMS / (THREADS / 2); item++)
        (self->id < THREADS / 2 ? put : take)(self->all, node_of(self));
    return NULL;
}

/* All threads wait until the first thread has given the signal, once. */
static void *await_all(void *argument) {
    member *self = argument;
    ns_numa_lock_acquire(self->all->lock, node_of(self));
    if (self->all->counter == THREADS - 1) {
        self->all->items = 1;
        ns_numa_condition_broadcast(self->all->filled, node_of(self));
    }
    self->all->counter++;
    while (!self->all->items) ns_numa_condition_wait(self->all->filled, self->all->lock, node_of(self));
    ns_numa_lock_release(self->all->lock, node_of(self));
    return NULL;
}

static void *meet(void *argument) {
    member *self = argument;
    shared *all = self->all;
    int64_t early = 0;
    for (int64_t episode = 1; episode <= EPISODES; episode++) {
        all->arrivals[self->id] = episode;
        ns_numa_barrier_arrive(all->barrier, self->id);
        for (uint32_t other = 0; other < THREADS; other++) early += all->arrivals[other] != episode;
        ns_numa_barrier_arrive(all->barrier, self->id);
    }
    ns_numa_lock_acquire(all->lock, node_of(self));
    all->early += early;
    ns_numa_lock_release(all->lock, node_of(self));
    return NULL;
}

static void run(shared *all, void *(*body)(void *)) {
    pthread_t thread[THREADS];
    member members[THREADS];
    for (uint32_t id = 0; id < THREADS; id++) {
        members[id] = (member){all, id};
        if (pthread_create(&thread[id], NULL, body, &members[id])) abort();
    }
    for (uint32_t id = 0; id < THREADS; id++) pthread_join(thread[id], NULL);
}

static bool is(const char *what, const char *kind, int64_t found, int64_t expected) {
    if (found != expected) printf("%s, %s: %lld instead of %lld\n", kind, what, (long long)found, (long long)expected);
    return found == expected;
}

static bool try_lock(const char *kind, uint32_t spins) {
    shared all = {0};
    const ns_numa_lock_options options = {.kind = kind, .nodes = NODES, .batch = 3, .spins = spins};
    const ns_numa_condition_options waiting = {.nodes = NODES, .batch = 2, .spins = spins};
    if (ns_numa_lock_create(&all.lock, &options) || ns_numa_condition_create(&all.filled, &waiting) ||
        ns_numa_condition_create(&all.emptied, &waiting))
        return false;
    run(&all, count);
    bool exact = is("counted", kind, all.counter, (int64_t)THREADS * ROUNDS);
    all.counter = 0;
    run(&all, count_by_trying);
    exact &= is("counted by trying", kind, all.counter, (int64_t)THREADS * ROUNDS);
    run(&all, exchange);
    exact &= is("taken", kind, all.taken, ITEMS) & is("left", kind, all.items, 0) & is("at once", kind, all.most, 1);
    all.counter = 0;
    run(&all, await_all);
    exact &= is("passed", kind, all.counter, THREADS);
    ns_numa_condition_destroy(all.emptied);
    ns_numa_condition_destroy(all.filled);
    ns_numa_lock_destroy(all.lock);
    return exact;
}

static bool try_barrier(const char *kind) {
    const uint32_t nodes[THREADS] = {0, 1, 0, 1, 2, 0};
    shared all = {0};
    const ns_numa_barrier_options options = {.kind = kind, .parties = THREADS, .party_node = nodes};
    if (ns_numa_lock_create(&all.lock, &(ns_numa_lock_options){.kind = "mutex", .nodes = NODES}) ||
        ns_numa_barrier_create(&all.barrier, &options))
        return false;
    run(&all, meet);
    ns_numa_barrier_destroy(all.barrier);
    ns_numa_lock_destroy(all.lock);
    return is("early", kind, all.early, 0);
}

/* Return whether impossible locks, conditions and barriers are refused. */
static bool refuse(void) {
    ns_numa_lock *lock;
    ns_numa_barrier *barrier;
    return is("lock", "spin", ns_numa_lock_create(&lock, &(ns_numa_lock_options){.kind = "spin"}), NS_ERROR_OPTION) &
           is("barrier", "ring", ns_numa_barrier_create(&barrier, &(ns_numa_barrier_options){"ring", 2, NULL, 0}),
              NS_ERROR_OPTION) &
           is("no parties", "flag", ns_numa_barrier_create(&barrier, &(ns_numa_barrier_options){.kind = "flag"}),
              NS_ERROR_OPTION);
}

int main(void) {
    bool exact = refuse();
    uint32_t tried = 0;
    for (uint32_t at = 0; ns_numa_lock_kind(at); at++, tried++)
        exact &= try_lock(ns_numa_lock_kind(at), 0) & try_lock(ns_numa_lock_kind(at), 100);
    for (uint32_t at = 0; ns_numa_barrier_kind(at); at++, tried++) exact &= try_barrier(ns_numa_barrier_kind(at));
    printf("%u kinds\n", tried);
    return exact ? 0 : 1;
}
