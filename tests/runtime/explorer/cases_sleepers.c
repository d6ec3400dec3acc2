/* Workers that sleep when they find no task: no task is left while all workers sleep, and the end of a join wakes the
 * worker that sleeps in it.
 *
 * Worker 0 pushes the tasks, and the other workers take them. The queue is a count of tasks: the push is a relaxed
 * store, as in a deque, and a worker takes a task by compare-and-swap. Workers stop when all tasks are done. */
#include "explore.h"
#include "platform/near_memory.h"
#include "sync/sleepers.h"

static struct sleep_case {
    ns_idle rule;
    ns_sleepers *sleepers;
    ns_atomic_u32 *pushed, *taken; /* counts of tasks */
    ns_atomic_u32 *done;
    uint32_t workers, tasks;
} it;

/* Tell the explorer that `result` is all that the thread knows from its reads so far, so that states which differ only
 * in the values read become one state. `place` numbers the places of the thread's program. Returns `result`. */
static uint32_t forget(uint32_t place, uint32_t result) {
    ns_explore_forget(8 * place + result);
    return result;
}

static void make(const ns_idle *rule, uint32_t workers, uint32_t tasks) {
    it.rule = *rule;
    it.workers = workers;
    it.tasks = tasks;
    ns_explore_require(!ns_sleepers_create(&it.sleepers, &it.rule, workers), "the sleepers can be made");
    it.pushed = ns_near_memory_allocate(sizeof *it.pushed, 0);
    it.taken = ns_near_memory_allocate(sizeof *it.taken, 0);
    it.done = ns_near_memory_allocate(sizeof *it.done, 0);
}

static bool has_task(void *context) {
    (void)context;
    const uint32_t taken = ns_atomic_u32_load(it.taken, memory_order_relaxed);
    return ns_atomic_u32_load(it.pushed, memory_order_relaxed) != taken;
}

static bool has_no_task(void *context) {
    (void)context;
    return false;
}

static bool are_all_done(void *context) {
    (void)context;
    return ns_atomic_u32_load(it.done, memory_order_acquire) == it.tasks;
}

static bool take(void) {
    uint32_t taken = ns_atomic_u32_load(it.taken, memory_order_relaxed);
    while (ns_atomic_u32_load(it.pushed, memory_order_acquire) != taken) {
        if (ns_atomic_u32_compare_exchange(it.taken, &taken, taken + 1, memory_order_acq_rel, memory_order_relaxed))
            return true;
    }
    return false;
}

static void execute(void) {
    const uint32_t before = ns_atomic_u32_fetch_add(it.done, 1, memory_order_release);
    ns_explore_require(before < it.tasks, "no task is taken twice");
    ns_sleepers_ended(it.sleepers, it.done, before + 1);
}

/* Workers from 2 on can always take the tasks. This function says that worker 1 can
 * sometimes take tasks; in the cases worker 1 never takes any. */
static enum ns_reach reach(void *context, uint32_t worker) {
    (void)context;
    return worker > 1 ? NS_REACH_ALWAYS : worker == 1 ? NS_REACH_SOMETIMES : NS_REACH_NEVER;
}

static const ns_takers SOME = {reach, NULL};

static void push(uint32_t number) {
    const ns_takers *takers = it.rule.reach.count ? &SOME : NULL;
    ns_atomic_u32_store(it.pushed, number + 1, memory_order_relaxed);
    if (forget(1, ns_sleepers_pushed(it.sleepers, takers, false))) ns_sleepers_wake(it.sleepers, takers, 1);
    forget(2, number);
}

/* End the search of a worker that has found a task, or whose join is over. The worker may wake another worker. */
static void stop_searching(uint32_t id) {
    const uint64_t census = ns_sleepers_stop_searching(it.sleepers, id);
    const bool wakes = it.rule.chain_by == NS_CHAIN_FINDER || !ns_census_searching(census);
    if (forget(3, ns_census_sleeping(census) && wakes)) ns_sleepers_wake(it.sleepers, NULL, it.rule.chain);
    forget(4, 0);
}

static enum ns_sleep lie_down(uint32_t id, bool searched, uint64_t pushes) {
    const ns_sleep_order order = {.worker = id,
                                  .searched = searched,
                                  .pushes = pushes,
                                  .awaited = it.done,
                                  .target = it.tasks,
                                  .finds = it.rule.reach.count && id == 1 ? has_no_task : has_task,
                                  .is_over = are_all_done};
    const enum ns_sleep state = ns_sleepers_lie_down(it.sleepers, &order);
    if (searched) forget(5, state);
    return state == NS_ANNOUNCED ? ns_sleepers_fall_asleep(it.sleepers, id, false) : state;
}

/* If the state is NS_ASLEEP, sleep. Then search, as in search/resting.c. */
static void get_up(uint32_t id, enum ns_sleep state) {
    forget(6, state);
    if (state == NS_ASLEEP) state = ns_sleepers_sleep(it.sleepers, id, 0);
    forget(7, state);
    if (state == NS_AWAKE || !it.rule.counted) ns_sleepers_search(it.sleepers, id, true);
}

/* Take tasks until all are done, as a worker that searches. */
static void work_on(uint32_t id) {
    while (!are_all_done(NULL)) {
        const uint64_t pushes = it.rule.recheck == NS_RECHECK_EVENTS ? ns_sleepers_pushes(it.sleepers) : 0;
        if (forget(8, 2 * (uint32_t)pushes + take()) & 1) {
            stop_searching(id);
            execute();
            forget(9, 0);
            ns_sleepers_search(it.sleepers, id, true);
        } else {
            get_up(id, lie_down(id, true, pushes));
        }
        forget(10, 0);
    }
    forget(11, 0);
    stop_searching(id);
}

static void work(uint32_t id) {
    ns_sleepers_search(it.sleepers, id, true);
    work_on(id);
}

static void push_or_work(uint32_t id) {
    if (id)
        work(id);
    else
        for (uint32_t task = 0; task < it.tasks; task++) push(task);
}

/* Worker 0 ends a task that is in no queue, and worker 1 waits for this end. */
static void end_or_wait(uint32_t id) {
    if (id)
        work(id);
    else
        execute();
}

static void check(void) {
    ns_explore_require(ns_atomic_u32_load(it.done, memory_order_relaxed) == it.tasks, "every task is done");
    ns_explore_require(!ns_atomic_u64_load(&it.sleepers->census, memory_order_relaxed), "no worker searches or sleeps");
}

/* Worker 2 sleeps. Worker 1 searches, and has found no task yet. */
static void push_to_two(uint32_t id) {
    if (id == 0)
        push(0);
    else if (id == 1)
        work_on(id);
    else
        get_up(id, NS_ASLEEP), work_on(id);
}

/* Worker 2 sleeps. Worker 1 searches, but can take no task. */
static void push_beside_idler(uint32_t id) {
    if (id != 1) {
        push_to_two(id);
        return;
    }
    while (!forget(12, are_all_done(NULL))) get_up(id, lie_down(id, true, 0));
    stop_searching(id);
}

#define RULE(...) &(ns_idle){.given = true, .sleeps = true, .factor = 1, .between_ps = -1, __VA_ARGS__}

static void each(void) { make(RULE(.recheck = NS_RECHECK_EACH, .at = NS_WAKE_EVERY_PUSH, .cancels = true), 2, 1); }

static void uncancelled(void) {
    make(RULE(.recheck = NS_RECHECK_EACH, .at = NS_WAKE_EVERY_PUSH, .counted = true), 2, 1);
}

static void events(void) { make(RULE(.recheck = NS_RECHECK_EVENTS, .at = NS_WAKE_UNCOVERED, .cancels = true), 2, 1); }

static void last_of(uint32_t tasks) {
    make(RULE(.recheck = NS_RECHECK_LAST, .at = NS_WAKE_NO_SEARCHER, .cancels = true, .counted = true, .chain = 1,
              .chain_by = NS_CHAIN_LAST_SEARCHER),
         2, tasks);
}

static void last(void) { last_of(1); }

static void two_sleepers(void) {
    make(RULE(.recheck = NS_RECHECK_LAST, .at = NS_WAKE_NO_SEARCHER, .cancels = true, .counted = true), 3, 1);
    ns_sleepers_search(it.sleepers, 1, true);
    ns_explore_require(lie_down(2, false, 0) == NS_ASLEEP, "a worker can fall asleep while another searches");
}

static void beside_idler(void) {
    static const uint8_t some = NS_REACH_SOMETIMES;
    make(RULE(.recheck = NS_RECHECK_LAST, .at = NS_WAKE_NO_SEARCHER, .cancels = true, .counted = true,
              .reach = {&some, 1}),
         3, 1);
    ns_sleepers_search(it.sleepers, 1, true);
    ns_explore_require(lie_down(2, false, 0) == NS_ASLEEP, "a worker can fall asleep while another searches");
}

static void last_twice(void) { last_of(2); }

const ns_explore_case NS_SLEEP_CASES[] = {{"sleep/each", 2, each, push_or_work, check},
                                          {"sleep/uncancelled", 2, uncancelled, push_or_work, check},
                                          {"sleep/events", 2, events, push_or_work, check},
                                          {"sleep/join", 2, each, end_or_wait, check},
                                          {"sleep/last", 2, last, push_or_work, check},
                                          {"sleep/beside idler", 3, beside_idler, push_beside_idler, check},
                                          {"long/two sleepers", 3, two_sleepers, push_to_two, check},
                                          {"long/sleep twice", 2, last_twice, push_or_work, check},
                                          {.name = NULL}};
