/* Pools and runs in which the n-th request for memory or for a thread fails, for every n in turn. Each pool or run must
 * end with an error code and one sentence, and must free its memory.
 *
 * `failing_requests pools MODE PLAN` tests the creation of pools, and runs in serial mode and in virtual time.
 * `failing_requests runs MODE WORKERS PLAN` tests runs on threads: a run with a failed request ends before it begins,
 * or does all its steps, and the same pool then runs the same program. A dash in place of PLAN means no plan. Prints
 * the number of failed requests, and every fault.
 *
 * The linker wraps malloc, calloc, realloc, aligned_alloc, mmap and pthread_create (`--wrap`). */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/kernel.h"
#include "numasim/runtime.h"

/* ---- requests that fail ------------------------------------------------------------------------------------------ */

static _Atomic int64_t left; /* requests up to the failing one; 0: no request fails */
static _Atomic bool has_failed;

/* Make the `nth` request from now on fail (counted from 1), and no other request; 0: no request fails. */
static void fail_request(int64_t nth) {
    has_failed = false;
    left = nth;
}

static bool fails(void) {
    int64_t before = left;
    while (before > 0 && !atomic_compare_exchange_weak(&left, &before, before - 1)) {
    }
    if (before != 1) return false;
    has_failed = true;
    errno = ENOMEM;
    return true;
}

#define WRAPPED(RESULT, NAME, PARAMETERS, FAILURE, ...) \
    RESULT __real_##NAME PARAMETERS;                    \
    RESULT __wrap_##NAME PARAMETERS;                    \
    RESULT __wrap_##NAME PARAMETERS { return fails() ? FAILURE : __real_##NAME(__VA_ARGS__); }
WRAPPED(void *, malloc, (size_t bytes), NULL, bytes)
WRAPPED(void *, calloc, (size_t count, size_t bytes), NULL, count, bytes)
WRAPPED(void *, realloc, (void *memory, size_t bytes), NULL, memory, bytes)
WRAPPED(void *, aligned_alloc, (size_t alignment, size_t bytes), NULL, alignment, bytes)
WRAPPED(void *, mmap, (void *at, size_t bytes, int protection, int flags, int file, off_t offset), MAP_FAILED, at,
        bytes, protection, flags, file, offset)
WRAPPED(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument), EAGAIN, thread,
        attributes, start, argument)

enum { DEPTH = 3, LONG_BYTES = 200, MANY = 150, INDICES = 20, OBJECT_BYTES = 10000 };

/* The numbers of steps of a run: nodes of a binary tree, leaves, the indices of a loop and of a reduction, children
 * that wait for each other, children that contribute to a sum, and a future; and the steps of a team of as many
 * workers. */
enum { TURNS = 9, TERMS = 5, OF_RUN = (2 << DEPTH) - 1 + MANY + INDICES + INDICES + TURNS + TERMS + 1 };

static int problems;
static _Atomic int64_t done; /* number of steps that the program has done */
static int64_t under_lock;   /* number of steps, counted under a lock of the pool */
static char storage[OBJECT_BYTES];
static int64_t object, lock, barrier;

static void complain(int64_t nth, const char *what, int64_t found) {
    printf("request %lld: %s (%lld)\n", (long long)nth, what, (long long)found);
    problems++;
}

/* ---- the program of runs ----------------------------------------------------------------------------------------- */

static void step(ns_task *self) {
    done++;
    ns_word_lock(self, (uint32_t)lock);
    under_lock++;
    ns_word_unlock(self, (uint32_t)lock);
}

typedef struct {
    char bytes[LONG_BYTES]; /* too long for a task's record */
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

/* The arguments of one task of a chain, in which each task depends on the previous task. */
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

/* Values that are too long for the stack. */
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

/* Run a reduction. A reduction without memory must not have called any body. */
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

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static int describe(ns_pool *pool, uint32_t workers) {
    object = ns_object_register(pool, "memory", storage, sizeof storage);
    if (object < 0) return (int)object;
    lock = ns_word_create(pool, "lock", NS_WORD_LOCK, 0, 1);
    if (lock < 0) return (int)lock;
    barrier = ns_word_create(pool, "barrier", NS_WORD_BARRIER, 0, workers);
    return barrier < 0 ? (int)barrier : NS_OK;
}

/* Run the program once. The run must have done all steps or none; a run without steps must give its reason. */
static void run(ns_pool *pool, int64_t nth, ns_body *body, int64_t steps) {
    const node root = {.depth = DEPTH};
    done = under_lock = 0;
    const int error = (body == take_part ? ns_pool_team : ns_pool_run)(pool, body, &root, sizeof root);
    if (error && error != NS_ERROR_MEMORY) complain(nth, "another error", error);
    if (error && !has_failed) complain(nth, ns_pool_problem(pool), error);
    if (error && strlen(ns_pool_problem(pool)) < 10) complain(nth, "an error without a sentence", error);
    if (done != (error ? 0 : steps)) complain(nth, "steps done", done);
    if (under_lock != done) complain(nth, "steps counted under a lock", under_lock);
}

/* Return whether request number `nth` was made. */
static bool attempt_runs(const ns_pool_options *options, int64_t nth) {
    ns_pool *pool = NULL;
    int error = ns_pool_create(&pool, options);
    if (error) complain(nth, "no pool", error);
    fail_request(nth);
    error = error ? error : describe(pool, options->workers);
    const int64_t of_team = (int64_t)options->workers * ((2 << DEPTH) - 1);
    for (int time = 0; !error && time < 2; time++) {
        run(pool, nth, take_part, of_team);
        run(pool, nth, run_all, OF_RUN);
        if (time == 0 && !has_failed) break;
    }
    const bool failed = has_failed;
    fail_request(0);
    if (error && error != NS_ERROR_MEMORY) complain(nth, "another error", error);
    ns_pool_destroy(pool);
    return failed;
}

/* ---- pools ------------------------------------------------------------------------------------------------------- */

static int run_graph(ns_pool *pool, void *program) {
    const int error = ns_state_attach(program, &NS_PLAN_KERNEL, pool);
    return error ? error : ns_state_run(program, &NS_PLAN_KERNEL, pool);
}

static void spawn_tree(ns_task *self, void *arguments) {
    int *depth = arguments, less = *depth - 1;
    char large[64] = {0};
    (void)large;
    if (less < 0) return;
    ns_spawn(self, spawn_tree, &less, sizeof less);
    ns_spawn(self, spawn_tree, &less, sizeof less);
    ns_join(self);
}

static int run_tree(ns_pool *pool) {
    int depth = 4;
    return ns_pool_run(pool, spawn_tree, &depth, sizeof depth);
}

/* Return whether request number `nth` was made. */
static bool attempt_pool(const ns_pool_options *options, int64_t nth) {
    ns_pool *pool = NULL;
    void *program = NULL;
    if (ns_state_create(&program, &NS_PLAN_KERNEL, &(ns_setting){.workers = options->workers}))
        complain(nth, "no state", NS_ERROR_MEMORY);
    fail_request(nth);
    int error = ns_pool_create(&pool, options);
    if (!error && options->mode == NS_MODE_VIRTUAL) error = run_graph(pool, program);
    if (!error && options->mode == NS_MODE_SERIAL) error = run_tree(pool);
    const bool failed = has_failed;
    fail_request(0);
    if (!failed && error) complain(nth, pool ? ns_pool_problem(pool) : "no pool", error);
    if (error && error != NS_ERROR_MEMORY && error != NS_ERROR_THREAD) complain(nth, "another error", error);
    if (error && strlen(ns_error_sentence(error)) < 10) complain(nth, "no sentence", error);
    if (error && pool && !ns_pool_problem(pool)[0]) complain(nth, "a pool that cannot say why", error);
    if (!error && !pool) complain(nth, "neither an error nor a pool", error);
    ns_state_destroy(program, &NS_PLAN_KERNEL);
    ns_pool_destroy(pool);
    return failed;
}

int main(int count, char **words) {
    if (count < 4) return 2;
    const bool runs = strcmp(words[1], "runs") == 0;
    const enum ns_mode mode = (enum ns_mode)atoi(words[2]);
    const char *plan = strcmp(words[count - 1], "-") == 0 ? NULL : words[count - 1];
    const uint32_t workers = runs ? (uint32_t)atoi(words[3]) : plan ? 0 : 3;
    const ns_pool_options options = {.mode = mode,
                                     .plan = plan,
                                     .workers = workers,
                                     .graph = mode == NS_MODE_VIRTUAL ? NS_GRAPH_IS_PROGRAM : NS_GRAPH_RECORDED};
    int64_t nth = 1;
    while ((runs ? attempt_runs : attempt_pool)(&options, nth)) nth++;
    printf("%lld requests\n", (long long)(nth - 1));
    return problems ? 1 : 0;
}
