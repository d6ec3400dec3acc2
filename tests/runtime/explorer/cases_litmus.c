/* Tests of the explorer: small programs with known outcomes in each memory model. If the requirement of a case is too
 * strong for some memory models, the explorer must find it violated in exactly these models. */
#include "explore.h"
#include "platform/near_memory.h"
#include "platform/waiting.h"

static struct litmus_case {
    ns_atomic_u32 *x, *y;
    uint32_t *seen; /* the values that each thread has seen, on words of its own */
} it;

static void make(void) {
    it.x = ns_near_memory_allocate(sizeof *it.x, 0);
    it.y = ns_near_memory_allocate(sizeof *it.y, 0);
    it.seen = ns_near_memory_allocate(2 * sizeof *it.seen, 0);
}

/* Each thread stores to its own word, and then loads the other thread's word. */
static void store_then_load(uint32_t id, memory_order order) {
    ns_atomic_u32_store(id ? it.y : it.x, 1, order);
    it.seen[id] = ns_atomic_u32_load(id ? it.x : it.y, memory_order_seq_cst);
}
static void store_release(uint32_t id) { store_then_load(id, memory_order_release); }
static void store_sequential(uint32_t id) { store_then_load(id, memory_order_seq_cst); }
static void one_saw(void) { ns_explore_require(it.seen[0] || it.seen[1], "one of two stores is seen by the other"); }

/* One thread writes a message, then a flag. The other loads the flag, then the message. */
static void pass_message(uint32_t id, memory_order order) {
    if (id) {
        const uint32_t said = ns_atomic_u32_load(it.y, memory_order_acquire);
        it.seen[0] = said && !ns_atomic_u32_load(it.x, memory_order_relaxed);
    } else {
        ns_atomic_u32_store(it.x, 1, memory_order_relaxed);
        ns_atomic_u32_store(it.y, 1, order);
    }
}
static void pass_relaxed(uint32_t id) { pass_message(id, memory_order_relaxed); }
static void pass_released(uint32_t id) { pass_message(id, memory_order_release); }
static void passed(void) { ns_explore_require(!it.seen[0], "who is told of a message finds it"); }

static void add_in_one_step(uint32_t id) {
    (void)id;
    ns_atomic_u32_fetch_add(it.x, 1, memory_order_relaxed);
}
static void add_in_two_steps(uint32_t id) {
    (void)id;
    ns_atomic_u32_store(it.x, ns_atomic_u32_load(it.x, memory_order_relaxed) + 1, memory_order_relaxed);
}
static void two(void) {
    ns_explore_require(ns_atomic_u32_load(it.x, memory_order_relaxed) == 2, "each of two increments counts");
}

/* Each thread adds to one word. There are as many schedules as permutations of threads. */
static void draw(uint32_t id) {
    it.seen[0] = 4 * it.seen[0] + ns_atomic_u32_fetch_add(it.x, 1 + id, memory_order_seq_cst);
}

/* The threads access different words, so that the order of accesses does not matter. */
static void apart(uint32_t id) { ns_atomic_u32_fetch_add(id ? it.x : it.y, 1, memory_order_seq_cst); }

static void wait_in_vain(uint32_t id) {
    if (id)
        ns_atomic_u32_store(it.x, 1, memory_order_relaxed);
    else
        while (ns_atomic_u32_load(it.x, memory_order_relaxed) != 2) ns_pause();
}

/* One thread sleeps until the other thread has stored. The other thread does not wake the sleeper. */
static void sleep_on(uint32_t id) {
    if (id)
        ns_atomic_u32_store(it.x, 1, memory_order_seq_cst);
    else
        ns_futex_wait(it.x, 0);
}

const ns_explore_case NS_LITMUS_CASES[] = {{"litmus/store then load, release", 2, make, store_release, one_saw},
                                           {"litmus/store then load, sequential", 2, make, store_sequential, one_saw},
                                           {"litmus/message, relaxed", 2, make, pass_relaxed, passed},
                                           {"litmus/message, released", 2, make, pass_released, passed},
                                           {"litmus/increment, one step", 2, make, add_in_one_step, two},
                                           {"litmus/increment, two steps", 2, make, add_in_two_steps, two},
                                           {"litmus/draw", 4, make, draw, NULL},
                                           {"litmus/apart", 2, make, apart, NULL},
                                           {"litmus/wait in vain", 2, make, wait_in_vain, NULL},
                                           {"litmus/sleep on", 2, make, sleep_on, NULL},
                                           {.name = NULL}};
