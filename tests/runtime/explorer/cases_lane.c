/* The lane, a worker's stack of tasks from which thieves take the oldest: every pushed task is executed once, by the
 * owner or by a thief, with the contents that it was pushed with; and a join sees all that the tasks did. */
#include "explore.h"
#include "platform/near_memory.h"
#include "queues/lane.h"

enum { MOST_TASKS = 4, CAPACITY = 4 };

enum { UNMADE, MADE, TAKEN, DONE };

typedef struct {
    ns_atomic_u32 state; /* written before the push; only the lane orders this write */
    ns_atomic_u32 result;
} task;

static struct lane_case {
    ns_lane *lane;
    task *tasks[MOST_TASKS];
    uint32_t task_count, tries;
} it;

static void make(uint32_t task_count, uint32_t tries) {
    it.lane = ns_near_memory_allocate(sizeof *it.lane, 0);
    ns_lane_owned *owned = ns_near_memory_allocate(sizeof *owned, 0);
    ns_explore_require(!ns_lane_create(it.lane, owned, CAPACITY), "the lane can be made");
    it.task_count = task_count;
    it.tries = tries;
    for (uint32_t at = 0; at < task_count; at++) it.tasks[at] = ns_near_memory_allocate(sizeof *it.tasks[at], 0);
}

/* The body of all tasks in this file, which is never called. Its arguments are the address for the result and the
 * number of the task. A thief replaces the number by the result. */
static void body(ns_task *self, void *arguments) { (void)self, (void)arguments; }

/* Execute the task of a slot, and replace the task's number by its result. Return the number. */
static uint32_t run(const ns_lane_slot *slot, char *arguments) {
    uint64_t at;
    ns_lane_copy_arguments(slot, arguments);
    memcpy(&at, arguments + NS_RESULT_AT, sizeof at);
    const uint64_t result = MOST_TASKS + at;
    memcpy(arguments + NS_RESULT_AT, &result, sizeof result);
    ns_explore_require(slot->body == body && at < it.task_count, "who takes a task finds what was put into its slot");
    const uint32_t before = ns_atomic_u32_fetch_add(&it.tasks[at]->state, 1, memory_order_relaxed);
    ns_explore_require(before != UNMADE, "who takes a task sees what was done before it was pushed");
    ns_explore_require(before == MADE, "no task is taken twice");
    return (uint32_t)at;
}

static void finish(uint32_t at) { ns_atomic_u32_store(&it.tasks[at]->result, DONE, memory_order_relaxed); }

static void push(uint64_t at) {
    ns_atomic_u32_store(&it.tasks[at]->state, MADE, memory_order_relaxed);
    const uint64_t arguments[] = {0, at};
    ns_explore_require(ns_lane_push(it.lane, body, arguments, sizeof arguments), "there is room for a task");
    ns_explore_forget(1 + (uint32_t)at);
}

/* Join the task at the top. `place` is the number of the thread's place after the join, for ns_explore_forget. */
static void join_one(uint32_t place) {
    const ns_lane_slot *slot = ns_lane_pop(it.lane);
    char arguments[NS_INLINED_BYTES];
    if (slot) {
        finish(run(slot, arguments));
    } else {
        ns_lane_slot *stolen = ns_lane_top(it.lane->owned) - 1;
        uint64_t result = 0;
        ns_lane_note_place(stolen, &result); /* a thief may still be reading the slot */
        while (!ns_lane_has_ended(stolen)) ns_pause();
        ns_lane_join_stolen(it.lane);
        ns_explore_require(MOST_TASKS <= result && result < MOST_TASKS + it.task_count,
                           "a join has the result of a stolen task");
    }
    ns_explore_forget(place);
}

static void join(uint32_t place) {
    while (ns_lane_top(it.lane->owned) != it.lane->slots) join_one(place);
}

static void require_done(uint32_t tasks) {
    for (uint32_t at = 0; at < tasks; at++)
        ns_explore_require(ns_atomic_u32_load(&it.tasks[at]->result, memory_order_relaxed) == DONE,
                           "a join sees what the tasks did");
}

static void steal(void) {
    for (uint32_t try = 0; try < it.tries; try++) {
        ns_lane_slot *slot = ns_lane_steal(it.lane);
        if (slot) {
            char arguments[NS_INLINED_BYTES];
            finish(run(slot, arguments));
            ns_lane_end(slot, arguments, sizeof(uint64_t));
        }
        ns_explore_forget(1 + try);
    }
}

/* The owner pushes all tasks, and joins them. */
static void push_all(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at < it.task_count; at++) push(at);
    join(MOST_TASKS + 1);
    require_done(it.task_count);
}

/* The owner joins some tasks before it pushes the others, so that slots are reused. */
static void push_again(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at + 1 < it.task_count; at++) push(at);
    join(MOST_TASKS + 1);
    require_done(it.task_count - 1);
    push(it.task_count - 1);
    join(MOST_TASKS + 2);
    require_done(it.task_count);
}

/* The owner executes the task at the top, which pushes another task. */
static void push_between(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at + 1 < it.task_count; at++) push(at);
    join_one(MOST_TASKS + 1);
    push(it.task_count - 1);
    join(MOST_TASKS + 2);
    require_done(it.task_count);
}

/* The owner makes all tasks public. */
static void publish(uint32_t id) {
    if (id) {
        steal();
        return;
    }
    for (uint32_t at = 0; at < it.task_count; at++) push(at);
    ns_lane_publish(it.lane);
    ns_explore_forget(MOST_TASKS + 1);
    join(MOST_TASKS + 2);
    require_done(it.task_count);
}

static void all_done(void) { require_done(it.task_count); }

static void make_short(void) { make(2, 2); }
static void make_wide(void) { make(3, 2); }
static void make_long(void) { make(4, 2); }
static void make_shared(void) { make(2, 1); }

const ns_explore_case NS_LANE_CASES[] = {{"lane/short", 2, make_short, push_all, all_done},
                                         {"lane/one thief", 2, make_wide, push_all, all_done},
                                         {"lane/two thieves", 3, make_shared, push_all, all_done},
                                         {"lane/again", 2, make_wide, push_again, all_done},
                                         {"lane/between", 2, make_long, push_between, all_done},
                                         {"lane/publish", 2, make_wide, publish, all_done},
                                         {.name = NULL}};
