/* Tasks with a type: NS_TASK defines one with its result, its name, and the types and names of its arguments.
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
 *     NS_TASK(double, dot, const double *, x, const double *, y, size_t, count) { ... }
 *     dot_spawn(self, &left, x, y, count / 2);
 *
 * `self` is the ns_task that runs. fib_spawn lets a child run and put its result there, as ns_spawn does; fib_call runs
 * one here and now, as ns_call does; fib_spawn_after(self, NS_DEPEND(...), &a, n - 1) is ns_spawn_after, where NULL is
 * no place for a result; fib_join is ns_join, best at children that are such tasks, right with any. `fib` itself is the
 * ns_body of such tasks, for ns_pool_run, whose arguments are a fib_order: {&result, argument, ...}. All of that is
 * static. There may be up to NS_MOST_ARGUMENTS arguments, or none; more, or an array, are a struct.
 *
 * It is the fast way: where a strategy makes a spawn a push to the worker's own lane and a join a series of pops from
 * it, all of this is inline, arguments and results stay in registers unless a task is stolen, and the compiler sees
 * through the recursion. Arguments of more than NS_RESULT_BYTES bytes, as a struct is laid out, are copied to memory of
 * their own. Everywhere else it is the calls of numasim/runtime.h.
 *
 * Errors are those of ns_spawn, ns_spawn_after, ns_call and ns_join, but what is inline is not checked: fib_call nests
 * on the stack as a call of C does (numasim/runtime.h says what comes of that), and fib_spawn needs a place for the
 * result.
 *
 * A lane is a stack of tasks, each in a slot with its arguments (Faxen, "Wool", 2008; van Dijk and van de Pol, "Lace:
 * non-blocking split deque for work-stealing", 2014). The children of a task are the topmost tasks, as many as it
 * counts itself: they need no pointer to their parent. Who executes a typed task leaves its result in the slot, and the
 * parent, when it joins the child, puts it where it was told at the spawn. It remembers that place of its newest child
 * by itself, not in the lane: so the address of a result that one task after the other is spawned for and joined does
 * not leave the function, and the compiler keeps it in a register. The places of older children are in their slots.
 *
 * The structs below are internal to the library (source/queues/lane.h explains the lane) and public only to be inlined:
 * programs use none by name. NS_TASK needs GNU C, as gcc and clang have it.
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
#ifdef __cplusplus
typedef bool ns_lane_flag;
#else
typedef _Bool ns_lane_flag;
#endif
#else
typedef uint64_t ns_lane_word;
#define NS_ALIGNED
#endif

enum { NS_INLINED_BYTES = 48, NS_RESULT_AT = 8, NS_RESULT_BYTES = NS_INLINED_BYTES - NS_RESULT_AT };

/* A task in a lane. The arguments of a typed one begin with the place of its result, which its owner alone reads;
 * behind that, from NS_RESULT_AT on, is its argument, and then its result. */
typedef struct {
    ns_lane_word ended; /* 0; else a thief has executed it, and it has left one byte less than this as its result */
    ns_body *body;
    char arguments[NS_INLINED_BYTES] NS_ALIGNED;
} ns_lane_slot;

/* What a body is given to call the runtime with. All behind `whole` is of tasks in lanes. */
struct ns_task {
    ns_worker *worker;   /* that runs it now */
    ns_task *whole;      /* where there is no lane: the task itself, which is more than this struct; else NULL */
    ns_lane_slot *first; /* the top of that worker's lane without its children, */
    uint32_t children;   /* which are the tasks from there on; those that have been joined count no more */
    uint32_t returned;   /* bytes that it has left behind NS_RESULT_AT of its arguments, which are its result */
    void *result;        /* the place of the newest child's result, where that is not yet in its slot, */
    ns_body *newest;     /* and its body; NULL: it is in its slot. Either counts only while there are children */
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

/* On a worker with a lane: a spawn, which returns the new top; a push of the task that has been written at the top, 0
 * where there is no room; and a join of all tasks down to `mark`, the places of whose results are in their slots. */
ns_lane_slot *ns_lane_spawn(ns_worker *worker, ns_body *body, const void *arguments, size_t bytes);
int ns_lane_admit(ns_worker *worker);
void ns_lane_join(ns_worker *worker, ns_lane_slot *mark);

/* The work since the last call into the runtime took `picoseconds` by the kernel's own model of itself. Only serial
 * runs with model costs, which have no lanes, use it; those end with NS_ERROR_PROGRAM for less than 0 ps and for more
 * than 2^60 ps between two calls. ns_work_said is what ns_work calls. */
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
#define NS_LANE_SELDOM static __attribute__((noinline, cold, unused))

/* The first free slot of the lane. It is not kept: so the compiler knows it where it knows the number of children. */
NS_LANE_INLINE ns_lane_slot *ns_lane_top_of(const ns_task *self) { return self->first + self->children; }

/* Whether the owner can push, or pop, on the fast path. */
NS_LANE_INLINE int ns_lane_pushes(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)ns_lane_top_of(self) >= NS_LANE_LOAD(self->worker->lane.push_limit));
}
NS_LANE_INLINE int ns_lane_pops(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)ns_lane_top_of(self) <= NS_LANE_LOAD(self->worker->lane.pop_limit));
}

/* The task at the top is pushed, or popped: there are so many children now. */
NS_LANE_INLINE void ns_lane_move_top(ns_task *self, uint32_t children) {
    self->children = children;
    NS_LANE_STORE(self->worker->lane.top, (uintptr_t)ns_lane_top_of(self));
}

/* The place of the result of the task in `slot`. Relaxed: a thief may copy the word meanwhile, but not use it. That
 * bodies whose results are local have joined their children when they end is more than gcc sees. */
#if !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
NS_LANE_INLINE void ns_lane_note_place(ns_lane_slot *slot, void *result) {
    NS_LANE_STORE(*(ns_lane_word *)(void *)slot->arguments, (uintptr_t)result);
}
#if !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif

/* The newest child is about to be the newest no more, or to be joined by the library. */
NS_LANE_INLINE void ns_lane_settle(ns_task *self) {
    if (self->children && self->newest) ns_lane_note_place(ns_lane_top_of(self) - 1, self->result);
    self->newest = NULL;
}

/* A spawn of what does not fit a slot. */
NS_LANE_INLINE void ns_lane_spawn_elsewhere(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_settle(self);
    self->children = (uint32_t)(ns_lane_spawn(self->worker, body, arguments, bytes) - self->first);
}

/* ---- lists of arguments ------------------------------------------------------------------------------------------ */

/* NS_EACH_<count>(DO, NAME, TYPE, PARAMETER, ...) is DO(TYPE, PARAMETER) for each of so many arguments. */
enum { NS_MOST_ARGUMENTS = 12 };
#define NS_EACH_0(DO, NAME)
#define NS_EACH_1(DO, NAME, TYPE, PARAMETER) DO(TYPE, PARAMETER)
#define NS_EACH_2(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_1(DO, NAME, __VA_ARGS__)
#define NS_EACH_3(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_2(DO, NAME, __VA_ARGS__)
#define NS_EACH_4(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_3(DO, NAME, __VA_ARGS__)
#define NS_EACH_5(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_4(DO, NAME, __VA_ARGS__)
#define NS_EACH_6(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_5(DO, NAME, __VA_ARGS__)
#define NS_EACH_7(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_6(DO, NAME, __VA_ARGS__)
#define NS_EACH_8(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_7(DO, NAME, __VA_ARGS__)
#define NS_EACH_9(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_8(DO, NAME, __VA_ARGS__)
#define NS_EACH_10(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_9(DO, NAME, __VA_ARGS__)
#define NS_EACH_11(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_10(DO, NAME, __VA_ARGS__)
#define NS_EACH_12(DO, NAME, TYPE, PARAMETER, ...) DO(TYPE, PARAMETER) NS_EACH_11(DO, NAME, __VA_ARGS__)

/* How many arguments there are behind the name of a task. */
#define NS_BEHIND(A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A20, A21, \
                  A22, A23, A24, COUNT, ...)                                                                          \
    COUNT
#define NS_ARGUMENT_COUNT(...)                                                                                       \
    NS_BEHIND(__VA_ARGS__, 12, needs_a_type_and_a_name, 11, needs_a_type_and_a_name, 10, needs_a_type_and_a_name, 9, \
              needs_a_type_and_a_name, 8, needs_a_type_and_a_name, 7, needs_a_type_and_a_name, 6,                    \
              needs_a_type_and_a_name, 5, needs_a_type_and_a_name, 4, needs_a_type_and_a_name, 3,                    \
              needs_a_type_and_a_name, 2, needs_a_type_and_a_name, 1, needs_a_type_and_a_name, 0, 0)

/* What may stand for an argument: it has another name than the program gives it, whose names may be any. */
#define NS_FIELD(TYPE, PARAMETER) TYPE argument_##PARAMETER;
#define NS_PARAMETER(TYPE, PARAMETER) , TYPE argument_##PARAMETER
#define NS_PASSED(TYPE, PARAMETER) , argument_##PARAMETER
#define NS_OF_ORDER(TYPE, PARAMETER) , order->argument_##PARAMETER
#define NS_WRITTEN(TYPE, PARAMETER) order->argument_##PARAMETER = argument_##PARAMETER;
#define NS_NAMED(TYPE, PARAMETER) , TYPE PARAMETER

#define NS_PASTED(FIRST, SECOND) FIRST##SECOND
#define NS_JOINED(FIRST, SECOND) NS_PASTED(FIRST, SECOND)
#define NS_FIRST(FIRST, ...) FIRST
#define NS_TASK(RESULT, ...) NS_TASK_OF(NS_JOINED(NS_EACH_, NS_ARGUMENT_COUNT(__VA_ARGS__)), RESULT, __VA_ARGS__)
#define NS_TASK_OF(EACH, RESULT, ...) NS_NAMED_TASK(EACH, RESULT, NS_FIRST(__VA_ARGS__, 0), __VA_ARGS__)
#define NS_NAMED_TASK(EACH, RESULT, NAME, ...) NS_DEFINE_TASK(EACH, RESULT, NAME, __VA_ARGS__)

/* ---- NS_TASK ----------------------------------------------------------------------------------------------------- */

/* NAME_program is inlined twice: into NAME_in_lane, where the compiler keeps its task in registers, since its address
 * never leaves the function, and into NAME for where there are no lanes. Orders whose address leaves are copies, too.
 * NAME_in_slot is the body of a task in a lane. Tasks are counted before they run, so that nothing follows the call.
 * A function that has names of its own says NAME_anywhere(), since a task may be called `count`, `order` or `result`,
 * too. EACH goes through the list of arguments, which begins with NAME.
 */
#define NS_DEFINE_TASK(EACH, RESULT, NAME, ...)                                                                        \
    typedef struct {                                                                                                   \
        RESULT *result;                                                                                                \
        EACH(NS_FIELD, __VA_ARGS__)                                                                                    \
    } NAME##_order;                                                                                                    \
    enum { NAME##_fits = sizeof(NAME##_order) <= NS_INLINED_BYTES && sizeof(RESULT) <= NS_RESULT_BYTES };              \
    static void NAME(ns_task *self, void *arguments);                                                                  \
    NS_LANE_INLINE ns_body *NAME##_anywhere(void) { return NAME; }                                                     \
    static void NAME##_in_slot(ns_task *self, void *arguments);                                                        \
    static RESULT NAME##_in_lane(ns_worker *worker, ns_lane_slot *first EACH(NS_PARAMETER, __VA_ARGS__));              \
                                                                                                                       \
    typedef struct {                                                                                                   \
        RESULT result;                                                                                                 \
        ns_lane_flag is_pushed;                                                                                        \
    } NAME##_pushed;                                                                                                   \
    NS_LANE_SELDOM NAME##_pushed NAME##_push_slowly(ns_worker *worker, ns_lane_slot *slot) {                           \
        NAME##_pushed done;                                                                                            \
        __builtin_memset(&done, 0, sizeof done);                                                                       \
        done.is_pushed = ns_lane_admit(worker);                                                                        \
        if (done.is_pushed) return done;                                                                               \
        const NAME##_order *order = (const NAME##_order *)(void *)slot->arguments;                                     \
        (void)order;                                                                                                   \
        worker->tasks++;                                                                                               \
        done.result = NAME##_in_lane(worker, slot EACH(NS_OF_ORDER, __VA_ARGS__));                                     \
        return done;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_SELDOM RESULT NAME##_join_slowly(ns_worker *worker, ns_lane_slot *slot) {                                  \
        RESULT result;                                                                                                 \
        ns_lane_note_place(slot, &result);                                                                             \
        ns_lane_join(worker, slot);                                                                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE void NAME##_spawn(ns_task *self, RESULT *result EACH(NS_PARAMETER, __VA_ARGS__)) {                  \
        if (self->whole || !NAME##_fits) {                                                                             \
            const NAME##_order order = {result EACH(NS_PASSED, __VA_ARGS__)};                                          \
            if (self->whole)                                                                                           \
                ns_spawn(self->whole, NAME##_anywhere(), &order, sizeof order);                                        \
            else                                                                                                       \
                ns_lane_spawn_elsewhere(self, NAME##_anywhere(), &order, sizeof order);                                \
            return;                                                                                                    \
        }                                                                                                              \
        ns_lane_settle(self);                                                                                          \
        ns_lane_slot *slot = ns_lane_top_of(self);                                                                     \
        slot->body = NAME##_in_slot;                                                                                   \
        NAME##_order *order = (NAME##_order *)(void *)slot->arguments;                                                 \
        (void)order;                                                                                                   \
        EACH(NS_WRITTEN, __VA_ARGS__)                                                                                  \
        self->result = result;                                                                                         \
        if (ns_lane_pushes(self)) {                                                                                    \
            ns_lane_move_top(self, self->children + 1);                                                                \
            self->newest = NAME##_in_slot;                                                                             \
        } else {                                                                                                       \
            const NAME##_pushed done = NAME##_push_slowly(self->worker, slot);                                         \
            *result = done.result;                                                                                     \
            self->newest = done.is_pushed || !self->children ? NAME##_in_slot : NULL;                                  \
            self->children += done.is_pushed;                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE void NAME##_spawn_after(ns_task *self, const ns_dependence *dependences, uint32_t count,            \
                                           RESULT *result EACH(NS_PARAMETER, __VA_ARGS__)) {                           \
        const NAME##_order order = {result EACH(NS_PASSED, __VA_ARGS__)};                                              \
        ns_spawn_after(self, NAME##_anywhere(), &order, sizeof order, dependences, count);                             \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE RESULT NAME##_call(ns_task *self EACH(NS_PARAMETER, __VA_ARGS__)) {                                 \
        if (!self->whole) return NAME##_in_lane(self->worker, ns_lane_top_of(self) EACH(NS_PASSED, __VA_ARGS__));      \
        RESULT result;                                                                                                 \
        NAME##_order order = {&result EACH(NS_PASSED, __VA_ARGS__)};                                                   \
        ns_call(self->whole, NAME##_anywhere(), &order);                                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE void NAME##_join(ns_task *self) {                                                                   \
        if (self->whole) {                                                                                             \
            ns_join(self->whole);                                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        if (self->children && self->newest == NAME##_in_slot) {                                                        \
            RESULT *result = (RESULT *)self->result;                                                                   \
            ns_lane_slot *slot = ns_lane_top_of(self) - 1;                                                             \
            self->newest = NULL;                                                                                       \
            if (ns_lane_pops(self)) {                                                                                  \
                ns_lane_move_top(self, self->children - 1);                                                            \
                self->worker->tasks++;                                                                                 \
                const NAME##_order *order = (const NAME##_order *)(void *)slot->arguments;                             \
                (void)order;                                                                                           \
                *result = NAME##_in_lane(self->worker, slot EACH(NS_OF_ORDER, __VA_ARGS__));                           \
            } else {                                                                                                   \
                self->children--;                                                                                      \
                *result = NAME##_join_slowly(self->worker, slot);                                                      \
            }                                                                                                          \
        }                                                                                                              \
        while (self->children) {                                                                                       \
            ns_lane_slot *slot = ns_lane_top_of(self) - 1;                                                             \
            if (!ns_lane_pops(self) || NS_LANE_RARE(slot->body != NAME##_in_slot)) {                                   \
                ns_lane_settle(self);                                                                                  \
                self->children = 0;                                                                                    \
                ns_lane_join(self->worker, self->first);                                                               \
                return;                                                                                                \
            }                                                                                                          \
            ns_lane_move_top(self, self->children - 1);                                                                \
            const NAME##_order *order = (const NAME##_order *)(void *)slot->arguments;                                 \
            RESULT *result = order->result;                                                                            \
            self->worker->tasks++;                                                                                     \
            *result = NAME##_in_lane(self->worker, slot EACH(NS_OF_ORDER, __VA_ARGS__));                               \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE RESULT NAME##_program(ns_task *self EACH(NS_PARAMETER, __VA_ARGS__));                               \
                                                                                                                       \
    static __attribute__((unused)) RESULT NAME##_in_lane(ns_worker *worker,                                            \
                                                         ns_lane_slot *first EACH(NS_PARAMETER, __VA_ARGS__)) {        \
        ns_task self = {worker, NULL, first, 0, 0, NULL, NAME##_in_slot};                                              \
        const RESULT result = NAME##_program(&self EACH(NS_PASSED, __VA_ARGS__));                                      \
        if (NS_LANE_RARE(self.children)) {                                                                             \
            ns_lane_settle(&self);                                                                                     \
            ns_lane_join(worker, first);                                                                               \
        }                                                                                                              \
        return result;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_in_slot(ns_task *self, void *arguments) {                                                       \
        const NAME##_order *order = (const NAME##_order *)arguments;                                                   \
        (void)order;                                                                                                   \
        const RESULT result = NAME##_in_lane(self->worker, ns_lane_top_of(self) EACH(NS_OF_ORDER, __VA_ARGS__));       \
        self->returned = NAME##_fits ? sizeof result : 0;                                                              \
        __builtin_memcpy((char *)arguments + NS_RESULT_AT, &result, self->returned);                                   \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME(ns_task *self, void *arguments) {                                                                 \
        const NAME##_order *order = (const NAME##_order *)arguments;                                                   \
        ns_task part = {self->worker, self->whole, NULL, 0, 0, NULL, NULL};                                            \
        const RESULT result = self->whole                                                                              \
                                  ? NAME##_program(&part EACH(NS_OF_ORDER, __VA_ARGS__))                               \
                                  : NAME##_in_lane(self->worker, ns_lane_top_of(self) EACH(NS_OF_ORDER, __VA_ARGS__)); \
        if (order->result) *order->result = result;                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    NS_LANE_INLINE RESULT NAME##_program(ns_task *self EACH(NS_NAMED, __VA_ARGS__))

#endif

#ifdef __cplusplus
}
#endif

#endif
