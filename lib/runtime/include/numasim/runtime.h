/* numasim's task runtime: tasks, pools of workers, objects in memory and synchronisation objects.
 *
 * A program is a body that spawns children and joins them. A pool runs it on real threads, on real threads that pretend
 * to be another machine, in virtual time on one thread, or serially; what it does with tasks is decided by the tables
 * of a compiled strategy (`numasim strategy compile`), the same ones that numasim's simulator interprets.
 *
 *     static void fib(ns_task *self, void *arguments) {
 *         struct fib *f = arguments;
 *         if (f->n < 2) { *f->result = f->n; return; }
 *         uint64_t a, b;
 *         ns_spawn(self, fib, &(struct fib){f->n - 1, &a}, sizeof(struct fib));
 *         ns_spawn(self, fib, &(struct fib){f->n - 2, &b}, sizeof(struct fib));
 *         ns_join(self);
 *         *f->result = a + b;
 *     }
 *
 * numasim/typed_tasks.h writes the same shorter, and faster.
 *
 * Errors. Functions that can fail return 0 or a negative error code, and `ns_error_sentence` has a sentence for each.
 * Functions of a task that return nothing do nothing where they are called wrongly, and the run ends with
 * NS_ERROR_PROGRAM: ns_pool_run returns that code, and ns_pool_problem is the sentence, with the number or the name
 * that was wrong. Run serially and in virtual time, the run ends at the call, which does not return. On threads the
 * call returns, and the run ends when its tasks have ended. A pool of threads or of virtual time whose run has ended
 * with an error gives the same error for every later run; it is to be destroyed.
 *
 * Undefined. The library checks everything that a check costs little for. This is not checked:
 *   self   A function of a task is called with the `self` of the body that calls, by the thread that runs this body,
 *          before the body returns. Anything else is undefined: another thread's `self`, that of a body that has
 *          returned, null. Reason: spawns and joins are a few instructions, and a check of the thread would take more.
 *   fork   In a process that a task has forked, no function of a task may be called. Reason: the same, and the threads
 *          that could run its children are those of the other process. Functions of pools refuse there
 *          (NS_ERROR_CALLER), and locks of numasim/locks.h that no thread held are copies that work.
 *   freed  A pool, a lock, a condition, a barrier or memory that was destroyed may not be used. Reason: it is no memory
 *          of the library any more, as after free().
 *   waits  On threads a wait that no task ever ends lasts for ever: a lock whose holder has ended, or waits for the
 * waiting task, a condition that nobody signals, a barrier at which too few arrive. Reason: as long as any task
 * computes, it may end the wait, and to count those that wait would cost every wait. Run serially or in virtual time,
 * such a program ends with NS_ERROR_DEADLOCK. A task that takes a lock twice, and a barrier for more parties than there
 * are workers, end with it in every mode. stack  Calls of C, and NAME_call and NAME_join of typed tasks in lanes, nest
 * on the stack of the thread without a check. Where this stack overflows, a sentence is written to the standard error,
 * and SIGSEGV ends the process, unless the program has a handler of its own for this signal. Everything else that nests
 * is checked: the run ends with NS_ERROR_MEMORY when less than 32 KiB of stack are left for a body.
 */
#ifndef NUMASIM_RUNTIME_H
#define NUMASIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numasim/tasks.h"
#include "numasim/typed_tasks.h" /* NS_TASK: spawns and joins of tasks with a type, inline */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ------------------------------------------------------------------------------------------------------ */

enum ns_error {
    NS_OK = 0,
    NS_ERROR_MEMORY = -1,
    NS_ERROR_FILE = -2,        /* a file cannot be read or written */
    NS_ERROR_FORMAT = -3,      /* a file is damaged, or of another version */
    NS_ERROR_FIELD = -4,       /* a plan lacks a field, or has one out of bounds */
    NS_ERROR_PROGRAM = -5,     /* a task calls what it must not, or the plan was made for another program */
    NS_ERROR_DEADLOCK = -6,    /* tasks are left that nobody can ever run */
    NS_ERROR_THREAD = -7,      /* a thread cannot be made or pinned */
    NS_ERROR_OPTION = -8,      /* an option or an argument has a value that it cannot have, such as null */
    NS_ERROR_UNSUPPORTED = -9, /* this build, machine or mode cannot do that */
    NS_ERROR_CALLER = -10      /* the pool is in use, or its threads are those of the process that forked this one */
};

/* One sentence about an error code, also about one that there is not; never NULL. */
const char *ns_error_sentence(int error);

/* ---- tasks: see also numasim/tasks.h ----------------------------------------------------------------------------- */

/* Run body(self, arguments, first, last) over pieces of [begin, end) of at most `grain` indices, in parallel; returns
 * when all are done, and when all children that `self` has spawned before have ended. The pieces are made by halving. A
 * grain below 1 is 1; where `end` is not above `begin` nothing is called. A null body ends the run: NS_ERROR_PROGRAM.
 */
typedef void ns_loop_body(ns_task *self, void *arguments, int64_t first, int64_t last);
void ns_parallel_for(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_loop_body *body, void *arguments);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The result is the same on every run, whatever runs it on however many workers.
 *
 * Values of `bytes` bytes, which lie as memory of malloc does, are combined in pairs of neighbours, of which the left
 * one comes first: combine(value, next) makes `value` what both are together. It need not be commutative, nor, as with
 * floating-point numbers, quite associative: which pairs there are depends on the range and the grain, or on the order
 * of spawns, alone.
 */
typedef void ns_combine(void *value, const void *next);

/* Put the value of the indices from `first` to before `last`, of which there is at least one, to `value`. */
typedef void ns_reduce_body(ns_task *self, void *arguments, int64_t first, int64_t last, void *value);

/* Combine what is at `value` with the values of all pieces of [begin, end) of at most `grain` indices, which run in
 * parallel. The pieces are made by halving, and combined as they were made. 0; or when nothing has been called,
 * NS_ERROR_OPTION for a null body, combine or value, NS_ERROR_MEMORY where the values do not fit the memory. */
int ns_parallel_reduce(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_reduce_body *body,
                       ns_combine *combine, void *arguments, void *value, size_t bytes);

/* A reduction over children: set the first three and leave the rest zero. */
typedef struct {
    void *value; /* begins as what the terms are combined with, and becomes the result */
    size_t bytes;
    ns_combine *combine;
    struct ns_terms *first, *newest; /* internal to the library */
} ns_reduction;

/* Put what this child contributes to `term`, which is zero before. */
typedef void ns_term_body(ns_task *self, void *arguments, void *term);

/* Spawn a child that contributes a term: 0; or when it was not spawned, NS_ERROR_OPTION for a null reduction, value,
 * combine or body and for null arguments of some bytes, NS_ERROR_MEMORY where memory is short. */
int ns_reduce_spawn(ns_task *self, ns_reduction *reduction, ns_term_body *body, const void *arguments, size_t bytes);

/* Join all children, and combine the value with the terms, one after the other as they were spawned. 0, or
 * NS_ERROR_OPTION for a null reduction, value or combine, when nothing has been joined. */
int ns_reduce_join(ns_task *self, ns_reduction *reduction);

/* ---- futures ----------------------------------------------------------------------------------------------------- */

/* A child whose end can be awaited by itself. `bytes` of `arguments` are copied. */
typedef struct {
    ns_task *task;
    uint32_t done; /* atomic */
} ns_future;

/* Spawn the child of a future. NS_ERROR_PROGRAM ends the run for a null future or body and for arguments as in
 * ns_spawn; the future is then one that was not spawned. */
void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes);

/* Wait until the child of a future has ended; once it has, this returns at once. NS_ERROR_PROGRAM ends the run for a
 * null future and for one of all zero, which was not spawned. */
void ns_future_get(ns_task *self, ns_future *future);

/* The worker that runs `self` now, the number of workers, and the NUMA node of that worker (in the plan's machine).
 * They cannot fail. */
uint32_t ns_task_worker(const ns_task *self);
uint32_t ns_task_workers(const ns_task *self);
uint32_t ns_task_node(const ns_task *self);

/* ---- objects (thesis chapter 5) ---------------------------------------------------------------------------------- */

enum ns_access_mode { NS_READ = 1, NS_WRITE = 2, NS_READ_WRITE = 3 };
enum ns_access_pattern { NS_SEQUENTIAL, NS_STRIDED, NS_RANDOM, NS_CHASE };

/* `rows` pieces of `row_bytes` bytes, `stride` bytes apart, from `offset` of an object on; walked `passes` times. */
struct ns_access {
    uint32_t object;
    uint32_t passes;
    int64_t offset, row_bytes, rows, stride;
    uint8_t mode, pattern;
};

/* Register memory that tasks share; its id, ascending from 0. The first 31 bytes of `name` are kept. NS_ERROR_OPTION
 * for a null pool or name, a null address of some bytes, and a negative number of bytes; NS_ERROR_CALLER while the pool
 * runs; NS_ERROR_MEMORY. */
int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes);

/* `ns_spawn`, saying what the first segment of the child accesses: dispatch by data goes by this. NS_ERROR_PROGRAM ends
 * the run as in ns_spawn, for null accesses, and for accesses that ns_access_declare refuses. */
void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count);

/* The segment under way accesses this, beside what was said when its task was spawned. NS_ERROR_PROGRAM ends the run
 * for null, an object that is not registered, a mode or a pattern that there is not, no passes, rows that are not
 * within their object, and more than 2^38 bytes walked in all. */
void ns_access_declare(ns_task *self, const ns_access *access);

/* ---- synchronisation objects, called words here: locks, atomic counters, conditions, barriers (thesis section 6.3) */

enum ns_word_role { NS_WORD_LOCK, NS_WORD_ATOMIC, NS_WORD_CONDITION, NS_WORD_BARRIER };

/* A word kept for worker `owner` (modulo the workers); `parties` arrive at a barrier before it opens, or are let pass
 * by a broadcast: at least one. Its id, ascending from 0. Of which kind locks and barriers are, and where words live,
 * is the plan's. A condition stands for a condition variable with what its waiters wait for: no signal is lost. The
 * first 31 bytes of `name` are kept. NS_ERROR_OPTION for a null pool or name, a role that there is not, and a barrier
 * or a condition of no parties; NS_ERROR_CALLER while the pool runs; NS_ERROR_MEMORY. */
int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties);

/* NS_ERROR_PROGRAM ends the run for a word that has not been created, or that has another role than the function is
 * for; for a lock that `self` does not hold and lets go of, be it free or another task's; and for a task that ends and
 * holds a lock. A lock is held by the body that takes it: one that this body runs by ns_call does not hold it.
 * NS_ERROR_DEADLOCK ends the run where `self` takes a lock that it holds, and where it arrives at a barrier for more
 * parties than there are workers. ns_word_add returns 0 where it is called wrongly on threads. */
void ns_word_lock(ns_task *self, uint32_t word);
void ns_word_unlock(ns_task *self, uint32_t word);
int64_t ns_word_add(ns_task *self, uint32_t word, int64_t value); /* atomic; the value before */
void ns_word_arrive(ns_task *self, uint32_t word);                /* wait at a barrier */
void ns_word_await(ns_task *self, uint32_t word);                 /* wait for a condition */
void ns_word_signal(ns_task *self, uint32_t word);                /* let one waiter pass */
void ns_word_broadcast(ns_task *self, uint32_t word);             /* let as many pass as it has parties */

/* ---- pools ------------------------------------------------------------------------------------------------------- */

enum ns_mode {
    NS_MODE_SERIAL,   /* on the calling thread, depth first; records the task graph */
    NS_MODE_NATIVE,   /* threads, pinned, on the machine as it is: see below */
    NS_MODE_EMULATED, /* threads on virtual nodes: remote steps pay the difference of latencies by spinning; memory is
                         on the node that touched it first, whatever the plan's placement */
    NS_MODE_VIRTUAL /* on one thread, by the clocks of the simulator's engine, which is a library of its own: a program
                       that is linked without it gets NS_ERROR_UNSUPPORTED */
};

/* Native workers are pinned to the hardware threads that the plan has for them, counted among those that the process
 * may use as machines of plans count them: the first ones of all cores node by node, then the second ones. Where some
 * of these do not exist, and without a plan, worker i is pinned to the i-th; workers that are more than the hardware
 * threads are not pinned. */

/* What advances a virtual clock, and what a recorded segment takes. */
enum ns_costs { NS_COSTS_MODEL, NS_COSTS_MEASURED };

/* When the tasks that are spawned begin, run serially. By caches, what a program takes depends on it. Tasks with a
 * future begin where they are spawned, in every order. */
enum ns_order {
    NS_ORDER_SPAWNED, /* where they are spawned */
    NS_ORDER_NEWEST,  /* when their parent joins, newest first, as a worker alone takes them from its deque */
    NS_ORDER_STOLEN   /* the same, but the children of the root oldest first, as a thief takes them from the worker's */
};

/* What the task graph of a plan has to do with the program: as far as the strategy asks, it is that which was recorded
 * of the program; or the program itself; or nothing. */
enum ns_graph_use { NS_GRAPH_RECORDED, NS_GRAPH_IS_PROGRAM, NS_GRAPH_IGNORED };

typedef struct {
    enum ns_mode mode;
    uint32_t workers;    /* 0: as many as the plan is for, or else as many as there are hardware threads */
    const char *plan;    /* a compiled plan; NULL: random victims, steal one, help while joining */
    enum ns_costs costs; /* of NS_MODE_SERIAL and NS_MODE_VIRTUAL */
    uint64_t seed;       /* of victim draws; 0: that of the plan's file */
    const char *record;  /* NS_MODE_SERIAL: write the task graph there; NULL: do not */
    enum ns_order order; /* NS_MODE_SERIAL; with `record`, NS_ORDER_SPAWNED */
    /* of a plan whose strategy has a controller: files or pipes, from which what it decides is read before each
     * iteration, and to which what was measured of the last one is written (NULL: it is not) */
    const char *controls, *measures;
    enum ns_graph_use graph; /* internal to the library */
} ns_pool_options;

/* On errors `*pool` is NULL, or a pool that can say what the problem is and has to be destroyed; runs of it fail with
 * the same error. NS_ERROR_OPTION for null, for an option with a value that there is not, for more than 2^20 workers,
 * for `record` and `order` in other modes than the serial one, and for a mode that needs a plan without one;
 * NS_ERROR_FILE, NS_ERROR_FORMAT and NS_ERROR_FIELD of the plan; NS_ERROR_UNSUPPORTED where threads cannot do what it
 * says; NS_ERROR_MEMORY and NS_ERROR_THREAD. A pool may be created by any thread, in a task of another pool, and in a
 * process that was forked. */
int ns_pool_create(ns_pool **pool, const ns_pool_options *options);

/* The functions below are called by one thread at a time, which may be any; the others get NS_ERROR_CALLER at once, as
 * do tasks of the pool itself. A pool of threads cannot run in a process that was forked, but be destroyed there: its
 * memory is freed, and the threads of the other process are left alone. Pools of the other modes are copies that run.
 */

/* 0, also for a null pool; NS_ERROR_CALLER, when nothing has been destroyed, while the pool is in use. */
int ns_pool_destroy(ns_pool *pool);

/* Run `body` as a task of worker 0, and return when it and all that it spawned have ended. NS_ERROR_OPTION for a null
 * pool or body, for null arguments of some bytes and for more bytes than there can be; NS_ERROR_CALLER: see above;
 * NS_ERROR_PROGRAM, NS_ERROR_DEADLOCK and NS_ERROR_MEMORY of the tasks; NS_ERROR_UNSUPPORTED for what a recorded graph
 * or the plan's cannot say; NS_ERROR_FILE where the graph cannot be written. */
int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* Run `body` once on every worker, as the parallel regions of OpenMP do, and return when all have ended. Errors are
 * those of ns_pool_run. */
int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* What went wrong last, with its place; for the user. Never NULL: empty where nothing did, and the sentence of
 * NS_ERROR_CALLER while the pool is in use. */
const char *ns_pool_problem(const ns_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
