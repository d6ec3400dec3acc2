/* Lets workers sleep in barriers and conditions while tasks are left, with joins by continuation. Other workers must
 * resume the tasks that a sleeping worker was to resume. Run as `sleepers WORKERS PLAN [full]`. A fault makes the
 * program hang. */
#include <sched.h>
#include <stdatomic.h>

#include "program.h"

enum { MOST_FILLERS = 100000, ROUNDS = 30 };

/* ---- a parent that waits behind its child, while the child sleeps ------------------------------------------------ */

static struct {
    uint32_t begin, ready, barrier;
    _Atomic int holding, spawning, inlined, done;
} it;

/* Keep the second worker busy until the queue of the first worker is full. */
BODY(hold) {
    atomic_store(&it.holding, 1);
    ns_word_await(self, it.begin);
}

/* Fill the queue. The first task without room in the queue runs at once, and sleeps until all others have run. */
BODY(filler) {
    const int mine = *(int *)arguments;
    if (atomic_load(&it.spawning) == mine) {
        atomic_store(&it.inlined, mine);
        ns_word_signal(self, it.begin);
        ns_word_await(self, it.ready);
        ns_word_arrive(self, it.barrier);
    } else if (atomic_fetch_add(&it.done, 1) + 2 == atomic_load(&it.spawning)) {
        ns_word_signal(self, it.ready);
    }
}

BODY(fill) {
    ns_spawn(self, hold, NULL, 0);
    while (!atomic_load(&it.holding)) sched_yield();
    for (int mine = 1; mine < MOST_FILLERS && !atomic_load(&it.inlined); mine++) {
        atomic_store(&it.spawning, mine);
        ns_spawn(self, filler, &mine, sizeof mine);
    }
    require(atomic_load(&it.inlined) > 1, "a queue becomes full");
    ns_word_arrive(self, it.barrier); /* the child arrives at this barrier, too */
}

/* ---- uneven teams ------------------------------------------------------------------------------------------------ */

BODY(leaf) { atomic_fetch_add(*(_Atomic int **)arguments, 1); }

BODY(branch) {
    for (int child = 0; child < 3; child++) ns_spawn(self, leaf, arguments, sizeof(_Atomic int *));
    ns_join(self);
    leaf(self, arguments);
}

static _Atomic int part_count;

/* Each part of the team has another number of branches in each round. The first parts have no branches. */
BODY(uneven_part) {
    const uint32_t barrier = *(uint32_t *)arguments;
    const int part = atomic_fetch_add(&part_count, 1);
    for (int round = 0; round < ROUNDS; round++) {
        _Atomic int leaves = 0, *counted = &leaves;
        const int branches = (part * (round + 1)) % 7;
        for (int each = 0; each < branches; each++) ns_spawn(self, branch, &counted, sizeof(_Atomic int *));
        ns_join(self);
        require(atomic_load(&leaves) == 4 * branches, "a join waits for all");
        ns_word_arrive(self, barrier);
    }
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    const uint32_t all = (uint32_t)ns_word_create(pool, "all", NS_WORD_BARRIER, 0, (uint32_t)atoi(words[1]));
    team(pool, uneven_part, &all, sizeof all);
    if (count > 3) {
        it.begin = (uint32_t)ns_word_create(pool, "begin", NS_WORD_CONDITION, 0, 1);
        it.ready = (uint32_t)ns_word_create(pool, "ready", NS_WORD_CONDITION, 0, 1);
        it.barrier = (uint32_t)ns_word_create(pool, "both", NS_WORD_BARRIER, 0, 2);
        run(pool, fill, NULL, 0);
    }
    return finish(pool);
}
