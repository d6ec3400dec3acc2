/* Tasks that end only if a thief steals: `waiting first|last CHILDREN WORKERS PLAN`. A run that misses a steal hangs.
 *
 * first: the root spawns CHILDREN children, and then waits until one of them has begun, on another worker. last: the
 * root spawns CHILDREN children, and then one more child. The worker of the root takes this newest child first, and the
 * newest child waits until another child has begun. */
#include "program.h"

typedef struct {
    uint32_t begun;
    int children, newest_waits;
} family;

static void signal_begin(ns_task *self, void *arguments) { ns_word_signal(self, ((const family *)arguments)->begun); }

static void await_begin(ns_task *self, void *arguments) { ns_word_await(self, ((const family *)arguments)->begun); }

static void spawn_children(ns_task *self, void *arguments) {
    const family *all = arguments;
    for (int child = 0; child < all->children; child++) ns_spawn(self, signal_begin, all, sizeof *all);
    if (all->newest_waits)
        ns_spawn(self, await_begin, all, sizeof *all);
    else
        ns_word_await(self, all->begun);
    ns_join(self);
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count - 2, words + 2);
    const family all = {.begun = (uint32_t)ns_word_create(pool, "begun", NS_WORD_CONDITION, 0, 1),
                        .children = atoi(words[2]),
                        .newest_waits = strcmp(words[1], "last") == 0};
    run(pool, spawn_children, &all, sizeof all);
    return finish(pool);
}
