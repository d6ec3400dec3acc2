/* The functions that tasks call. Each function checks its arguments, and calls the mode in which the task runs. */
#include <stdarg.h>
#include <stdio.h>

#include "api/operations.h"
#include "queues/lane.h"

/* Return the whole struct of the task, as the mode made it. `self` may be a copy of its first fields. */
static ns_task *whole_of(const ns_task *self) { return self->whole ? self->whole : (ns_task *)(uintptr_t)self; }

static const ns_task_operations *operations_of(const ns_task *self) { return self->worker->pool->tasks; }

#define NS_RARE(condition) __builtin_expect(!!(condition), 0)

/* ---- wrong calls ------------------------------------------------------------------------------------------------- */

/* Note a wrong call: the run ends with this error. In serial mode and in virtual time this function does not return. */
__attribute__((format(printf, 3, 4), cold)) static void refuse(const ns_task *self, int error, const char *sentence,
                                                               ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(text, sizeof text, sentence, arguments);
    va_end(arguments);
    operations_of(self)->refuse(whole_of(self), error, text);
}

/* Refuse a spawn or a call that has no body, or has arguments that cannot be copied. */
__attribute__((cold, noinline)) static void refuse_body(const ns_task *self, bool has_body, const void *arguments,
                                                        size_t bytes) {
    if (!has_body)
        refuse(self, NS_ERROR_PROGRAM, "a task has no body: it is null");
    else
        refuse(self, NS_ERROR_PROGRAM, "a task cannot have %zu bytes of arguments at %p", bytes, arguments);
}

/* Return whether there is a body and its arguments can be copied. If not, refuse the call. */
static inline bool can_run(const ns_task *self, bool has_body, const void *arguments, size_t bytes) {
    const bool can = has_body && !ns_is_wrong_memory(arguments, bytes);
    if (NS_RARE(!can)) refuse_body(self, has_body, arguments, bytes);
    return can;
}

/* Return whether the access is inside its object, has bytes, and has at most NS_MOST_MOVED bytes over all passes. */
static bool is_inside(const ns_access *access, int64_t bytes) {
    int64_t last, end;
    if (access->offset < 0 || access->row_bytes < 1 || access->rows < 1 || access->stride < 0 || !access->passes)
        return false;
    if (__builtin_mul_overflow(access->rows - 1, access->stride, &last)) return false;
    if (__builtin_add_overflow(last, access->row_bytes, &end)) return false;
    const double moved = (double)access->row_bytes * (double)access->rows * access->passes;
    return end <= bytes - access->offset && moved <= (double)NS_MOST_MOVED;
}

static bool can_access(const ns_task *self, const ns_access *access) {
    const ns_pool *pool = self->worker->pool;
    const ns_object *object = access && access->object < pool->object_count ? &pool->objects[access->object] : NULL;
    if (!access)
        refuse(self, NS_ERROR_PROGRAM, "an access is null");
    else if (!object)
        refuse(self, NS_ERROR_PROGRAM, "a task accesses an object that is not registered: %u of %u", access->object,
               pool->object_count);
    else if (!access->mode || access->mode > NS_READ_WRITE || access->pattern > NS_CHASE)
        refuse(self, NS_ERROR_PROGRAM, "an access has an unknown mode or pattern: '%s'", object->name);
    else if (!is_inside(access, object->bytes))
        refuse(self, NS_ERROR_PROGRAM, "an access has no bytes, has too many, or is not within its object: '%s'",
               object->name);
    else
        return true;
    return false;
}

static bool can_access_all(const ns_task *self, const ns_access *accesses, uint32_t count) {
    if (count && !accesses) return can_access(self, NULL);
    for (uint32_t at = 0; at < count; at++) {
        if (!can_access(self, &accesses[at])) return false;
    }
    return true;
}

static bool can_depend(const ns_task *self, const ns_dependence *dependences, uint32_t count) {
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t direction = dependences ? (uint32_t)dependences[at].direction : 0;
        if (!direction || direction > NS_DIRECTION_INOUT) {
            refuse(
                self, NS_ERROR_PROGRAM,
                dependences ? "a dependence has an unknown direction: %u" : "a task has %u dependences that are null",
                dependences ? direction : count);
            return false;
        }
        if (dependences[at].access && !can_access(self, dependences[at].access)) return false;
    }
    return true;
}

static const char *const ROLE_NAME[] = {"a lock", "an atomic counter", "a condition", "a barrier"};

__attribute__((cold, noinline)) static void refuse_word(const ns_task *self, uint32_t word, enum ns_word_role role) {
    const ns_pool *pool = self->worker->pool;
    if (word >= pool->word_count)
        refuse(self, NS_ERROR_PROGRAM, "a task uses a word that there is not: %u of %u", word, pool->word_count);
    else
        refuse(self, NS_ERROR_PROGRAM, "a word is used in a wrong role: '%s' is %s, not %s", pool->words[word].name,
               ROLE_NAME[pool->words[word].role], ROLE_NAME[role]);
}

/* Return whether the word (synchronisation object) exists and has this role. If not, refuse the call. */
static inline bool can_use(const ns_task *self, uint32_t word, enum ns_word_role role) {
    const ns_pool *pool = self->worker->pool;
    const bool can = word < pool->word_count && pool->words[word].role == role;
    if (NS_RARE(!can)) refuse_word(self, word, role);
    return can;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void spawn_slowly(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    if (can_run(self, body != NULL, arguments, bytes)) operations_of(self)->spawn(whole_of(self), &order);
}

void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    if (!self->whole && bytes <= NS_INLINED_BYTES && body && (arguments || !bytes) && ns_lane_pushes(self)) {
        ns_lane_settle(self);
        ns_lane_fill(ns_lane_top_of(self), body, arguments, bytes);
        ns_lane_move_top(self, self->children + 1);
    } else {
        spawn_slowly(self, body, arguments, bytes);
    }
}

void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count) {
    const ns_work_order order = {
        .body = body, .arguments = arguments, .bytes = bytes, .accesses = accesses, .access_count = count};
    if (can_run(self, body != NULL, arguments, bytes) && can_access_all(self, accesses, count))
        operations_of(self)->spawn(whole_of(self), &order);
}

void ns_spawn_after(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_dependence *dependences,
                    uint32_t count) {
    const ns_work_order order = {
        .body = body, .arguments = arguments, .bytes = bytes, .dependences = dependences, .dependence_count = count};
    if (can_run(self, body != NULL, arguments, bytes) && can_depend(self, dependences, count))
        operations_of(self)->spawn_after(whole_of(self), &order);
}

void ns_call(ns_task *self, ns_body *body, void *arguments) {
    if (NS_RARE(!body))
        refuse_body(self, false, NULL, 0);
    else
        operations_of(self)->call(whole_of(self), body, arguments);
}

void ns_join(ns_task *self) { operations_of(self)->join(whole_of(self)); }

void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes, .future = future};
    if (!future) {
        refuse(self, NS_ERROR_PROGRAM, "a future is null");
        return;
    }
    *future = (ns_future){0};
    if (!can_run(self, body != NULL, arguments, bytes)) return;
    future->task = whole_of(self);
    operations_of(self)->spawn(whole_of(self), &order);
}

void ns_future_get(ns_task *self, ns_future *future) {
    /* relaxed: the load only asks whether the child has ended */
    const bool is_spawned =
        future && (future->task || ns_atomic_u32_load((ns_atomic_u32 *)(void *)&future->done, memory_order_relaxed));
    if (is_spawned)
        operations_of(self)->get(whole_of(self), future);
    else
        refuse(self, NS_ERROR_PROGRAM, "a task gets a future that is null or has not been spawned");
}

uint32_t ns_task_worker(const ns_task *self) { return whole_of(self)->worker->id; }

uint32_t ns_task_workers(const ns_task *self) { return self->worker->pool->workers; }

uint32_t ns_task_node(const ns_task *self) { return (uint32_t)whole_of(self)->worker->node; }

void ns_work_said(ns_task *self, int64_t picoseconds) { operations_of(self)->work(whole_of(self), picoseconds); }

void ns_access_declare(ns_task *self, const ns_access *access) {
    if (can_access(self, access)) operations_of(self)->access(whole_of(self), access);
}

static int64_t use(ns_task *self, enum ns_word_role role, enum ns_op op, uint32_t word, int64_t value) {
    return can_use(self, word, role) ? operations_of(self)->use(whole_of(self), op, word, value) : 0;
}

void ns_word_lock(ns_task *self, uint32_t word) { use(self, NS_WORD_LOCK, NS_OP_LOCK, word, 0); }
void ns_word_unlock(ns_task *self, uint32_t word) { use(self, NS_WORD_LOCK, NS_OP_UNLOCK, word, 0); }
int64_t ns_word_add(ns_task *self, uint32_t word, int64_t value) {
    return use(self, NS_WORD_ATOMIC, NS_OP_ATOMIC, word, value);
}
void ns_word_arrive(ns_task *self, uint32_t word) { use(self, NS_WORD_BARRIER, NS_OP_BARRIER, word, 0); }
void ns_word_await(ns_task *self, uint32_t word) { use(self, NS_WORD_CONDITION, NS_OP_AWAIT, word, 0); }
void ns_word_signal(ns_task *self, uint32_t word) { use(self, NS_WORD_CONDITION, NS_OP_SIGNAL, word, 1); }
void ns_word_broadcast(ns_task *self, uint32_t word) {
    const ns_pool *pool = self->worker->pool;
    use(self, NS_WORD_CONDITION, NS_OP_BROADCAST, word, word < pool->word_count ? pool->words[word].parties : 0);
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t begin, end, grain;
    ns_loop_body *body;
    void *arguments;
} loop;

static void run_loop(ns_task *self, void *arguments) {
    const loop *whole = arguments;
    loop rest = *whole;
    while (rest.begin < rest.end && (uint64_t)rest.end - (uint64_t)rest.begin > (uint64_t)rest.grain) {
        const int64_t middle = rest.begin + (int64_t)(((uint64_t)rest.end - (uint64_t)rest.begin) / 2);
        const loop right = {middle, rest.end, rest.grain, rest.body, rest.arguments};
        ns_spawn(self, run_loop, &right, sizeof right);
        rest.end = middle;
    }
    if (rest.begin < rest.end) rest.body(self, rest.arguments, rest.begin, rest.end);
    ns_join(self);
}

void ns_parallel_for(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_loop_body *body, void *arguments) {
    if (can_run(self, body != NULL, NULL, 0))
        run_loop(self, &(loop){begin, end, grain > 0 ? grain : 1, body, arguments});
}
