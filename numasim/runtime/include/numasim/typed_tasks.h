/* Tasks with a type: NS_TASK defines one with its result, its name, and the type and name of its argument.
 *
 *     NS_TASK(uint64_t, fib, int64_t, n) {
 *         if (n < 2) return (uint64_t)n;
 *         uint64_t a, b;
 *         fib_spawn(self, &a, n - 1);
 *         b = fib_call(self, n - 2);
 *         fib_join(self);
 *         return a + b;
 *     }
 *
 * `self` is the ns_task that runs. fib_spawn lets a child run and put its result there, as ns_spawn does; fib_call runs
 * one here and now, as ns_call does; fib_join is ns_join, best at children that are such tasks, right with any. `fib`
 * itself is the ns_body of such tasks, for ns_pool_run, whose arguments are a fib_order: {&result, argument}. All of
 * that is static. Arguments that are several are a struct.
 *
 * It is the fast way: where a strategy makes a spawn a push to the worker's own lane and a join a series of pops from
 * it, all of this is inline, arguments and results stay in registers unless a task is stolen, and the compiler sees
 * through the recursion. Everywhere else it is the calls of numasim/runtime.h.
 *
 * A lane is a stack of tasks, each in a slot with its arguments (Faxen, "Wool", 2008; van Dijk and van de Pol, "Lace:
 * non-blocking split deque for work-stealing", 2014). The children of a task are what lies above the top that the task
 * found when it began: they are not counted, and need no pointer to their parent. The structs below are internal
 * to the library (source/queues/lane.h explains the lane) and public only to be inlined: programs use none by name.
 * NS_TASK needs GNU C, as gcc and clang have it.
 */
#ifndef NUMASIM_TYPED_TASKS_H
#define NUMASIM_TYPED_TASKS_H

#include <stdint.h>

#include "numasim/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_worker ns_worker;

/* A 64-bit word that the library takes for an atomic one, and where the arguments of tasks lie. */
#ifdef __GNUC__
typedef uint64_t __attribute__((may_alias)) ns_lane_word;
#define NS_ALIGNED __attribute__((aligned(16)))
#else
typedef uint64_t ns_lane_word;
#define NS_ALIGNED
#endif

enum { NS_INLINED_BYTES = 48 };

/* A task in a lane. */
typedef struct {
    ns_lane_word ended; /* whether a thief has executed it, and its owner has not joined it yet */
    ns_body *body;
    char arguments[NS_INLINED_BYTES] NS_ALIGNED;
} ns_lane_slot;

/* What a body is given to call the runtime with; the tasks that a join pops have that of the task that joins. */
struct ns_task {
    ns_worker *worker;  /* that runs it now */
    ns_lane_slot *mark; /* the top of that worker's lane when the running task began; NULL: it has no lane */
    ns_lane_slot *top;  /* and now */
    ns_task *whole;     /* where there is no lane: the task itself, which is more than this struct; else NULL */
};

/* The part of a lane that its owner works with; addresses of slots. All zero where there is no lane. */
typedef struct {
    ns_lane_word top;        /* the first free slot; only the owner writes it */
    ns_lane_word push_limit; /* from here on a push takes the slow path: the lane is full, or thieves ask */
    ns_lane_word pop_limit;  /* and up to here a pop: tasks below are public, or thieves ask */
} ns_lane_owned;

struct ns_worker {
    ns_pool *pool;
    uint32_t id;
    int32_t node; /* of the plan's machine */
    ns_lane_owned lane;
    int64_t tasks; /* that have ended here */
};

/* A spawn, and a join of all down to `mark`, on a worker with a lane. The spawn returns the new top. */
ns_lane_slot *ns_lane_spawn(ns_worker *worker, ns_lane_slot *mark, ns_body *body, const void *arguments, size_t bytes);
void ns_lane_join(ns_worker *worker, ns_lane_slot *mark);

/* The work since the last call into the runtime took `picoseconds` by the kernel's own model of itself. Only serial
 * runs with model costs, which have no lanes, use it. */
void ns_work_said(ns_task *self, int64_t picoseconds);
static inline void ns_work(ns_task *self, int64_t picoseconds) {
    if (self->whole) ns_work_said(self->whole, picoseconds);
}

#ifdef __GNUC__

/* Orders of these accesses: as in source/queues/lane.h, where they are explained. */
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define NS_LANE_LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else /* the same one instruction, which gcc addresses better */
#define NS_LANE_LOAD(word) (*(const volatile ns_lane_word *)&(word))
#endif
#define NS_LANE_STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define NS_LANE_RARE(condition) __builtin_expect(!!(condition), 0)
#define NS_LANE_INLINE static inline __attribute__((always_inline, unused))

/* Whether the owner can push, or pop, on the fast path. */
NS_LANE_INLINE int ns_lane_pushes(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)self->top >= NS_LANE_LOAD(self->worker->lane.push_limit));
}
NS_LANE_INLINE int ns_lane_pops(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)self->top <= NS_LANE_LOAD(self->worker->lane.pop_limit));
}

/* The task at the top is pushed, or popped. */
NS_LANE_INLINE void ns_lane_move_top(ns_task *self, ns_lane_slot *top) {
    self->top = top;
    NS_LANE_STORE(self->worker->lane.top, (uintptr_t)top);
}

/* NAME_program is inlined twice: into NAME_in_lane, where the compiler keeps its task in registers, since its address
 * never leaves the function, and into NAME for where there are no lanes. Orders whose address leaves are copies, too.
 */
#define NS_TASK(RESULT, NAME, ARGUMENT, PARAMETER)                                                                  \
    typedef struct {                                                                                                \
        RESULT *result;                                                                                             \
        ARGUMENT argument;                                                                                          \
    } NAME##_order;                                                                                                 \
    static void NAME(ns_task *self, void *arguments);                                                               \
    static RESULT NAME##_in_lane(ns_worker *worker, ns_lane_slot *top, ARGUMENT argument);                          \
                                                                                                                    \
    NS_LANE_INLINE void NAME##_spawn(ns_task *self, RESULT *result, ARGUMENT argument) {                            \
        if (!self->whole && sizeof(NAME##_order) <= NS_INLINED_BYTES && ns_lane_pushes(self)) {                     \
            ns_lane_slot *slot = self->top;                                                                         \
            NAME##_order *order = (NAME##_order *)(void *)slot->arguments;                                          \
            slot->body = NAME;                                                                                      \
            order->result = result;                                                                                 \
            order->argument = argument;                                                                             \
            ns_lane_move_top(self, slot + 1);                                                                       \
        } else {                                                                                                    \
            const NAME##_order order = {result, argument};                                                          \
            if (self->whole)                                                                                        \
                ns_spawn(self->whole, NAME, &order, sizeof order);                                                  \
            else                                                                                                    \
                self->top = ns_lane_spawn(self->worker, self->mark, NAME, &order, sizeof order);                    \
        }                                                                                                           \
    }                                                                                                               \
                                                                                                                    \
    NS_LANE_INLINE RESULT NAME##_call(ns_task *self, ARGUMENT argument) {                                           \
        if (!self->whole) return NAME##_in_lane(self->worker, self->top, argument);                                 \
        RESULT result;                                                                                              \
        NAME##_order order = {&result, argument};                                                                   \
        ns_call(self->whole, NAME, &order);                                                                         \
        return result;                                                                                              \
    }                                                                                                               \
                                                                                                                    \
    NS_LANE_INLINE void NAME##_join(ns_task *self) {                                                                \
        if (self->whole) {                                                                                          \
            ns_join(self->whole);                                                                                   \
            return;                                                                                                 \
        }                                                                                                           \
        while (self->top != self->mark) {                                                                           \
            if (!ns_lane_pops(self) || NS_LANE_RARE(self->top[-1].body != NAME)) {                                  \
                ns_lane_join(self->worker, self->mark);                                                             \
                self->top = self->mark;                                                                             \
                return;                                                                                             \
            }                                                                                                       \
            ns_lane_move_top(self, self->top - 1);                                                                  \
            const NAME##_order *order = (const NAME##_order *)(void *)self->top->arguments;                         \
            RESULT *result = order->result;                                                                         \
            *result = NAME##_in_lane(self->worker, self->top, order->argument);                                     \
            self->worker->tasks++;                                                                                  \
        }                                                                                                           \
    }                                                                                                               \
                                                                                                                    \
    NS_LANE_INLINE RESULT NAME##_program(ns_task *self, ARGUMENT argument);                                         \
                                                                                                                    \
    static __attribute__((unused)) RESULT NAME##_in_lane(ns_worker *worker, ns_lane_slot *top, ARGUMENT argument) { \
        ns_task self = {worker, top, top, NULL};                                                                    \
        const RESULT result = NAME##_program(&self, argument);                                                      \
        if (NS_LANE_RARE(self.top != top)) ns_lane_join(worker, top);                                               \
        return result;                                                                                              \
    }                                                                                                               \
                                                                                                                    \
    static void NAME(ns_task *self, void *arguments) {                                                              \
        const NAME##_order *order = (const NAME##_order *)arguments;                                                \
        ns_task part = {self->worker, self->mark, self->top, self->whole};                                          \
        *order->result = self->whole ? NAME##_program(&part, order->argument)                                       \
                                     : NAME##_in_lane(self->worker, self->top, order->argument);                    \
    }                                                                                                               \
                                                                                                                    \
    NS_LANE_INLINE RESULT NAME##_program(ns_task *self, ARGUMENT PARAMETER)

#endif

#ifdef __cplusplus
}
#endif

#endif
