/* Tasks with dependences: each task begins once, after all tasks that it waits for have ended, and sees all that these
 * tasks did. When these tasks end, the parent may still be looking up the task's dependences, or may be long done. */
#include "dependences/dependences.h"
#include "explore.h"
#include "platform/near_memory.h"

enum { TASKS = 4 };

enum { UNDONE, DONE };

static struct {
    ns_dependent *task[TASKS];
    ns_waiting *entry[TASKS];  /* for each task, its entries in the lists of earlier tasks */
    ns_atomic_u32 *did[TASKS]; /* for each task, 1 when it has run; only the dependences order these words */
    ns_atomic_u32 *ran[TASKS]; /* how often each task has begun */
    uint32_t first;            /* tasks before number `first` run while the parent spawns the tasks from `first` on */
} it;

static void make(uint32_t first) {
    it.first = first;
    for (uint32_t at = 0; at < TASKS; at++) {
        it.task[at] = ns_near_memory_allocate(sizeof *it.task[at], 0);
        it.entry[at] = ns_near_memory_allocate(TASKS * sizeof *it.entry[at], 0);
        it.did[at] = ns_near_memory_allocate(sizeof *it.did[at], 0);
        it.ran[at] = ns_near_memory_allocate(sizeof *it.ran[at], 0);
        ns_dependent_create(it.task[at]);
        it.task[at]->row = at;
    }
}

/* Run a task that waited for all tasks before `it.first` (or for none), and then the tasks that it releases. */
static void run(ns_dependent *task) {
    const uint32_t number = task->row;
    const uint32_t before = ns_atomic_u32_fetch_add(it.ran[number], 1, memory_order_relaxed);
    ns_explore_require(!before, "no task begins twice");
    for (uint32_t at = 0; number >= it.first && at < it.first; at++)
        ns_explore_require(ns_atomic_u32_load(it.did[at], memory_order_relaxed) == DONE,
                           "a task sees what those did that it waited for");
    ns_atomic_u32_store(it.did[number], DONE, memory_order_relaxed);
    for (ns_waiting *each = ns_dependent_end(task); each; each = each->next)
        if (ns_dependent_release(each->task)) run(each->task);
}

/* Spawn a task that waits for all tasks before `it.first`. Called by the parent. */
static void spawn(uint32_t number) {
    uint32_t others = 0;
    for (uint32_t at = 0; at < it.first; at++)
        others += ns_dependent_wait_for(it.task[number], it.task[at], &it.entry[number][at]);
    if (ns_dependent_is_free(it.task[number], others)) run(it.task[number]);
}

static void one_after_two(uint32_t id) {
    if (id)
        run(it.task[id - 1]);
    else
        spawn(2);
}

static void two_after_one(uint32_t id) {
    if (id) {
        run(it.task[0]);
    } else {
        spawn(1);
        spawn(2);
    }
}

static void three_after_one(uint32_t id) {
    if (id) {
        run(it.task[0]);
    } else {
        for (uint32_t number = 1; number < TASKS; number++) spawn(number);
    }
}

static void require_run(uint32_t tasks) {
    for (uint32_t at = 0; at < tasks; at++)
        ns_explore_require(ns_atomic_u32_load(it.ran[at], memory_order_relaxed) == 1, "every task begins");
}

static void three_run(void) { require_run(3); }
static void four_run(void) { require_run(4); }

static void make_two(void) { make(2); }
static void make_one(void) { make(1); }

const ns_explore_case NS_DEPENDENT_CASES[] = {{"dependent/one after two", 3, make_two, one_after_two, three_run},
                                              {"dependent/two after one", 2, make_one, two_after_one, three_run},
                                              {"dependent/three after one", 2, make_one, three_after_one, four_run},
                                              {.name = NULL}};
