/* The order in which the tasks of a random program begin: `orders MODE SEED`. MODE is spawned, newest or stolen (the
 * orders of serial runs), worker (a single native worker) or thief (the second of two workers, while the first worker
 * stays in the root). `orders recorded` asks for a recording in an order other than spawned, and prints the error.
 *
 * A task spawns up to four children, calls some of its parts, joins now and then, and has arguments of many sizes. With
 * stolen and thief, the root only spawns such tasks. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { DEPTH = 5, MOST_CHILDREN = 4, MOST_BYTES = 600, JOINS = 3, BETWEEN_JOINS = 4 };

static atomic_int under_way; /* number of tasks that were spawned or called and have not ended */
static bool stays;           /* whether the root stays until `under_way` is 0 */

typedef struct {
    uint64_t seed;
    uint32_t depth, bytes;
    char filling[MOST_BYTES];
} arguments;

static uint64_t mixed(uint64_t seed, uint64_t number) {
    uint64_t z = seed + (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void complain_about(const arguments *self) {
    for (uint32_t at = 0; at < self->bytes; at++) {
        if (self->filling[at] != (char)self->seed) printf("damaged ");
    }
}

static void step(ns_task *self, void *whole);

static void descend(ns_task *self, const arguments *from, uint64_t number) {
    const uint64_t draw = mixed(from->seed, number);
    arguments next = {.seed = draw, .depth = from->depth + 1, .bytes = (uint32_t)(draw >> 20) % MOST_BYTES};
    const size_t bytes = offsetof(arguments, filling) + next.bytes;
    memset(next.filling, (char)draw, next.bytes);
    atomic_fetch_add(&under_way, 1);
    if (draw % 8 == 0) {
        ns_call(self, step, &next);
    } else if (draw % 8 == 1) {
        ns_future future;
        ns_future_spawn(self, &future, step, &next, bytes);
        ns_future_get(self, &future);
    } else {
        ns_spawn(self, step, &next, bytes);
    }
    if (draw % 5 == 0) ns_join(self);
}

static void step(ns_task *self, void *whole) {
    const arguments *own = whole;
    printf("%016llx ", (unsigned long long)own->seed);
    complain_about(own);
    const uint64_t children = own->depth < DEPTH ? mixed(own->seed, 99) % (MOST_CHILDREN + 1) : 0;
    for (uint64_t child = 0; child < children; child++) descend(self, own, child);
    atomic_fetch_sub(&under_way, 1);
}

static void do_nothing(ns_task *self, void *none) { (void)self, (void)none; }

/* Let thieves have tasks. A worker leaves tasks to thieves only at its pushes and pops. So this worker pushes a task
 * that is newer than all others. */
static void look_at_deque(ns_task *self) {
    ns_future newest;
    ns_future_spawn(self, &newest, do_nothing, NULL, 0);
    ns_future_get(self, &newest);
    sched_yield();
}

static void lead(ns_task *self, void *whole) {
    arguments child = *(const arguments *)whole;
    child.depth = 1;
    for (int join = 0; join < JOINS; join++) {
        for (int at = 0; at < BETWEEN_JOINS; at++) {
            child.seed = mixed(child.seed, (uint64_t)at);
            atomic_fetch_add(&under_way, 1);
            ns_spawn(self, step, &child, offsetof(arguments, filling));
        }
        while (stays && atomic_load(&under_way)) look_at_deque(self);
        ns_join(self);
    }
}

static int run(const ns_pool_options *options, ns_body *root, uint64_t seed) {
    const arguments first = {.seed = seed};
    ns_pool *pool;
    int error = ns_pool_create(&pool, options);
    if (!error) error = ns_pool_run(pool, root, &first, sizeof first);
    ns_pool_destroy(pool);
    return -error;
}

typedef struct {
    const char *name;
    ns_pool_options options;
    ns_body *root;
} mode;

static const mode MODE[] = {
    {"spawned", {.mode = NS_MODE_SERIAL, .order = NS_ORDER_SPAWNED}, step},
    {"newest", {.mode = NS_MODE_SERIAL, .order = NS_ORDER_NEWEST}, step},
    {"stolen", {.mode = NS_MODE_SERIAL, .order = NS_ORDER_STOLEN}, lead},
    {"worker", {.mode = NS_MODE_NATIVE, .workers = 1}, step},
    {"thief", {.mode = NS_MODE_NATIVE, .workers = 2}, lead},
    {"recorded", {.mode = NS_MODE_SERIAL, .order = NS_ORDER_NEWEST, .record = "never written"}, step},
};

int main(int count, char **argument) {
    stays = strcmp(argument[1], "thief") == 0;
    for (size_t at = 0; at < sizeof MODE / sizeof *MODE; at++) {
        if (strcmp(argument[1], MODE[at].name) == 0) {
            return run(&MODE[at].options, MODE[at].root, count > 2 ? strtoull(argument[2], NULL, 10) : 0);
        }
    }
    return EXIT_FAILURE;
}
