/* A program of what is particular about lanes, on `workers` threads: more children than a lane has room for, arguments
 * of all sizes, and tasks that wait for what lies below them in the lane. Prints what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { MANY = (1 << 20) + 1000, MOST_BYTES = 64 };

static int wrong;

static void require(int holds, const char *what) {
    if (holds) return;
    printf("wrong: %s\n", what);
    wrong = 1;
}

static void increment(ns_task *self, void *arguments) {
    (void)self;
    ++**(uint8_t **)arguments;
}

/* Two increments, each by a child. */
static void increment_twice(ns_task *self, void *arguments) {
    uint8_t *place = *(uint8_t **)arguments, marks[2] = {0};
    for (int child = 0; child < 2; child++) {
        uint8_t *mark = &marks[child];
        ns_spawn(self, increment, &mark, sizeof mark);
    }
    ns_join(self);
    *place = (uint8_t)(*place + marks[0] + marks[1]);
}

static void spawn_many(ns_task *self, void *arguments) {
    uint8_t *marks = *(uint8_t **)arguments;
    for (size_t child = 0; child < MANY; child++) {
        uint8_t *place = &marks[child];
        ns_spawn(self, child % 2 ? increment : increment_twice, &place, sizeof place);
    }
    ns_join(self);
    size_t right = 0;
    for (size_t child = 0; child < MANY; child++) right += marks[child] == (child % 2 ? 1 : 2);
    require(right == MANY, "each of many children runs once");
}

static uint8_t sizes_seen[MOST_BYTES + 1];

static void see_bytes(ns_task *self, void *arguments) {
    const uint8_t *bytes = arguments;
    (void)self;
    for (uint32_t at = 0; at < bytes[0]; at++) require(bytes[at] == bytes[0], "arguments arrive as they were");
    sizes_seen[bytes[0]]++;
}

static void spawn_all_sizes(ns_task *self, void *arguments) {
    (void)arguments;
    for (uint32_t size = 1; size <= MOST_BYTES; size++) {
        uint8_t bytes[MOST_BYTES];
        memset(bytes, (int)size, sizeof bytes);
        ns_spawn(self, see_bytes, bytes, size);
    }
    ns_join(self);
    for (uint32_t size = 1; size <= MOST_BYTES; size++) require(sizes_seen[size] == 1, "each size once");
}

typedef struct {
    ns_future *future;
    uint8_t *awaited;
} wait_call;

static void get_future(ns_task *self, void *arguments) {
    const wait_call *call = arguments;
    ns_future_get(self, call->future);
    require(*call->awaited == 2, "a future of an ancestor is there");
}

/* Wait, as itself or as a part, with a child of its own, for what lies below in the lane; then spawn another one. */
static void wait_for_ancestors(ns_task *self, void *arguments) {
    uint8_t own[2] = {0}, *first = &own[0], *second = &own[1];
    ns_spawn(self, increment_twice, &first, sizeof first);
    ns_call(self, get_future, arguments);
    get_future(self, arguments);
    ns_spawn(self, increment_twice, &second, sizeof second);
    ns_join(self);
    require(own[0] == 2 && own[1] == 2, "what is spawned before and behind a wait is joined");
}

static void hand_down_futures(ns_task *self, void *arguments) {
    (void)arguments;
    for (int round = 0; round < 200; round++) {
        uint8_t marks[4] = {0};
        ns_future futures[4];
        for (int child = 0; child < 4; child++) {
            uint8_t *mark = &marks[child];
            ns_future_spawn(self, &futures[child], increment_twice, &mark, sizeof mark);
        }
        for (int child = 0; child < 4; child++) {
            ns_spawn(self, wait_for_ancestors, &(wait_call){&futures[child], &marks[child]}, sizeof(wait_call));
        }
        ns_join(self);
        for (int child = 0; child < 4; child++) require(marks[child] == 2, "what was awaited has run once");
    }
}

int main(int count, char **arguments) {
    const ns_pool_options options = {.mode = NS_MODE_NATIVE, .workers = (uint32_t)atoi(arguments[1])};
    uint8_t *marks = calloc(MANY, 1);
    ns_pool *pool;
    int error = ns_pool_create(&pool, &options);
    if (!error) error = ns_pool_run(pool, spawn_many, &marks, sizeof marks);
    if (!error) error = ns_pool_run(pool, spawn_all_sizes, NULL, 0);
    if (!error) error = ns_pool_run(pool, hand_down_futures, NULL, 0);
    if (error) printf("%s\n", ns_error_sentence(error));
    ns_pool_destroy(pool);
    free(marks);
    return error || count != 2 ? 2 : wrong;
}
