/* The deque: every pushed task is taken once, by the owner or by a thief, with the contents that it was pushed with. */
#include "explore.h"
#include "platform/near_memory.h"
#include "queues/deque.h"

enum { MOST_TASKS = 4, MOST_TRIES = 3 };

enum { UNMADE, MADE, TAKEN };

typedef struct {
    ns_atomic_u32 state; /* written before the push; only the deque orders this write */
} task;

static struct deque_case {
    ns_deque *deque;
    task *tasks[MOST_TASKS];
    uint32_t task_count, tries;
} it;

static void make(uint32_t capacity_bits, uint32_t task_count, uint32_t tries) {
    it.deque = ns_near_memory_allocate(sizeof *it.deque, 0);
    ns_explore_require(!ns_deque_create(it.deque, capacity_bits), "the deque can be made");
    it.task_count = task_count;
    it.tries = tries;
    for (uint32_t at = 0; at < task_count; at++) it.tasks[at] = ns_near_memory_allocate(sizeof *it.tasks[at], 0);
}

static void run(task *taken) {
    const uint32_t before = ns_atomic_u32_fetch_add(&taken->state, 1, memory_order_relaxed);
    ns_explore_require(before != UNMADE, "who takes a task finds what was put into it");
    ns_explore_require(before == MADE, "no task is taken twice");
}

static void push(uint32_t at) {
    ns_atomic_u32_store(&it.tasks[at]->state, MADE, memory_order_relaxed);
    ns_explore_require(!ns_deque_push(it.deque, it.tasks[at]), "there is room for a task");
    ns_explore_forget(1 + at);
}

static bool pop(uint32_t place) {
    task *taken = ns_deque_pop(it.deque);
    if (!taken) return false;
    run(taken);
    ns_explore_forget(place);
    return true;
}

static void steal(void) {
    for (uint32_t try = 0; try < it.tries; try++) {
        task *taken = ns_deque_steal(it.deque);
        if (taken) run(taken);
        ns_explore_forget(1 + try);
    }
}

/* The owner pushes all tasks, and then takes tasks until the deque is empty. */
static void push_all(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at < it.task_count; at++) push(at);
    while (pop(MOST_TASKS + 1)) continue;
}

/* The owner takes a task between pushes, so that slots are reused. */
static void push_and_pop(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at < it.task_count; at++) {
        push(at);
        if (at % 2) pop(MOST_TASKS + 2 + at);
    }
    while (pop(MOST_TASKS + 1)) continue;
}

static void all_taken(void) {
    for (uint32_t at = 0; at < it.task_count; at++)
        ns_explore_require(ns_atomic_u32_load(&it.tasks[at]->state, memory_order_relaxed) == TAKEN, "no task is lost");
}

static void make_short(void) { make(2, 2, 2); }
static void make_wide(void) { make(2, 3, 2); }
static void make_shared(void) { make(2, 3, 1); }
static void make_narrow(void) { make(1, 3, 2); }

const ns_explore_case NS_DEQUE_CASES[] = {{"deque/short", 2, make_short, push_all, all_taken},
                                          {"deque/one thief", 2, make_wide, push_all, all_taken},
                                          {"deque/two thieves", 3, make_shared, push_all, all_taken},
                                          {"deque/reuse", 2, make_narrow, push_and_pop, all_taken},
                                          {"deque/growth", 2, make_narrow, push_all, all_taken},
                                          {.name = NULL}};
