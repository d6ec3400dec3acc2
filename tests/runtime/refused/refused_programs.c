/* Programs in virtual time that differ from their plan's graph in one step: whichever step it is, the run is refused,
 * and leaves no memory.
 *
 * Run as `refused_programs PLAN`. The program is a tree of tasks with arguments in allocated memory. Step number n is
 * wrong, in each of several ways. Prints a line with the error code and the reason for each wrong program. */
#include <stdio.h>

#include "numasim/runtime.h"

enum way { JOINS, LOCKS, AWAITS, CALLS, SPAWNS, RETURNS, WAYS };
enum { DEPTH = 5, STEPS = 40 };

static int left; /* number of steps before the wrong step */
static enum way wrong;

typedef struct {
    int depth;
    char filling[500];
} arguments;

static void leaf(ns_task *self, void *nothing) {
    (void)self;
    (void)nothing;
}

static void tree(ns_task *self, void *given);

/* Count a step. If it is the wrong step, make a wrong call and return true. */
static bool goes_wrong(ns_task *self) {
    ns_future future;
    if (--left) return false;
    switch (wrong) {
        case JOINS: ns_join(self); break;
        case LOCKS: ns_word_lock(self, 0); break;
        case AWAITS: ns_future_spawn(self, &future, leaf, NULL, 0), ns_future_get(self, &future); break;
        case CALLS: ns_call(self, leaf, NULL); break;
        case SPAWNS: ns_spawn(self, leaf, NULL, 0), ns_spawn(self, leaf, NULL, 0), ns_spawn(self, leaf, NULL, 0); break;
        default: break;
    }
    return true;
}

static void tree(ns_task *self, void *given) {
    arguments less = {.depth = ((const arguments *)given)->depth - 1};
    if (goes_wrong(self) || less.depth < 0) return;
    for (int child = 0; child < 2; child++) {
        if (goes_wrong(self)) return;
        ns_spawn(self, tree, &less, sizeof less);
        less.depth--;
        if (less.depth < 0) break;
    }
    if (!goes_wrong(self)) ns_join(self);
}

static void refuse(const char *plan) {
    ns_pool *pool = NULL;
    arguments whole = {.depth = DEPTH};
    int error = ns_pool_create(&pool, &(ns_pool_options){.mode = NS_MODE_VIRTUAL, .plan = plan});
    if (!error) error = ns_pool_run(pool, tree, &whole, sizeof whole);
    const int again = error && pool ? ns_pool_run(pool, tree, &whole, sizeof whole) : error;
    printf("%d %d %s\n", error, again, error ? ns_pool_problem(pool) : "");
    ns_pool_destroy(pool);
}

int main(int count, char **plans) {
    for (int plan = 1; plan < count; plan++) {
        for (int way = 0; way < WAYS; way++) {
            for (int step = 1; step <= STEPS; step++) {
                wrong = (enum way)way;
                left = step;
                refuse(plans[plan]);
            }
        }
    }
    return 0;
}
