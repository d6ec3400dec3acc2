/* Typed tasks: NS_TASK defines a task from the type of its result, its name, and the types and names of its arguments.
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
 * `self` is the running ns_task. fib_spawn spawns a child that stores its result at `&a`, as ns_spawn does. fib_call
 * runs a task at once, as ns_call does. fib_spawn_after(self, NS_DEPEND(...), &a, n - 1) is ns_spawn_after; here the
 * address for the result may be NULL. fib_join is ns_join: it joins any children, and is fastest for children of this
 * type. `fib` itself is the ns_body of such tasks, for ns_pool_run; its arguments are a struct fib_order: {&result,
 * argument, ...}. All these functions are static. A task has at most NS_MOST_ARGUMENTS arguments, or none; more
 * arguments, and arrays, go into a struct.
 *
 * Typed tasks are faster than ns_spawn and ns_join. If the strategy's spawns push to the worker's own lane, and its
 * joins begin with pops from this lane, all calls are inline, and arguments and results stay in registers unless a task
 * is stolen. Arguments of more than NS_RESULT_BYTES bytes, laid out as a struct, are copied to separate memory. With
 * any other strategy or mode, the functions call functions of numasim/runtime.h.
 *
 * Errors are as in ns_spawn, ns_spawn_after, ns_call and ns_join. Inline calls are not checked: fib_call nests on the
 * stack as a call of C does (see `stack` in numasim/runtime.h), and fib_spawn needs an address for the result.
 *
 * A lane is a stack of tasks (Faxen, "Wool", 2008; van Dijk and van de Pol, "Lace: non-blocking split deque for
 * work-stealing", 2014; source/queues/lane.h). The slot of a task contains the arguments of the task. The children of a
 * task are the topmost tasks of the lane, and the task counts its children; so children need no pointer to their
 * parent. The worker that executes a typed task leaves the result in the slot, and the join copies the result to the
 * address given at the spawn. The address for the newest child's result is in the parent's ns_task, not in the lane. So
 * if each child is joined before the next spawn, the compiler keeps the result in a register.
 *
 * The structs below are public only for inlining: programs do not use their names. NS_TASK needs gcc or clang. */
#ifndef NUMASIM_TYPED_TASKS_H
#define NUMASIM_TYPED_TASKS_H

#include <stdint.h>

#include "numasim/tasks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_worker ns_worker;

/* A 64-bit word that the library accesses atomically. Its alignment is the alignment of arguments. */
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

/* A task in a lane. The arguments of a typed task begin with the address for the result, which only the owner reads.
 * The arguments proper begin at NS_RESULT_AT; when the body has returned, its result is at the same place. */
typedef struct {
    ns_lane_word ended; /* 0 until a thief has executed the task; then the number of bytes of the result plus one */
    ns_body *body;
    char arguments[NS_INLINED_BYTES] NS_ALIGNED;
} ns_lane_slot;

/* The `self` of a body. The fields from `first` on are used only for tasks in lanes. */
struct ns_task {
    ns_worker *worker;   /* the worker that runs the task now */
    ns_task *whole;      /* without lanes: the start of the task's record, of which this may be a copy; else NULL */
    ns_lane_slot *first; /* the slot of the first child of this task in the worker's lane */
    uint32_t children;   /* the number of children, which are in the slots from `first` on */
    uint32_t returned;   /* how many bytes of result the body has left in its arguments from NS_RESULT_AT on */
    void *result;        /* the address for the newest child's result, unless the address is in the child's slot */
    ns_body *newest;     /* the body of the newest child; NULL: the address is in the child's slot */
};

/* The part of a lane that its owner, the worker, uses: addresses of slots. A thief is another worker that steals from
 * the lane; a public task can be stolen. All zero without a lane. */
typedef struct {
    ns_lane_word top;        /* the first free slot; only the owner writes this word */
    ns_lane_word push_limit; /* from this slot on a push is slow: the lane is full, or thieves ask for tasks */
    ns_lane_word pop_limit;  /* up to this slot a pop is slow: lower tasks are public, or thieves ask for tasks */
} ns_lane_owned;

struct ns_worker {
    ns_pool *pool;
    uint32_t id;
    int32_t node; /* the node of the worker in the plan's machine */
    ns_lane_owned lane;
    int64_t tasks; /* tasks that have ended on this worker */
};

/* Functions for a worker with a lane. ns_lane_spawn spawns a task, and returns the new top. ns_lane_admit pushes the
 * task that was written at the top, and returns 0 if there is no room. ns_lane_join joins all tasks from the top down
 * to `mark`; the addresses for their results are in their slots. */
ns_lane_slot *ns_lane_spawn(ns_worker *worker, ns_body *body, const void *arguments, size_t bytes);
int ns_lane_admit(ns_worker *worker);
void ns_lane_join(ns_worker *worker, ns_lane_slot *mark);

/* Declare that the work since the last call of the library takes `picoseconds`, by the program's own model. Only serial
 * runs with model costs and NS_MODE_PACED use this time. A serial run ends with NS_ERROR_PROGRAM for less than 0 ps,
 * and for more than 2^60 ps between two calls. ns_work calls ns_work_said. */
void ns_work_said(ns_task *self, int64_t picoseconds);
static inline void ns_work(ns_task *self, int64_t picoseconds) {
    if (self->whole) ns_work_said(self->whole, picoseconds);
}

#ifdef __GNUC__

/* source/queues/lane.h explains the memory orders of these accesses. */
#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define NS_LANE_LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else /* the same instruction as the atomic load, but gcc generates better addressing for this form */
#define NS_LANE_LOAD(word) (*(const volatile ns_lane_word *)&(word))
#endif
#define NS_LANE_STORE(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define NS_LANE_RARE(condition) __builtin_expect(!!(condition), 0)
#define NS_LANE_INLINE static inline __attribute__((always_inline, unused))
#define NS_LANE_SELDOM static __attribute__((noinline, cold, unused))

/* Return the first free slot of the lane, computed from the number of children so that compilers can know it. */
NS_LANE_INLINE ns_lane_slot *ns_lane_top_of(const ns_task *self) { return self->first + self->children; }

/* Return whether the owner can push, or can pop, on the fast path. */
NS_LANE_INLINE int ns_lane_pushes(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)ns_lane_top_of(self) >= NS_LANE_LOAD(self->worker->lane.push_limit));
}
NS_LANE_INLINE int ns_lane_pops(const ns_task *self) {
    return !NS_LANE_RARE((uintptr_t)ns_lane_top_of(self) <= NS_LANE_LOAD(self->worker->lane.pop_limit));
}

/* Push or pop the task at the top, so that the task `self` has `children` children afterwards. */
NS_LANE_INLINE void ns_lane_move_top(ns_task *self, uint32_t children) {
    self->children = children;
    NS_LANE_STORE(self->worker->lane.top, (uintptr_t)ns_lane_top_of(self));
}

/* Store the address for the result of the task in `slot`. Relaxed: a thief may copy the address meanwhile, but does not
 * use it. gcc's warning is disabled, because gcc does not see that children end before their parent's locals. */
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

/* Store the address for the newest child's result in the child's slot, before a spawn or a join by the library. */
NS_LANE_INLINE void ns_lane_settle(ns_task *self) {
    if (self->children && self->newest) ns_lane_note_place(ns_lane_top_of(self) - 1, self->result);
    self->newest = NULL;
}

/* Spawn a task whose arguments do not fit a slot. */
NS_LANE_INLINE void ns_lane_spawn_elsewhere(ns_task *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_settle(self);
    self->children = (uint32_t)(ns_lane_spawn(self->worker, body, arguments, bytes) - self->first);
}

/* ---- lists of arguments ------------------------------------------------------------------------------------------ */

/* NS_EACH_<count>(DO, NAME, TYPE, PARAMETER, ...) is DO(TYPE, PARAMETER) for each of <count> arguments. */
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

/* The number of arguments, counted from the macro's arguments behind the name of a task. */
#define NS_BEHIND(A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17, A18, A19, A20, A21, \
                  A22, A23, A24, COUNT, ...)                                                                          \
    COUNT
#define NS_ARGUMENT_COUNT(...)                                                                                       \
    NS_BEHIND(__VA_ARGS__, 12, needs_a_type_and_a_name, 11, needs_a_type_and_a_name, 10, needs_a_type_and_a_name, 9, \
              needs_a_type_and_a_name, 8, needs_a_type_and_a_name, 7, needs_a_type_and_a_name, 6,                    \
              needs_a_type_and_a_name, 5, needs_a_type_and_a_name, 4, needs_a_type_and_a_name, 3,                    \
              needs_a_type_and_a_name, 2, needs_a_type_and_a_name, 1, needs_a_type_and_a_name, 0, 0)

/* Pieces of code for each argument. The prefix keeps an argument's name, which the program chooses, from clashes. */
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

/* NAME_program has the body that the user writes. The body is inlined twice: into NAME_in_lane, where the compiler
 * keeps the ns_task in registers, since its address never leaves the function; and into NAME, for runs without lanes.
 * NAME_in_slot runs NAME_in_lane for a task in a slot of a lane. `worker->tasks` is increased before the body runs, so
 * that the call of the body can be a tail call. Functions with local variables call NAME_anywhere() in place of NAME: a
 * local variable `count`, `order` or `result` would hide a task of the same name. EACH(DO, NAME, ...) applies the macro
 * DO to each argument. */
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
