/* Cases in tasks. */
#include <stdlib.h>
#include <string.h>

#include "contract.h"

#define NO_OBJECT 77
#define NO_WORD 12345

void nothing(ns_task *self, void *arguments) { (void)self, (void)arguments; }

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

#define BODY(NAME) static void NAME(__attribute__((unused)) ns_task *self, __attribute__((unused)) void *arguments)

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

BODY(spawn) {
    ns_spawn(self, nothing, NULL, 0);
    ns_join(self);
}
BODY(spawn_null) { ns_spawn(self, NULL, NULL, 0); }
BODY(spawn_null_arguments) { ns_spawn(self, nothing, NULL, 8); }
BODY(spawn_minus_five) { ns_spawn(self, nothing, &it, (size_t)-5); }
BODY(spawn_all) { ns_spawn(self, nothing, &it, SIZE_MAX); }
BODY(join) {
    ns_join(self);
    ns_join(self);
}
BODY(call) { ns_call(self, nothing, NULL); }
BODY(call_null) { ns_call(self, NULL, NULL); }

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

BODY(spawn_with) { ns_spawn_with(self, nothing, NULL, 0, &RIGHT, 1); }
BODY(spawn_with_null_body) { ns_spawn_with(self, NULL, NULL, 0, NULL, 0); }
BODY(spawn_with_null) { ns_spawn_with(self, nothing, NULL, 0, NULL, 1); }
BODY(spawn_with_unknown) {
    const ns_access wrong[] = {RIGHT, access_of(NO_OBJECT, 0, 1, 1, 0)};
    ns_spawn_with(self, nothing, NULL, 0, wrong, 2);
}

BODY(declare) { ns_access_declare(self, &RIGHT); }
BODY(declare_null) { ns_access_declare(self, NULL); }
#define DECLARE(NAME, ...) \
    BODY(NAME) { ns_access_declare(self, &(ns_access)__VA_ARGS__); }
DECLARE(declare_unknown, {.object = NO_OBJECT, .passes = 1, .row_bytes = 1, .rows = 1, .mode = NS_READ})
DECLARE(declare_no_mode, {.passes = 1, .row_bytes = 1, .rows = 1})
DECLARE(declare_mode_77, {.passes = 1, .row_bytes = 1, .rows = 1, .mode = 77})
DECLARE(declare_pattern_77, {.passes = 1, .row_bytes = 1, .rows = 1, .mode = NS_READ, .pattern = 77})
DECLARE(declare_no_passes, {.row_bytes = 1, .rows = 1, .mode = NS_READ})
#define DECLARE_SIZES(NAME, ...)                           \
    BODY(NAME) {                                           \
        const ns_access wrong = access_of(0, __VA_ARGS__); \
        ns_access_declare(self, &wrong);                   \
    }
DECLARE_SIZES(declare_minus_five, 0, -5, 1, 0)
DECLARE_SIZES(declare_before, -1, 1, 1, 0)
DECLARE_SIZES(declare_beyond, 1, OBJECT_BYTES, 1, 0)
DECLARE_SIZES(declare_no_rows, 0, 1, 0, 0)
DECLARE_SIZES(declare_back, 0, 1, 2, -8)
DECLARE_SIZES(declare_far, 0, 1, INT64_MAX, INT64_MAX)
DECLARE_SIZES(declare_forever, 0, 1, INT64_MAX, 0)

BODY(spawn_after) {
    ns_spawn_after(self, nothing, NULL, 0, NS_DEPEND(NS_OUT(&it), NS_IN(NULL)));
    ns_join(self);
}
BODY(spawn_after_null_body) { ns_spawn_after(self, NULL, NULL, 0, NS_DEPEND(NS_OUT(&it))); }
BODY(spawn_after_null) { ns_spawn_after(self, nothing, NULL, 0, NULL, 3); }
BODY(spawn_after_no_direction) {
    const ns_dependence wrong = {.address = &it};
    ns_spawn_after(self, nothing, NULL, 0, &wrong, 1);
}
BODY(spawn_after_direction_77) {
    const ns_dependence wrong = {.address = &it, .direction = (enum ns_direction)77};
    ns_spawn_after(self, nothing, NULL, 0, &wrong, 1);
}
BODY(spawn_after_unknown) {
    const ns_access far = access_of(NO_OBJECT, 0, 1, 1, 0);
    const ns_dependence wrong = {&it, NS_DIRECTION_IN, &far};
    ns_spawn_after(self, nothing, NULL, 0, &wrong, 1);
}

/* ---- loops and reductions ---------------------------------------------------------------------------------------- */

static void loop_pieces(ns_task *self, int64_t begin, int64_t end, int64_t grain, uint32_t pieces) {
    uint32_t counted = 0;
    ns_parallel_for(self, begin, end, grain, count_piece, &counted);
    if (counted != pieces) found(NS_ERROR_PROGRAM);
}
BODY(loop) { loop_pieces(self, 0, 100, 10, 16); }
BODY(loop_grain_minus_five) { loop_pieces(self, 0, 8, -5, 8); }
BODY(loop_backwards) { loop_pieces(self, 5, -5, 1, 0); }
BODY(loop_all) { loop_pieces(self, INT64_MIN, INT64_MAX, INT64_MAX, 3); } /* 2^63 - 1 indices, and 2^63, halved */
BODY(loop_null) { ns_parallel_for(self, 0, 10, 1, NULL, NULL); }

static int reduce(ns_task *self, int64_t begin, int64_t end, ns_reduce_body *body, ns_combine *combine, void *value,
                  size_t bytes) {
    return ns_parallel_reduce(self, begin, end, 1, body, combine, NULL, value, bytes);
}
static int64_t sum;
BODY(sums) {
    sum = 3;
    found(reduce(self, 0, 10, reduce_piece, add, &sum, sizeof sum));
    if (sum != 13) found(NS_ERROR_PROGRAM);
}
BODY(sum_nothing) { found(reduce(self, 10, 0, reduce_piece, add, &sum, sizeof sum)); }
BODY(sum_null_body) { found(reduce(self, 0, 10, NULL, add, &sum, sizeof sum)); }
BODY(sum_null_combine) { found(reduce(self, 0, 10, reduce_piece, NULL, &sum, sizeof sum)); }
BODY(sum_null_value) { found(reduce(self, 0, 10, reduce_piece, add, NULL, sizeof sum)); }
BODY(sum_minus_five) { found(reduce(self, 0, 10, reduce_piece, add, &sum, (size_t)-5)); }
BODY(sum_all) { found(reduce(self, INT64_MIN, INT64_MAX, reduce_piece, add, &sum, 4096)); }

static ns_reduction reduction_of(size_t bytes) { return (ns_reduction){.value = &sum, .bytes = bytes, .combine = add}; }

BODY(terms) {
    ns_reduction made = reduction_of(sizeof sum);
    sum = 1;
    found(ns_reduce_spawn(self, &made, term, NULL, 0));
    found(ns_reduce_spawn(self, &made, term, NULL, 0));
    found(ns_reduce_join(self, &made));
    if (sum != 3) found(NS_ERROR_PROGRAM);
}
BODY(term_null) { found(ns_reduce_spawn(self, NULL, term, NULL, 0)); }
#define TERM(NAME, CHANGE, BODY_OF_TERM, ARGUMENTS, BYTES)                   \
    BODY(NAME) {                                                             \
        ns_reduction made = reduction_of(sizeof sum);                        \
        CHANGE;                                                              \
        found(ns_reduce_spawn(self, &made, BODY_OF_TERM, ARGUMENTS, BYTES)); \
    }
TERM(term_null_value, made.value = NULL, term, NULL, 0)
TERM(term_null_combine, made.combine = NULL, term, NULL, 0)
TERM(term_null_body, (void)0, NULL, NULL, 0)
TERM(term_null_arguments, (void)0, term, NULL, 8)
TERM(term_minus_five, (void)0, term, &it, (size_t)-5)
TERM(term_of_all, made.bytes = SIZE_MAX, term, NULL, 0)
BODY(join_null) { found(ns_reduce_join(self, NULL)); }
BODY(join_zero) { found(ns_reduce_join(self, &(ns_reduction){0})); }

/* ---- futures ----------------------------------------------------------------------------------------------------- */

BODY(future) {
    ns_future made;
    ns_future_spawn(self, &made, nothing, NULL, 0);
    ns_future_get(self, &made);
    ns_future_get(self, &made); /* returns at once: the child has ended */
}
BODY(future_null) { ns_future_spawn(self, NULL, nothing, NULL, 0); }
BODY(future_null_body) {
    ns_future made;
    ns_future_spawn(self, &made, NULL, NULL, 0);
    ns_future_get(self, &made);
}
BODY(future_minus_five) {
    ns_future made;
    ns_future_spawn(self, &made, nothing, &it, (size_t)-5);
}
BODY(get_null) { ns_future_get(self, NULL); }
BODY(get_unspawned) { ns_future_get(self, &(ns_future){0}); }

/* ---- the worker of a task ---------------------------------------------------------------------------------------- */

BODY(worker) {
    if (ns_task_worker(self) >= WORKERS) found(NS_ERROR_PROGRAM);
}
BODY(workers) {
    if (ns_task_workers(self) != WORKERS) found(NS_ERROR_PROGRAM);
}
BODY(node) {
    if (ns_task_node(self) > NS_NUMA_NODES) found(NS_ERROR_PROGRAM);
}
BODY(work) { ns_work(self, 1000); }
BODY(work_minus_five) { ns_work(self, -5); }
BODY(work_forever) { ns_work(self, INT64_MAX); }

/* ---- words ------------------------------------------------------------------------------------------------------- */

BODY(locks) {
    ns_word_lock(self, it.lock);
    ns_word_unlock(self, it.lock);
    if (ns_word_add(self, it.counter, 5) != 0 || ns_word_add(self, it.counter, -5) != 5) found(NS_ERROR_PROGRAM);
    ns_word_signal(self, it.condition);
    ns_word_await(self, it.condition);
    ns_word_broadcast(self, it.condition);
    ns_word_await(self, it.condition);
    ns_word_arrive(self, it.barrier);
}
BODY(lock_unknown) { ns_word_lock(self, NO_WORD); }
BODY(unlock_unknown) { ns_word_unlock(self, NO_WORD); }
BODY(add_unknown) { ns_word_add(self, NO_WORD, 1); }
BODY(arrive_unknown) { ns_word_arrive(self, NO_WORD); }
BODY(await_unknown) { ns_word_await(self, NO_WORD); }
BODY(signal_unknown) { ns_word_signal(self, NO_WORD); }
BODY(broadcast_unknown) { ns_word_broadcast(self, UINT32_MAX); }
BODY(lock_counter) { ns_word_lock(self, it.counter); }
BODY(unlock_counter) { ns_word_unlock(self, it.counter); }
BODY(add_lock) { ns_word_add(self, it.lock, 1); }
BODY(arrive_condition) { ns_word_arrive(self, it.condition); }
BODY(await_lock) { ns_word_await(self, it.lock); }
BODY(signal_barrier) { ns_word_signal(self, it.barrier); }
BODY(broadcast_counter) { ns_word_broadcast(self, it.counter); }
BODY(lock_twice) {
    ns_word_lock(self, it.lock);
    ns_word_lock(self, it.lock);
}
BODY(keep_lock) { ns_word_lock(self, it.lock); }
BODY(unlock_free) { ns_word_unlock(self, it.lock); }
BODY(unlock_twice) {
    ns_word_lock(self, it.lock);
    ns_word_unlock(self, it.lock);
    ns_word_unlock(self, it.lock);
}
BODY(unlock_of_caller) {
    ns_word_lock(self, it.lock);
    ns_call(self, unlock_free, NULL);
    ns_word_unlock(self, it.lock);
}
BODY(arrive_alone) { ns_word_arrive(self, it.wide_barrier); }

/* ---- pools, from their own tasks --------------------------------------------------------------------------------- */

BODY(run_own) { found(ns_pool_run(it.pool, nothing, NULL, 0)); }
BODY(team_own) { found(ns_pool_team(it.pool, nothing, NULL, 0)); }
BODY(destroy_own) { found(ns_pool_destroy(it.pool)); }
BODY(register_own) { found(ns_object_register(it.pool, "late", &sum, sizeof sum)); }
BODY(create_own) { found(ns_word_create(it.pool, "late", NS_WORD_LOCK, 0, 1)); }
BODY(problem_own) {
    if (strcmp(ns_pool_problem(it.pool), ns_error_sentence(NS_ERROR_CALLER)) != 0) found(NS_ERROR_PROGRAM);
}

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
    if (spawned + called + after != 12) found(NS_ERROR_PROGRAM);
}
BODY(typed_after_null) { twice_spawn_after(self, NULL, 2, NULL, 3); }

/* ---- deep nesting ------------------------------------------------------------------------------------------------ */

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HAS_DEEP_STACKS /* sanitizers keep only 65,536 calls of a thread, and do not expect a stack of 256 MiB */

static void nest(ns_task *self, void *arguments) {
    const int64_t left = *(const int64_t *)arguments;
    if (left) ns_call(self, nest, &(int64_t){left - 1});
}
BODY(call_nested) { nest(self, &(int64_t){1000000}); }

static void nest_spawns(ns_task *self, void *arguments) {
    const int64_t left = *(const int64_t *)arguments;
    if (left) ns_spawn(self, nest_spawns, &(int64_t){left - 1}, sizeof(int64_t));
    ns_join(self);
}
BODY(spawn_nested) { nest_spawns(self, &(int64_t){1000000}); }

NS_TASK(int64_t, typed_nest, int64_t, n) { return n ? 1 + typed_nest_call(self, n - 1) : 0; }
BODY(typed_deep) { found(typed_nest_call(self, 1000000) == 1000000 ? NS_OK : NS_ERROR_MEMORY); }
#endif

/* ---- all cases --------------------------------------------------------------------------------------------------- */

#define RIGHT_USE(FUNCTION, BODY_OF) {#FUNCTION, TASK, "right", BODY_OF, NS_OK, NULL, NOT_VIRTUAL}
#define MISUSE(FUNCTION, WHAT, BODY_OF, ERROR, SAYS) {#FUNCTION, WRONG, WHAT, BODY_OF, ERROR, SAYS, ALL}
#define BEYOND_A_PLAN(FUNCTION, WHAT, BODY_OF, ERROR, SAYS) {#FUNCTION, WRONG, WHAT, BODY_OF, ERROR, SAYS, NOT_VIRTUAL}
#define FROM_TASK(FUNCTION, WHAT, BODY_OF, ERROR) {#FUNCTION, TASK, WHAT, BODY_OF, ERROR, NULL, ALL}

enum {
    PROGRAM = NS_ERROR_PROGRAM,
    OPTION = NS_ERROR_OPTION,
    MEMORY = NS_ERROR_MEMORY,
    DEADLOCK = NS_ERROR_DEADLOCK,
    CALLER = NS_ERROR_CALLER
};

const task_case TASK_CASES[] = {
    RIGHT_USE(ns_spawn, spawn),
    MISUSE(ns_spawn, "a null body", spawn_null, PROGRAM, "null"),
    MISUSE(ns_spawn, "null arguments of 8 bytes", spawn_null_arguments, PROGRAM, "8 bytes"),
    MISUSE(ns_spawn, "-5 bytes", spawn_minus_five, PROGRAM, "bytes"),
    MISUSE(ns_spawn, "SIZE_MAX bytes", spawn_all, PROGRAM, "bytes"),
    RIGHT_USE(ns_join, join),
    RIGHT_USE(ns_call, call),
    MISUSE(ns_call, "a null body", call_null, PROGRAM, "null"),
    RIGHT_USE(ns_spawn_with, spawn_with),
    MISUSE(ns_spawn_with, "a null body", spawn_with_null_body, PROGRAM, "null"),
    MISUSE(ns_spawn_with, "a null access", spawn_with_null, PROGRAM, "null"),
    MISUSE(ns_spawn_with, "an unknown object", spawn_with_unknown, PROGRAM, "77"),
    RIGHT_USE(ns_access_declare, declare),
    MISUSE(ns_access_declare, "null", declare_null, PROGRAM, "null"),
    MISUSE(ns_access_declare, "an unknown object", declare_unknown, PROGRAM, "77"),
    MISUSE(ns_access_declare, "no mode", declare_no_mode, PROGRAM, "mode"),
    MISUSE(ns_access_declare, "mode 77", declare_mode_77, PROGRAM, "mode"),
    MISUSE(ns_access_declare, "pattern 77", declare_pattern_77, PROGRAM, "pattern"),
    MISUSE(ns_access_declare, "no passes", declare_no_passes, PROGRAM, "object"),
    MISUSE(ns_access_declare, "-5 bytes", declare_minus_five, PROGRAM, "object"),
    MISUSE(ns_access_declare, "before the object", declare_before, PROGRAM, "object"),
    MISUSE(ns_access_declare, "beyond the object", declare_beyond, PROGRAM, "object"),
    MISUSE(ns_access_declare, "no rows", declare_no_rows, PROGRAM, "object"),
    MISUSE(ns_access_declare, "rows backwards", declare_back, PROGRAM, "object"),
    MISUSE(ns_access_declare, "rows beyond all memory", declare_far, PROGRAM, "object"),
    MISUSE(ns_access_declare, "2^63 rows on top of each other", declare_forever, PROGRAM, "object"),
    RIGHT_USE(ns_spawn_after, spawn_after),
    MISUSE(ns_spawn_after, "a null body", spawn_after_null_body, PROGRAM, "null"),
    MISUSE(ns_spawn_after, "null dependences", spawn_after_null, PROGRAM, "null"),
    MISUSE(ns_spawn_after, "no direction", spawn_after_no_direction, PROGRAM, "direction"),
    MISUSE(ns_spawn_after, "direction 77", spawn_after_direction_77, PROGRAM, "77"),
    MISUSE(ns_spawn_after, "an unknown object", spawn_after_unknown, PROGRAM, "77"),
    RIGHT_USE(ns_parallel_for, loop),
    RIGHT_USE(ns_parallel_for, loop_grain_minus_five),
    RIGHT_USE(ns_parallel_for, loop_backwards),
    RIGHT_USE(ns_parallel_for, loop_all),
    MISUSE(ns_parallel_for, "a null body", loop_null, PROGRAM, "null"),
    RIGHT_USE(ns_parallel_reduce, sums),
    RIGHT_USE(ns_parallel_reduce, sum_nothing),
    MISUSE(ns_parallel_reduce, "a null body", sum_null_body, OPTION, NULL),
    MISUSE(ns_parallel_reduce, "a null combine", sum_null_combine, OPTION, NULL),
    MISUSE(ns_parallel_reduce, "a null value", sum_null_value, OPTION, NULL),
    MISUSE(ns_parallel_reduce, "-5 bytes", sum_minus_five, MEMORY, NULL),
    MISUSE(ns_parallel_reduce, "2^64 large values", sum_all, MEMORY, NULL),
    RIGHT_USE(ns_reduce_spawn, terms),
    MISUSE(ns_reduce_spawn, "null", term_null, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "a null value", term_null_value, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "a null combine", term_null_combine, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "a null body", term_null_body, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "null arguments of 8 bytes", term_null_arguments, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "-5 bytes", term_minus_five, OPTION, NULL),
    MISUSE(ns_reduce_spawn, "terms of SIZE_MAX bytes", term_of_all, MEMORY, NULL),
    RIGHT_USE(ns_reduce_join, terms),
    MISUSE(ns_reduce_join, "null", join_null, OPTION, NULL),
    MISUSE(ns_reduce_join, "all zero", join_zero, OPTION, NULL),
    RIGHT_USE(ns_future_spawn, future),
    MISUSE(ns_future_spawn, "null", future_null, PROGRAM, "null"),
    MISUSE(ns_future_spawn, "a null body", future_null_body, PROGRAM, "null"),
    MISUSE(ns_future_spawn, "-5 bytes", future_minus_five, PROGRAM, "bytes"),
    RIGHT_USE(ns_future_get, future),
    MISUSE(ns_future_get, "null", get_null, PROGRAM, "future"),
    MISUSE(ns_future_get, "one that was not spawned", get_unspawned, PROGRAM, "future"),
    RIGHT_USE(ns_task_worker, worker),
    RIGHT_USE(ns_task_workers, workers),
    RIGHT_USE(ns_task_node, node),
    RIGHT_USE(ns_work, work),
    {"ns_work", WRONG, "-5 ps", work_minus_five, PROGRAM, "work", SERIAL},
    {"ns_work", WRONG, "2^63 ps", work_forever, PROGRAM, "work", SERIAL},
    RIGHT_USE(ns_work_said, work),
    {"ns_work_said", WRONG, "-5 ps", work_minus_five, PROGRAM, "work", SERIAL},
    RIGHT_USE(ns_word_lock, locks),
    MISUSE(ns_word_lock, "word 12345", lock_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_lock, "a counter", lock_counter, PROGRAM, "'counter' is an atomic counter"),
    BEYOND_A_PLAN(ns_word_lock, "twice", lock_twice, DEADLOCK, "lock"),
    BEYOND_A_PLAN(ns_word_lock, "and no unlock", keep_lock, PROGRAM, "lock"),
    RIGHT_USE(ns_word_unlock, locks),
    MISUSE(ns_word_unlock, "word 12345", unlock_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_unlock, "a counter", unlock_counter, PROGRAM, "'counter'"),
    BEYOND_A_PLAN(ns_word_unlock, "a free lock", unlock_free, PROGRAM, "'lock'"),
    BEYOND_A_PLAN(ns_word_unlock, "twice", unlock_twice, PROGRAM, "'lock'"),
    BEYOND_A_PLAN(ns_word_unlock, "the lock of the caller", unlock_of_caller, PROGRAM, "'lock'"),
    RIGHT_USE(ns_word_add, locks),
    MISUSE(ns_word_add, "word 12345", add_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_add, "a lock", add_lock, PROGRAM, "'lock'"),
    RIGHT_USE(ns_word_arrive, locks),
    MISUSE(ns_word_arrive, "word 12345", arrive_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_arrive, "a condition", arrive_condition, PROGRAM, "'condition'"),
    BEYOND_A_PLAN(ns_word_arrive, "more parties than workers", arrive_alone, DEADLOCK, "barrier"),
    RIGHT_USE(ns_word_await, locks),
    MISUSE(ns_word_await, "word 12345", await_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_await, "a lock", await_lock, PROGRAM, "'lock'"),
    RIGHT_USE(ns_word_signal, locks),
    MISUSE(ns_word_signal, "word 12345", signal_unknown, PROGRAM, "12345"),
    MISUSE(ns_word_signal, "a barrier", signal_barrier, PROGRAM, "'barrier'"),
    RIGHT_USE(ns_word_broadcast, locks),
    MISUSE(ns_word_broadcast, "word 2^32 - 1", broadcast_unknown, PROGRAM, "4294967295"),
    MISUSE(ns_word_broadcast, "a counter", broadcast_counter, PROGRAM, "'counter'"),
    FROM_TASK(ns_pool_run, "of the pool", run_own, CALLER),
    FROM_TASK(ns_pool_run, "of another pool", other_pool, NS_OK),
    FROM_TASK(ns_pool_team, "of the pool", team_own, CALLER),
    FROM_TASK(ns_pool_create, "of another pool", other_pool, NS_OK),
    FROM_TASK(ns_pool_destroy, "of the pool", destroy_own, CALLER),
    FROM_TASK(ns_pool_problem, "of the pool", problem_own, NS_OK),
    FROM_TASK(ns_object_register, "of the pool", register_own, CALLER),
    FROM_TASK(ns_word_create, "of the pool", create_own, CALLER),
    RIGHT_USE(NAME_spawn, typed),
    RIGHT_USE(NAME_call, typed),
    RIGHT_USE(NAME_join, typed),
    RIGHT_USE(NAME_spawn_after, typed),
    MISUSE(NAME_spawn_after, "null dependences", typed_after_null, PROGRAM, "null"),
#ifdef HAS_DEEP_STACKS
    {"NAME_call", WRONG, "a million calls in each other", typed_deep, MEMORY, "deeply", NEITHER},
    {"NAME_call", WRONG, "a million inline calls in each other", typed_deep, DIES, "overflow", LANES},
    BEYOND_A_PLAN(ns_call, "a million calls in each other", call_nested, MEMORY, "deeply"),
    {"ns_join", WRONG, "a million children in each other", spawn_nested, MEMORY, "deeply", ON_STACKS},
#endif
    {0},
};
