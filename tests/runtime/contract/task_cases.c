/* Cases (calls of a public function in a situation) of functions that are called in a task. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"

#define NO_OBJECT 77
#define NO_WORD 12345

void nothing(ns_task *self, void *arguments) { (void)self, (void)arguments; }

static void require(bool holds) {
    if (!holds) found(NS_ERROR_PROGRAM);
}

static void count_piece(ns_task *self, void *arguments, int64_t first, int64_t last) {
    (void)self;
    if (first < last) __atomic_fetch_add((uint32_t *)arguments, 1, __ATOMIC_RELAXED);
}

static void reduce_piece(ns_task *self, void *arguments, int64_t first, int64_t last, void *value) {
    (void)self, (void)arguments;
    *(int64_t *)value = last - first;
}

static void add(void *value, const void *next) { *(int64_t *)value += *(const int64_t *)next; }

static void term(ns_task *self, void *arguments, void *value) {
    (void)self, (void)arguments;
    *(int64_t *)value = 1;
}

enum {
    PROGRAM = NS_ERROR_PROGRAM,
    OPTION = NS_ERROR_OPTION,
    MEMORY = NS_ERROR_MEMORY,
    DEADLOCK = NS_ERROR_DEADLOCK,
    CALLER = NS_ERROR_CALLER
};

/* MISUSE: a wrong call. BEYOND_A_PLAN: one that a plan's graph cannot have. FROM_TASK: a call of a pool in a task. */
#define RIGHT_USE(FUNCTION, ...)                                             \
    IN_TASK(#FUNCTION, TASK, "right", NS_OK, NULL, NOT_VIRTUAL, __VA_ARGS__) \
    __attribute__((constructor)) static void OF_LINE(rules_)(void) {         \
        add_rule(#FUNCTION, THREAD, BY_SELF);                                \
        add_rule(#FUNCTION, CHILD, BY_FORK);                                 \
        add_rule(#FUNCTION, DESTROYED, BY_SELF);                             \
    }
#define MISUSE(FUNCTION, WHAT, ERROR, SAYS, ...) IN_TASK(#FUNCTION, WRONG, WHAT, ERROR, SAYS, ALL, __VA_ARGS__)
#define BEYOND_A_PLAN(FUNCTION, WHAT, ERROR, SAYS, ...) \
    IN_TASK(#FUNCTION, WRONG, WHAT, ERROR, SAYS, NOT_VIRTUAL, __VA_ARGS__)
#define FROM_TASK(FUNCTION, WHAT, ERROR, ...) IN_TASK(#FUNCTION, TASK, WHAT, ERROR, NULL, ALL, __VA_ARGS__)

#define BODY(NAME) static void NAME(__attribute__((unused)) ns_task *self, __attribute__((unused)) void *arguments)

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

BODY(spawn) {
    ns_spawn(self, nothing, NULL, 0);
    ns_join(self);
}
RIGHT_USE(ns_spawn, spawn(self, NULL))
MISUSE(ns_spawn, "a null body", PROGRAM, "null", ns_spawn(self, NULL, NULL, 0))
MISUSE(ns_spawn, "null arguments of 8 bytes", PROGRAM, "8 bytes", ns_spawn(self, nothing, NULL, 8))
MISUSE(ns_spawn, "-5 bytes", PROGRAM, "bytes", ns_spawn(self, nothing, &it, (size_t)-5))
MISUSE(ns_spawn, "SIZE_MAX bytes", PROGRAM, "bytes", ns_spawn(self, nothing, &it, SIZE_MAX))
RIGHT_USE(ns_join, ns_join(self); ns_join(self))
RIGHT_USE(ns_call, ns_call(self, nothing, NULL))
MISUSE(ns_call, "a null body", PROGRAM, "null", ns_call(self, NULL, NULL))

static const ns_access RIGHT = {.passes = 1, .row_bytes = OBJECT_BYTES, .rows = 1, .mode = NS_READ};

static ns_access access_of(uint32_t object, int64_t offset, int64_t row_bytes, int64_t rows, int64_t stride) {
    ns_access made = RIGHT;
    made.object = object;
    made.offset = offset;
    made.row_bytes = row_bytes;
    made.rows = rows;
    made.stride = stride;
    return made;
}

RIGHT_USE(ns_spawn_with, ns_spawn_with(self, nothing, NULL, 0, &RIGHT, 1))
MISUSE(ns_spawn_with, "a null body", PROGRAM, "null", ns_spawn_with(self, NULL, NULL, 0, NULL, 0))
MISUSE(ns_spawn_with, "a null access", PROGRAM, "null", ns_spawn_with(self, nothing, NULL, 0, NULL, 1))
MISUSE(ns_spawn_with, "an unknown object", PROGRAM, "77",
       ns_spawn_with(self, nothing, NULL, 0, (const ns_access[]){RIGHT, access_of(NO_OBJECT, 0, 1, 1, 0)}, 2))

#define WRONG_ACCESS(WHAT, SAYS, ...) \
    MISUSE(ns_access_declare, WHAT, PROGRAM, SAYS, ns_access_declare(self, (const ns_access[]){__VA_ARGS__}))
RIGHT_USE(ns_access_declare, ns_access_declare(self, &RIGHT))
MISUSE(ns_access_declare, "null", PROGRAM, "null", ns_access_declare(self, NULL))
WRONG_ACCESS("an unknown object", "77", {.object = NO_OBJECT, .passes = 1, .row_bytes = 1, .rows = 1, .mode = NS_READ})
WRONG_ACCESS("no mode", "mode", {.passes = 1, .row_bytes = 1, .rows = 1})
WRONG_ACCESS("mode 77", "mode", {.passes = 1, .row_bytes = 1, .rows = 1, .mode = 77})
WRONG_ACCESS("pattern 77", "pattern", {.passes = 1, .row_bytes = 1, .rows = 1, .mode = NS_READ, .pattern = 77})
WRONG_ACCESS("no passes", "object", {.row_bytes = 1, .rows = 1, .mode = NS_READ})
WRONG_ACCESS("-5 bytes", "object", access_of(0, 0, -5, 1, 0))
WRONG_ACCESS("before the object", "object", access_of(0, -1, 1, 1, 0))
WRONG_ACCESS("beyond the object", "object", access_of(0, 1, OBJECT_BYTES, 1, 0))
WRONG_ACCESS("no rows", "object", access_of(0, 0, 1, 0, 0))
WRONG_ACCESS("rows backwards", "object", access_of(0, 0, 1, 2, -8))
WRONG_ACCESS("rows beyond all memory", "object", access_of(0, 0, 1, INT64_MAX, INT64_MAX))
WRONG_ACCESS("2^63 rows on top of each other", "object", access_of(0, 0, 1, INT64_MAX, 0))

RIGHT_USE(ns_spawn_after, ns_spawn_after(self, nothing, NULL, 0, NS_DEPEND(NS_OUT(&it), NS_IN(NULL))); ns_join(self))
MISUSE(ns_spawn_after, "a null body", PROGRAM, "null", ns_spawn_after(self, NULL, NULL, 0, NS_DEPEND(NS_OUT(&it))))
MISUSE(ns_spawn_after, "null dependences", PROGRAM, "null", ns_spawn_after(self, nothing, NULL, 0, NULL, 3))
#define WRONG_DEPENDENCE(WHAT, SAYS, ...)        \
    MISUSE(ns_spawn_after, WHAT, PROGRAM, SAYS, \
           ns_spawn_after(self, nothing, NULL, 0, (const ns_dependence[]){__VA_ARGS__}, 1))
WRONG_DEPENDENCE("no direction", "direction", {.address = &it})
WRONG_DEPENDENCE("direction 77", "77", {.address = &it, .direction = (enum ns_direction)77})
WRONG_DEPENDENCE("an unknown object", "77", {&it, NS_DIRECTION_IN, &(ns_access){.object = NO_OBJECT}})

/* ---- loops and reductions ---------------------------------------------------------------------------------------- */

static void loop_pieces(ns_task *self, int64_t begin, int64_t end, int64_t grain, uint32_t pieces) {
    uint32_t counted = 0;
    ns_parallel_for(self, begin, end, grain, count_piece, &counted);
    require(counted == pieces);
}
RIGHT_USE(ns_parallel_for, loop_pieces(self, 0, 100, 10, 16))
RIGHT_USE(ns_parallel_for, loop_pieces(self, 0, 8, -5, 8))
RIGHT_USE(ns_parallel_for, loop_pieces(self, 5, -5, 1, 0))
/* ranges of 2^63 - 1 and of 2^63 indices, which a loop halves */
RIGHT_USE(ns_parallel_for, loop_pieces(self, INT64_MIN, INT64_MAX, INT64_MAX, 3))
MISUSE(ns_parallel_for, "a null body", PROGRAM, "null", ns_parallel_for(self, 0, 10, 1, NULL, NULL))

static int reduce(ns_task *self, int64_t begin, int64_t end, ns_reduce_body *body, ns_combine *combine, void *value,
                  size_t bytes) {
    return ns_parallel_reduce(self, begin, end, 1, body, combine, NULL, value, bytes);
}
static int64_t sum;
BODY(sums) {
    sum = 3;
    found(reduce(self, 0, 10, reduce_piece, add, &sum, sizeof sum));
    require(sum == 13);
}
RIGHT_USE(ns_parallel_reduce, sums(self, NULL))
RIGHT_USE(ns_parallel_reduce, found(reduce(self, 10, 0, reduce_piece, add, &sum, sizeof sum)))
MISUSE(ns_parallel_reduce, "a null body", OPTION, NULL, found(reduce(self, 0, 10, NULL, add, &sum, sizeof sum)))
MISUSE(ns_parallel_reduce, "a null combine", OPTION, NULL,
       found(reduce(self, 0, 10, reduce_piece, NULL, &sum, sizeof sum)))
MISUSE(ns_parallel_reduce, "a null value", OPTION, NULL,
       found(reduce(self, 0, 10, reduce_piece, add, NULL, sizeof sum)))
MISUSE(ns_parallel_reduce, "-5 bytes", MEMORY, NULL, found(reduce(self, 0, 10, reduce_piece, add, &sum, (size_t)-5)))
MISUSE(ns_parallel_reduce, "2^64 large values", MEMORY, NULL,
       found(reduce(self, INT64_MIN, INT64_MAX, reduce_piece, add, &sum, 4096)))

static ns_reduction reduction_of(size_t bytes) { return (ns_reduction){.value = &sum, .bytes = bytes, .combine = add}; }

BODY(terms) {
    ns_reduction made = reduction_of(sizeof sum);
    sum = 1;
    found(ns_reduce_spawn(self, &made, term, NULL, 0));
    found(ns_reduce_spawn(self, &made, term, NULL, 0));
    found(ns_reduce_join(self, &made));
    require(sum == 3);
}
RIGHT_USE(ns_reduce_spawn, terms(self, NULL))
RIGHT_USE(ns_reduce_join, terms(self, NULL))
MISUSE(ns_reduce_spawn, "null", OPTION, NULL, found(ns_reduce_spawn(self, NULL, term, NULL, 0)))
#define WRONG_TERM(WHAT, ERROR, CHANGE, BODY_OF_TERM, ARGUMENTS, BYTES)                              \
    MISUSE(ns_reduce_spawn, WHAT, ERROR, NULL, ns_reduction made = reduction_of(sizeof sum); CHANGE; \
           found(ns_reduce_spawn(self, &made, BODY_OF_TERM, ARGUMENTS, BYTES)))
WRONG_TERM("a null value", OPTION, made.value = NULL, term, NULL, 0)
WRONG_TERM("a null combine", OPTION, made.combine = NULL, term, NULL, 0)
WRONG_TERM("a null body", OPTION, (void)0, NULL, NULL, 0)
WRONG_TERM("null arguments of 8 bytes", OPTION, (void)0, term, NULL, 8)
WRONG_TERM("-5 bytes", OPTION, (void)0, term, &it, (size_t)-5)
WRONG_TERM("terms of SIZE_MAX bytes", MEMORY, made.bytes = SIZE_MAX, term, NULL, 0)
MISUSE(ns_reduce_join, "null", OPTION, NULL, found(ns_reduce_join(self, NULL)))
MISUSE(ns_reduce_join, "all zero", OPTION, NULL, found(ns_reduce_join(self, &(ns_reduction){0})))

/* ---- futures ----------------------------------------------------------------------------------------------------- */

BODY(future) {
    ns_future made;
    ns_future_spawn(self, &made, nothing, NULL, 0);
    ns_future_get(self, &made);
    ns_future_get(self, &made); /* returns at once: the child has ended */
}
RIGHT_USE(ns_future_spawn, future(self, NULL))
RIGHT_USE(ns_future_get, future(self, NULL))
MISUSE(ns_future_spawn, "null", PROGRAM, "null", ns_future_spawn(self, NULL, nothing, NULL, 0))
MISUSE(ns_future_spawn, "a null body", PROGRAM, "null", ns_future made; ns_future_spawn(self, &made, NULL, NULL, 0);
       ns_future_get(self, &made))
MISUSE(ns_future_spawn, "-5 bytes", PROGRAM, "bytes",
       ns_future_spawn(self, &(ns_future){0}, nothing, &it, (size_t)-5))
MISUSE(ns_future_get, "null", PROGRAM, "future", ns_future_get(self, NULL))
MISUSE(ns_future_get, "one that was not spawned", PROGRAM, "future", ns_future_get(self, &(ns_future){0}))

/* ---- the worker of a task ---------------------------------------------------------------------------------------- */

RIGHT_USE(ns_task_worker, require(ns_task_worker(self) < WORKERS))
RIGHT_USE(ns_task_workers, require(ns_task_workers(self) == WORKERS))
RIGHT_USE(ns_task_node, require(ns_task_node(self) <= NS_NUMA_NODES))
RIGHT_USE(ns_work, ns_work(self, 1000))
RIGHT_USE(ns_work_said, ns_work(self, 1000))
IN_TASK("ns_work", WRONG, "-5 ps", PROGRAM, "declared time", SERIAL, ns_work(self, -5))
IN_TASK("ns_work_said", WRONG, "-5 ps", PROGRAM, "declared time", SERIAL, ns_work(self, -5))
IN_TASK("ns_work", WRONG, "2^63 ps", PROGRAM, "declared time", SERIAL, ns_work(self, INT64_MAX))

/* ---- words ------------------------------------------------------------------------------------------------------- */

BODY(locks) {
    ns_word_lock(self, it.lock);
    ns_word_unlock(self, it.lock);
    require(ns_word_add(self, it.counter, 5) == 0 && ns_word_add(self, it.counter, -5) == 5);
    ns_word_signal(self, it.condition);
    ns_word_await(self, it.condition);
    ns_word_broadcast(self, it.condition);
    ns_word_await(self, it.condition);
    ns_word_arrive(self, it.barrier);
}
RIGHT_USE(ns_word_lock, locks(self, NULL))
RIGHT_USE(ns_word_unlock, locks(self, NULL))
RIGHT_USE(ns_word_add, locks(self, NULL))
RIGHT_USE(ns_word_arrive, locks(self, NULL))
RIGHT_USE(ns_word_await, locks(self, NULL))
RIGHT_USE(ns_word_signal, locks(self, NULL))
RIGHT_USE(ns_word_broadcast, locks(self, NULL))
MISUSE(ns_word_lock, "word 12345", PROGRAM, "12345", ns_word_lock(self, NO_WORD))
MISUSE(ns_word_unlock, "word 12345", PROGRAM, "12345", ns_word_unlock(self, NO_WORD))
MISUSE(ns_word_add, "word 12345", PROGRAM, "12345", ns_word_add(self, NO_WORD, 1))
MISUSE(ns_word_arrive, "word 12345", PROGRAM, "12345", ns_word_arrive(self, NO_WORD))
MISUSE(ns_word_await, "word 12345", PROGRAM, "12345", ns_word_await(self, NO_WORD))
MISUSE(ns_word_signal, "word 12345", PROGRAM, "12345", ns_word_signal(self, NO_WORD))
MISUSE(ns_word_broadcast, "word 2^32 - 1", PROGRAM, "4294967295", ns_word_broadcast(self, UINT32_MAX))
MISUSE(ns_word_lock, "a counter", PROGRAM, "'counter' is an atomic counter", ns_word_lock(self, it.counter))
MISUSE(ns_word_unlock, "a counter", PROGRAM, "'counter'", ns_word_unlock(self, it.counter))
MISUSE(ns_word_add, "a lock", PROGRAM, "'lock'", ns_word_add(self, it.lock, 1))
MISUSE(ns_word_arrive, "a condition", PROGRAM, "'condition'", ns_word_arrive(self, it.condition))
MISUSE(ns_word_await, "a lock", PROGRAM, "'lock'", ns_word_await(self, it.lock))
MISUSE(ns_word_signal, "a barrier", PROGRAM, "'barrier'", ns_word_signal(self, it.barrier))
MISUSE(ns_word_broadcast, "a counter", PROGRAM, "'counter'", ns_word_broadcast(self, it.counter))
BEYOND_A_PLAN(ns_word_lock, "twice", DEADLOCK, "lock", ns_word_lock(self, it.lock); ns_word_lock(self, it.lock))
BEYOND_A_PLAN(ns_word_lock, "and no unlock", PROGRAM, "lock", ns_word_lock(self, it.lock))
BODY(unlock_free) { ns_word_unlock(self, it.lock); }
BEYOND_A_PLAN(ns_word_unlock, "a free lock", PROGRAM, "'lock'", unlock_free(self, NULL))
BEYOND_A_PLAN(ns_word_unlock, "twice", PROGRAM, "'lock'", ns_word_lock(self, it.lock); ns_word_unlock(self, it.lock);
              ns_word_unlock(self, it.lock))
BEYOND_A_PLAN(ns_word_unlock, "the lock of the caller", PROGRAM, "'lock'", ns_word_lock(self, it.lock);
              ns_call(self, unlock_free, NULL); ns_word_unlock(self, it.lock))
BEYOND_A_PLAN(ns_word_arrive, "more parties than workers", DEADLOCK, "barrier", ns_word_arrive(self, it.wide_barrier))

/* ---- pools, from their own tasks --------------------------------------------------------------------------------- */

FROM_TASK(ns_pool_run, "of the pool", CALLER, found(ns_pool_run(it.pool, nothing, NULL, 0)))
FROM_TASK(ns_pool_team, "of the pool", CALLER, found(ns_pool_team(it.pool, nothing, NULL, 0)))
FROM_TASK(ns_pool_destroy, "of the pool", CALLER, found(ns_pool_destroy(it.pool)))
FROM_TASK(ns_object_register, "of the pool", CALLER, found(ns_object_register(it.pool, "late", &sum, sizeof sum)))
FROM_TASK(ns_word_create, "of the pool", CALLER, found(ns_word_create(it.pool, "late", NS_WORD_LOCK, 0, 1)))
FROM_TASK(ns_pool_problem, "of the pool", NS_OK,
          require(strcmp(ns_pool_problem(it.pool), ns_error_sentence(NS_ERROR_CALLER)) == 0))

/* A task may use another pool, also on its own stack. */
BODY(other_pool) {
    ns_pool *other;
    const ns_pool_options options = {.mode = it.way->mode == NS_MODE_NATIVE ? NS_MODE_NATIVE : NS_MODE_SERIAL,
                                     .workers = 1};
    int error = ns_pool_create(&other, &options);
    if (!error) error = ns_pool_run(other, spawn, NULL, 0);
    if (!error) error = ns_pool_destroy(other);
    found(error);
}
FROM_TASK(ns_pool_run, "of another pool", NS_OK, other_pool(self, NULL))
FROM_TASK(ns_pool_create, "of another pool", NS_OK, other_pool(self, NULL))

/* ---- typed tasks ------------------------------------------------------------------------------------------------- */

NS_TASK(int64_t, twice, int64_t, n) {
    (void)self;
    return 2 * n;
}

BODY(typed) {
    int64_t spawned, after;
    twice_spawn(self, &spawned, 1);
    const int64_t called = twice_call(self, 2);
    twice_spawn_after(self, NS_DEPEND(NS_OUT(&after)), &after, 3);
    twice_join(self);
    require(spawned + called + after == 12);
}
RIGHT_USE(NAME_spawn, typed(self, NULL))
RIGHT_USE(NAME_call, typed(self, NULL))
RIGHT_USE(NAME_join, typed(self, NULL))
RIGHT_USE(NAME_spawn_after, typed(self, NULL))
MISUSE(NAME_spawn_after, "null dependences", PROGRAM, "null", twice_spawn_after(self, NULL, 2, NULL, 3))

/* ---- deep nesting ------------------------------------------------------------------------------------------------ */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HAS_DEEP_STACKS /* sanitizers keep only 65,536 calls of a thread, and do not expect a stack of 256 MiB */

static void nest(ns_task *self, void *arguments) {
    const int64_t left = *(const int64_t *)arguments;
    if (left) ns_call(self, nest, &(int64_t){left - 1});
}
BEYOND_A_PLAN(ns_call, "a million calls in each other", MEMORY, "deeply", nest(self, &(int64_t){1000000}))

static void nest_spawns(ns_task *self, void *arguments) {
    const int64_t left = *(const int64_t *)arguments;
    if (left) ns_spawn(self, nest_spawns, &(int64_t){left - 1}, sizeof(int64_t));
    ns_join(self);
}
IN_TASK("ns_join", WRONG, "a million children in each other", MEMORY, "deeply", ON_STACKS,
        nest_spawns(self, &(int64_t){1000000}))

NS_TASK(int64_t, typed_nest, int64_t, n) { return n ? 1 + typed_nest_call(self, n - 1) : 0; }
BODY(typed_deep) { found(typed_nest_call(self, 1000000) == 1000000 ? NS_OK : NS_ERROR_MEMORY); }
IN_TASK("NAME_call", WRONG, "a million calls in each other", MEMORY, "deeply", NEITHER, typed_deep(self, NULL))
IN_TASK("NAME_call", WRONG, "a million inline calls in each other", DIES, "overflow", LANES, typed_deep(self, NULL))
#endif
