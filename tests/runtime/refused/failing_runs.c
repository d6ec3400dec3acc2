/* Runs on threads in which the n-th request for memory fails, for every n in turn: each ends with an error code and a
 * sentence, before it has begun, or does all that it was to do; and the same pool then runs the same program.
 *
 * Run as `failing_runs MODE WORKERS PLAN`, where a dash is no plan. Prints how many requests were let fail, and what is
 * wrong.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"
#include "numasim/runtime.h"

enum { DEPTH = 3, LONG_BYTES = 200, MANY = 150, INDICES = 20, OBJECT_BYTES = 10000 };

/* Nodes of a binary tree, many leaves, the indices of a loop and of a reduction, children that wait for each other, and
 * that contribute to a sum, a future: in a run; and in a team of as many workers. */
enum { TURNS = 9, TERMS = 5, OF_RUN = (2 << DEPTH) - 1 + MANY + INDICES + INDICES + TURNS + TERMS + 1 };

static int problems;
static _Atomic int64_t done; /* steps of the program */
static int64_t under_lock;   /* the same, counted under a lock of the pool */
static char memory[OBJECT_BYTES];
static int64_t object, lock, barrier;

static void complain(int64_t nth, const char *what, int64_t found) {
    printf("request %lld: %s (%lld)\n", (long long)nth, what, (long long)found);
    problems++;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void step(ns_task *self) {
    done++;
    ns_word_lock(self, (uint32_t)lock);
    under_lock++;
    ns_word_unlock(self, (uint32_t)lock);
}

typedef struct {
    char bytes[LONG_BYTES]; /* more than fits a record */
    int depth;
} node;

static void grow(ns_task *self, void *arguments) {
    const node *mine = arguments;
    step(self);
    if (!mine->depth) return;
    const node child = {.depth = mine->depth - 1};
    const ns_access access = {.object = (uint32_t)object, .row_bytes = 100, .rows = 1, .passes = 1, .mode = NS_READ};
    ns_spawn(self, grow, &child, sizeof child);
    ns_spawn_with(self, grow, &child, sizeof child, &access, 1);
    ns_join(self);
}

static void leaf(ns_task *self, void *arguments) {
    (void)arguments;
    step(self);
}

static void loop(ns_task *self, void *arguments, int64_t first, int64_t last) {
    (void)arguments;
    for (int64_t at = first; at < last; at++) step(self);
}

/* Each waits for the one before it. */
typedef struct {
    int *at, expected;
} turn;

static void take_turn(ns_task *self, void *arguments) {
    const turn *mine = arguments;
    if (*mine->at != mine->expected) complain(mine->expected, "a child comes before one that it waits for", *mine->at);
    ++*mine->at;
    step(self);
}

static void take_turns(ns_task *self) {
    const ns_access access = {.object = (uint32_t)object, .row_bytes = 100, .rows = 1, .passes = 1, .mode = NS_READ};
    int at = 0;
    for (int child = 0; child < TURNS; child++) {
        const ns_dependence before[] = {{&at, NS_DIRECTION_INOUT, &access}, {&before, NS_DIRECTION_IN, NULL}};
        ns_spawn_after(self, take_turn, &(turn){&at, child}, sizeof(turn), before, 2);
    }
    ns_join(self);
    if (at != TURNS) complain(at, "a join does not wait for children with dependences", TURNS);
}

/* Values that are too long for a stack. */
typedef struct {
    char bytes[LONG_BYTES];
    int64_t count;
} counted;

static void count_piece(ns_task *self, void *arguments, int64_t first, int64_t last, void *value) {
    loop(self, arguments, first, last);
    ((counted *)value)->count = last - first;
}

static void contribute(ns_task *self, void *arguments, void *term) {
    leaf(self, arguments);
    ((counted *)term)->count = 1;
}

static void add(void *value, const void *next) { ((counted *)value)->count += ((const counted *)next)->count; }

/* A reduction that has no memory has called nothing. */
static void reduce(ns_task *self) {
    counted all = {.count = 0};
    if (ns_parallel_reduce(self, 0, INDICES, 2, count_piece, add, NULL, &all, sizeof all))
        count_piece(self, NULL, 0, INDICES, &all);
    if (all.count != INDICES) complain(all.count, "a reduction of another number of indices", INDICES);
    ns_reduction terms = {.value = &all, .bytes = sizeof all, .combine = add};
    for (int child = 0; child < TERMS; child++) {
        if (!ns_reduce_spawn(self, &terms, contribute, &all, sizeof all)) continue;
        step(self);
        all.count++;
    }
    ns_reduce_join(self, &terms);
    if (all.count != INDICES + TERMS) complain(all.count, "a reduction of another number of children", TERMS);
}

static void run_all(ns_task *self, void *arguments) {
    ns_future future;
    ns_future_spawn(self, &future, leaf, NULL, 0);
    for (int child = 0; child < MANY; child++) ns_spawn(self, leaf, NULL, 0);
    ns_call(self, grow, arguments);
    ns_parallel_for(self, 0, INDICES, 1, loop, NULL);
    take_turns(self);
    reduce(self);
    ns_future_get(self, &future);
    ns_join(self);
}

static void take_part(ns_task *self, void *arguments) {
    ns_word_arrive(self, (uint32_t)barrier);
    grow(self, arguments);
}

/* ---- with requests that fail ------------------------------------------------------------------------------------- */

static int describe(ns_pool *pool, uint32_t workers) {
    object = ns_object_register(pool, "memory", memory, sizeof memory);
    if (object < 0) return (int)object;
    lock = ns_word_create(pool, "lock", NS_WORD_LOCK, 0, 1);
    if (lock < 0) return (int)lock;
    barrier = ns_word_create(pool, "barrier", NS_WORD_BARRIER, 0, workers);
    return barrier < 0 ? (int)barrier : NS_OK;
}

/* One run: it has done all, or nothing, and then says why. */
static void run(ns_pool *pool, int64_t nth, ns_body *body, int64_t steps) {
    const node root = {.depth = DEPTH};
    done = under_lock = 0;
    const int error = (body == take_part ? ns_pool_team : ns_pool_run)(pool, body, &root, sizeof root);
    if (error && error != NS_ERROR_MEMORY) complain(nth, "another error", error);
    if (error && !request_has_failed()) complain(nth, ns_pool_problem(pool), error);
    if (error && strlen(ns_pool_problem(pool)) < 10) complain(nth, "an error without a sentence", error);
    if (done != (error ? 0 : steps)) complain(nth, "steps done", done);
    if (under_lock != done) complain(nth, "steps counted under a lock", under_lock);
}

/* Whether the request number `nth` came up. */
static bool attempt(const ns_pool_options *options, int64_t nth) {
    ns_pool *pool = NULL;
    int error = ns_pool_create(&pool, options);
    if (error) complain(nth, "no pool", error);
    fail_request(nth);
    error = error ? error : describe(pool, options->workers);
    const int64_t of_team = (int64_t)options->workers * ((2 << DEPTH) - 1);
    for (int time = 0; !error && time < 2; time++) {
        run(pool, nth, take_part, of_team);
        run(pool, nth, run_all, OF_RUN);
        if (time == 0 && !request_has_failed()) break;
    }
    const bool failed = request_has_failed();
    fail_request(0);
    if (error && error != NS_ERROR_MEMORY) complain(nth, "another error", error);
    ns_pool_destroy(pool);
    return failed;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    const enum ns_mode mode = (enum ns_mode)atoi(arguments[1]);
    const char *plan = strcmp(arguments[3], "-") == 0 ? NULL : arguments[3];
    const ns_pool_options options = {.mode = mode, .plan = plan, .workers = (uint32_t)atoi(arguments[2])};
    int64_t nth = 1;
    while (attempt(&options, nth)) nth++;
    printf("%lld requests\n", (long long)(nth - 1));
    return problems ? 1 : 0;
}
