/* In which order the tasks of a random program begin: `orders MODE SEED`, where MODE is spawned or newest (serially) or
 * worker (a native worker alone); or `orders recorded`, which asks for a recording of the second and prints the error.
 *
 * A task spawns up to four children, calls some of its parts, joins now and then, and has arguments of many sizes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { DEPTH = 5, MOST_CHILDREN = 4, MOST_BYTES = 600 };

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
}

static int run(const ns_pool_options *options, uint64_t seed) {
    const arguments first = {.seed = seed};
    ns_pool *pool;
    int error = ns_pool_create(&pool, options);
    if (!error) error = ns_pool_run(pool, step, &first, offsetof(arguments, filling));
    ns_pool_destroy(pool);
    return -error;
}

int main(int count, char **argument) {
    ns_pool_options options = {.mode = NS_MODE_SERIAL, .workers = 1, .newest_first = true};
    if (strcmp(argument[1], "recorded") == 0) options.record = "never written";
    if (strcmp(argument[1], "spawned") == 0) options.newest_first = false;
    if (strcmp(argument[1], "worker") == 0) options = (ns_pool_options){.mode = NS_MODE_NATIVE, .workers = 1};
    return run(&options, count > 2 ? strtoull(argument[2], NULL, 10) : 0);
}
