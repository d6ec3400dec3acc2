/* Programs for the serial mode, by name: `serial_cases CASE GRAPH` runs one program and records its task graph. It
 * prints the result of the program. If the run fails, it prints the sentence, and the exit status is the error code. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

/* Define a body of tasks, which may leave out its parameters `self` and `arguments`. */
#define BODY(NAME) static void NAME(__attribute__((unused)) ns_task *self, __attribute__((unused)) void *arguments)

static ns_future shared;
static uint32_t word[4];
static int64_t found;

BODY(nothing) {}

BODY(count) { ++**(int64_t **)arguments; }

static void spawn_counter(ns_task *self, ns_future *future) {
    int64_t *counter = &found;
    ns_future_spawn(self, future, count, &counter, sizeof counter);
}

/* ---- futures ----------------------------------------------------------------------------------------------------- */

BODY(futures_one_after_the_other) {
    ns_future a, b;
    spawn_counter(self, &a);
    spawn_counter(self, &b);
    ns_future_get(self, &a);
    ns_future_get(self, &b);
    ns_future_get(self, &a);
}

BODY(future_behind_work) {
    ns_future a;
    spawn_counter(self, &a);
    ns_work(self, 7);
    ns_future_get(self, &a);
    ns_work(self, 8);
}

BODY(future_behind_a_join) {
    ns_future a, b;
    spawn_counter(self, &a);
    ns_join(self);
    spawn_counter(self, &b);
    ns_future_get(self, &a);
    ns_future_get(self, &b);
}

BODY(future_too_early) {
    ns_future a, b;
    spawn_counter(self, &a);
    spawn_counter(self, &b);
    ns_future_get(self, &b);
    spawn_counter(self, &b);
}

BODY(work_between_futures) {
    ns_future a, b;
    spawn_counter(self, &a);
    spawn_counter(self, &b);
    ns_future_get(self, &b);
    ns_work(self, 1);
    ns_future_get(self, &a);
}

BODY(get_shared) { ns_future_get(self, &shared); }

BODY(future_of_another) {
    spawn_counter(self, &shared);
    ns_spawn(self, get_shared, NULL, 0);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

BODY(call_part) {
    ns_work(self, 3);
    ns_spawn(self, nothing, NULL, 0);
}

BODY(parts_join_by_themselves) {
    ns_spawn(self, nothing, NULL, 0);
    ns_call(self, call_part, arguments);
    ns_work(self, 4);
}

static void declare(ns_task *self, uint32_t object, uint8_t mode) {
    const ns_access access = {.object = object, .passes = 1, .row_bytes = 1, .rows = 1, .mode = mode};
    ns_access_declare(self, &access);
}

BODY(read_then_write) {
    declare(self, 0, NS_READ);
    declare(self, 1, NS_WRITE);
    ns_spawn(self, nothing, NULL, 0);
    declare(self, 0, NS_WRITE);
    declare(self, 1, NS_READ);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

enum { LOCK, COUNTER, DOOR, MEETING };

BODY(await_nobody) { ns_word_await(self, word[DOOR]); }

/* Workers 0 and 1 wait for DOOR, worker 0 with LOCK held. Worker 2 lets both pass. Then all three meet, twice. */
BODY(team) {
    const uint32_t id = ns_task_worker(self);
    if (id == 0) ns_word_lock(self, word[LOCK]);
    if (id < 2) ns_word_await(self, word[DOOR]);
    if (id == 2) ns_word_broadcast(self, word[DOOR]);
    if (id == 0) ns_word_unlock(self, word[LOCK]);
    ns_word_lock(self, word[LOCK]);
    found = 10 * found + id + 1;
    ns_word_unlock(self, word[LOCK]);
    for (int round = 0; round < 2; round++) {
        ns_word_arrive(self, word[MEETING]);
        found = 10 * found + ns_word_add(self, word[COUNTER], 1);
    }
}

BODY(spawn_in_team) {
    ns_word_arrive(self, word[MEETING]);
    ns_spawn(self, nothing, NULL, 0);
    ns_word_arrive(self, word[MEETING]);
    ns_spawn(self, nothing, NULL, 0);
}

/* ---- all cases --------------------------------------------------------------------------------------------------- */

#define RUN(CASE) {#CASE, CASE, false}
#define TEAM(CASE) {#CASE, CASE, true}
static const struct {
    const char *name;
    ns_body *body;
    bool team;
} CASE[] = {
    RUN(futures_one_after_the_other),
    RUN(future_behind_work),
    RUN(future_behind_a_join),
    RUN(future_too_early),
    RUN(work_between_futures),
    RUN(future_of_another),
    RUN(parts_join_by_themselves),
    RUN(read_then_write),
    RUN(await_nobody),
    TEAM(team),
    TEAM(spawn_in_team),
};

static void prepare(ns_pool *pool, const char *name) {
    static char memory[2];
    ns_object_register(pool, "first", &memory[0], 1);
    ns_object_register(pool, strcmp(name, "same_name") == 0 ? "first" : "second", &memory[1], 1);
    word[LOCK] = (uint32_t)ns_word_create(pool, "lock", NS_WORD_LOCK, 0, 1);
    word[COUNTER] = (uint32_t)ns_word_create(pool, "counter", NS_WORD_ATOMIC, 1, 1);
    word[DOOR] = (uint32_t)ns_word_create(pool, "door", NS_WORD_CONDITION, 2, 2);
    word[MEETING] = (uint32_t)ns_word_create(pool, "meeting", NS_WORD_BARRIER, 0, 3);
}

static int run_case(ns_pool *pool, const char *name) {
    for (size_t at = 0; at < sizeof CASE / sizeof *CASE; at++) {
        if (strcmp(CASE[at].name, name) != 0) continue;
        return CASE[at].team ? ns_pool_team(pool, CASE[at].body, NULL, 0) : ns_pool_run(pool, CASE[at].body, NULL, 0);
    }
    return ns_pool_run(pool, nothing, NULL, 0);
}

int main(int arguments, char **argument) {
    const ns_pool_options options = {.mode = NS_MODE_SERIAL, .workers = 3, .record = argument[arguments - 1]};
    ns_pool *pool = NULL;
    int error = ns_pool_create(&pool, &options);
    if (error) return -error;
    prepare(pool, argument[1]);
    error = run_case(pool, argument[1]);
    if (error) {
        ns_pool_run(pool, nothing, NULL, 0); /* an earlier run was aborted, so nothing is recorded */
        printf("%s\n", ns_pool_problem(pool));
    } else {
        printf("%lld\n", (long long)found);
    }
    ns_pool_destroy(pool);
    return -error;
}
