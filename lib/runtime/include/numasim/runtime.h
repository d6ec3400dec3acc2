/* numasim's task runtime: tasks, pools of workers, objects in memory and synchronisation objects.
 *
 * A program is a body that spawns children and joins them. A pool runs the program in one of the modes of enum ns_mode.
 * A plan, the compiled strategy that `numasim strategy compile` writes, decides where tasks run; numasim's simulator
 * interprets the same strategy. A segment is the work of a task between two calls of the library.
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
 * numasim/typed_tasks.h has a shorter and faster form of this program.
 *
 * Errors. Functions that can fail return 0 or a negative error code; `ns_error_sentence` returns a sentence for each
 * code. A function of a task without a result does nothing if the call is wrong, and the run ends with
 * NS_ERROR_PROGRAM: ns_pool_run returns this code, and ns_pool_problem returns the sentence, with the wrong number or
 * name. In serial mode and in virtual time the run ends at the wrong call, which does not return. On threads the call
 * returns, and the run ends when all tasks have ended. After a run with an error, a pool of threads or of virtual time
 * returns the same error for every later run, and can only be destroyed.
 *
 * Undefined. The library makes all checks that take little time. The library does not check these rules:
 *
 * - self: A body passes its own `self` to the functions of a task, on the thread that runs the body, before the body
 *   returns. Any other `self` is undefined: the `self` of another thread, the `self` of a body that has returned, null.
 *   Reason: spawns and joins are a few instructions, and a check of the thread would take more.
 * - fork: In a process that a task has forked, no function of a task may be called. Reason: a check would slow down
 *   spawns and joins, and the threads that could run children are in the parent process. Functions of pools return
 *   NS_ERROR_CALLER there. A lock of numasim/locks.h that no thread held is a working copy.
 * - freed: A destroyed pool, lock, condition or barrier and released memory may not be used. Reason: the library has
 *   freed the memory, as free() does.
 * - waits: On threads, a wait that no task ends lasts for ever: for a lock whose holder has ended, or whose holder
 *   waits for the waiting task; for a condition without a signal; at a barrier with too few arrivals. Reason: any
 *   running task may end the wait, and counting the waiting tasks would slow down every wait. In serial mode and in
 *   virtual time such a program ends with NS_ERROR_DEADLOCK. In every mode, NS_ERROR_DEADLOCK ends a run in which a
 *   task takes a lock twice, or a task comes to a barrier for more parties than there are workers.
 * - stack: Plain calls of C, and inline calls of NAME_call and NAME_join (numasim/typed_tasks.h), nest on the stack of
 *   the thread without a check. If this stack overflows, a sentence is written to the standard error, and SIGSEGV ends
 *   the process, unless the program handles this signal. All other nesting of tasks is checked: the run ends with
 *   NS_ERROR_MEMORY if less than 32 KiB of stack are left for a body. */
#ifndef NUMASIM_RUNTIME_H
#define NUMASIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numasim/tasks.h"
#include "numasim/typed_tasks.h" /* NS_TASK: inline spawns and joins of typed tasks */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors ------------------------------------------------------------------------------------------------------ */

enum ns_error {
    NS_OK = 0,
    NS_ERROR_MEMORY = -1,
    NS_ERROR_FILE = -2,        /* a file cannot be read or written */
    NS_ERROR_FORMAT = -3,      /* a file is damaged, or of another version */
    NS_ERROR_FIELD = -4,       /* a plan lacks a field, or has a field out of bounds */
    NS_ERROR_PROGRAM = -5,     /* a task makes a wrong call, or the plan was made for another program */
    NS_ERROR_DEADLOCK = -6,    /* tasks are left that no worker can ever run */
    NS_ERROR_THREAD = -7,      /* a thread cannot be made or pinned */
    NS_ERROR_OPTION = -8,      /* an option or an argument has an impossible value, such as null */
    NS_ERROR_UNSUPPORTED = -9, /* the request is not possible in this build, on this machine, or in this mode */
    NS_ERROR_CALLER = -10      /* the pool is in use, or its threads are in the process that forked this process */
};

/* Return one sentence about an error code, also for an unknown code. The result is never NULL. */
const char *ns_error_sentence(int error);

/* ---- tasks: see also numasim/tasks.h ----------------------------------------------------------------------------- */

/* Run body(self, arguments, first, last) in parallel over pieces of [begin, end), each of at most `grain` indices. The
 * function returns when all pieces, and all children that `self` spawned before, have ended. The pieces are made by
 * halving the range. A grain below 1 counts as 1. If `end` is not above `begin`, the body is not called. A null body
 * ends the run with NS_ERROR_PROGRAM. */
typedef void ns_loop_body(ns_task *self, void *arguments, int64_t first, int64_t last);
void ns_parallel_for(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_loop_body *body, void *arguments);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The result of a reduction is the same on every run, in any mode and on any number of workers.
 *
 * Values have `bytes` bytes, aligned as by malloc, and are combined in pairs of neighbours: combine(value, next) sets
 * `value`, the left neighbour, to the combination of both. combine() need not be commutative, nor exactly associative
 * (floating-point addition is allowed). The pairs depend only on range and grain, or on the order of spawns. */
typedef void ns_combine(void *value, const void *next);

/* Set `value` to the combined value of the indices in [first, last). The range has at least one index. */
typedef void ns_reduce_body(ns_task *self, void *arguments, int64_t first, int64_t last, void *value);

/* Combine `value` with the values of all pieces of [begin, end), each of at most `grain` indices. The pieces run in
 * parallel. The range is halved into pieces. The values of the two halves of a range are combined into the value of the
 * range. Return 0; or, without calling the body, NS_ERROR_OPTION for a null body, combine or value, and NS_ERROR_MEMORY
 * if memory is short. */
int ns_parallel_reduce(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_reduce_body *body,
                       ns_combine *combine, void *arguments, void *value, size_t bytes);

/* A reduction over children. The program sets the first three fields, and leaves `first` and `newest` zero. */
typedef struct {
    void *value; /* the initial value, and then the result */
    size_t bytes;
    ns_combine *combine;
    struct ns_terms *first, *newest; /* internal to the library */
} ns_reduction;

/* Set `term`, which is zero before the call, to the contribution of this child. */
typedef void ns_term_body(ns_task *self, void *arguments, void *term);

/* Spawn a child that contributes a term. Return 0; or, without a spawn, NS_ERROR_OPTION for a null reduction, value,
 * combine or body and for null arguments with `bytes` above 0, and NS_ERROR_MEMORY if memory is short. */
int ns_reduce_spawn(ns_task *self, ns_reduction *reduction, ns_term_body *body, const void *arguments, size_t bytes);

/* Join all children, and combine the value with the terms, in the order of the spawns. Return 0; or, without a join,
 * NS_ERROR_OPTION for a null reduction, value or combine. */
int ns_reduce_join(ns_task *self, ns_reduction *reduction);

/* ---- futures ----------------------------------------------------------------------------------------------------- */

/* A future: a single child that can be awaited. The fields are internal to the library. */
typedef struct {
    ns_task *task;
    uint32_t done;
} ns_future;

/* Spawn the child of a future, with a copy of the `bytes` bytes at `arguments`. NS_ERROR_PROGRAM ends the run for a
 * null future, for a null body, and for the arguments that ns_spawn refuses. The future then has no child. */
void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes);

/* Wait until the child of a future has ended. NS_ERROR_PROGRAM ends the run for a null future, and for a future that is
 * all zero, since it has no child. */
void ns_future_get(ns_task *self, ns_future *future);

/* Return the number of the worker that runs `self` now; the number of workers; and the NUMA node, in the plan's
 * machine, of the worker that runs `self` now. These functions cannot fail. */
uint32_t ns_task_worker(const ns_task *self);
uint32_t ns_task_workers(const ns_task *self);
uint32_t ns_task_node(const ns_task *self);

/* ---- objects (thesis chapter 5) ---------------------------------------------------------------------------------- */

enum ns_access_mode { NS_READ = 1, NS_WRITE = 2, NS_READ_WRITE = 3 };
enum ns_access_pattern { NS_SEQUENTIAL, NS_STRIDED, NS_RANDOM, NS_CHASE };

/* An access to `rows` pieces of `row_bytes` bytes of an object. The first piece begins at `offset`, in bytes; each
 * other piece begins `stride` bytes after the piece before. The task walks over all pieces `passes` times. */
struct ns_access {
    uint32_t object;
    uint32_t passes;
    int64_t offset, row_bytes, rows, stride;
    uint8_t mode, pattern; /* enum ns_access_mode, enum ns_access_pattern */
};

/* Register memory that tasks share. Return the id of the object, ascending from 0; NS_ERROR_OPTION for a null pool or
 * name, a null address with `bytes` above 0, and a negative number of bytes; NS_ERROR_CALLER while the pool runs;
 * NS_ERROR_MEMORY. The first 31 bytes of `name` are kept. */
int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes);

/* Spawn a child, as ns_spawn does, and declare the accesses of the child's first segment. Strategies that dispatch by
 * data use these accesses. NS_ERROR_PROGRAM ends the run as in ns_spawn, for null accesses, and for accesses that
 * ns_access_declare refuses. */
void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count);

/* Declare an access of the segment that `self` is running, in addition to the accesses declared at the spawn.
 * NS_ERROR_PROGRAM ends the run for null, an object that is not registered, an unknown mode or pattern, no passes, rows
 * that are not within their object, and more than 2^38 bytes over all passes. */
void ns_access_declare(ns_task *self, const ns_access *access);

/* ---- synchronisation objects, here called words: locks, atomic counters, conditions, barriers (thesis section 6.3) */

enum ns_word_role { NS_WORD_LOCK, NS_WORD_ATOMIC, NS_WORD_CONDITION, NS_WORD_BARRIER };

/* Create a word. The word is placed near worker `owner` (modulo the number of workers). `parties`, at least one, is the
 * number of tasks that a barrier waits for, or that a broadcast lets pass. The plan sets the kinds of locks and
 * barriers, and the home node of each word. A condition is a condition variable together with a count of signals: a
 * signal without a waiter lets a later waiter pass. Return the id of the word, ascending from 0; NS_ERROR_OPTION for a
 * null pool or name, an unknown role, and a barrier or a condition without parties; NS_ERROR_CALLER while the pool
 * runs; NS_ERROR_MEMORY. The first 31 bytes of `name` are kept. */
int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties);

/* Use words. NS_ERROR_PROGRAM ends the run for a word that was not created or has another role; for the release of a
 * lock that `self` does not hold; and for a task that ends while it holds a lock. The body that takes a lock is the
 * holder. A body that the holder runs by ns_call does not hold the lock. NS_ERROR_DEADLOCK ends the run if `self` takes
 * a lock that `self` holds, and if `self` arrives at a barrier for more parties than there are workers. On threads
 * ns_word_add returns 0 for a wrong call. */
void ns_word_lock(ns_task *self, uint32_t word);
void ns_word_unlock(ns_task *self, uint32_t word);
int64_t ns_word_add(ns_task *self, uint32_t word, int64_t value); /* add atomically; return the value before */
void ns_word_arrive(ns_task *self, uint32_t word);                /* wait at a barrier */
void ns_word_await(ns_task *self, uint32_t word);                 /* wait for a condition */
void ns_word_signal(ns_task *self, uint32_t word);                /* let one waiter pass */
void ns_word_broadcast(ns_task *self, uint32_t word);             /* let as many waiters pass as the word has parties */

/* ---- pools ------------------------------------------------------------------------------------------------------- */

enum ns_mode {
    NS_MODE_SERIAL,   /* on the calling thread, depth first; records the task graph */
    NS_MODE_NATIVE,   /* pinned threads on the real machine: see below */
    NS_MODE_EMULATED, /* threads on the nodes of the plan's machine; remote accesses spin for the added latency */
    NS_MODE_VIRTUAL,  /* on one thread, by the clocks of the simulator's engine */
    NS_MODE_TURNS,    /* the code of threads on one thread: workers take turns, in an order that the seed decides */
    NS_MODE_PACED     /* the code of threads on one thread: workers take turns by the simulator's clocks */
};

/* NS_MODE_EMULATED: memory is on the node of the thread that touched the memory first, whatever the plan says.
 * NS_MODE_VIRTUAL needs libnumasim-virtual; NS_MODE_TURNS and NS_MODE_PACED need libnumasim-turns. A program linked
 * without the library of a mode gets NS_ERROR_UNSUPPORTED. NS_MODE_TURNS ends a turn at every access of the library to
 * memory that workers share. NS_MODE_PACED ends a turn where the plan's costs advance the worker's clock; the worker
 * with the earliest clock is next. In both, a task that waits for another task in a loop of its own never ends. */

/* Native workers are pinned to the hardware threads that the plan numbers. The numbers count the hardware threads that
 * the process may use: the first threads of all cores, node by node, then the second threads. Without a plan, or if a
 * numbered thread does not exist, worker i is pinned to hardware thread i of this count. If there are more workers than
 * hardware threads, workers are not pinned. */

/* The costs that advance a virtual clock, or that a recorded graph has: computed by the cost model, or measured. */
enum ns_costs { NS_COSTS_MODEL, NS_COSTS_MEASURED };

/* The moment at which spawned tasks begin in a serial run. The time of a program depends on this order, because the
 * order decides which data are in the caches. In every order, a task with a future begins at its spawn. */
enum ns_order {
    NS_ORDER_SPAWNED, /* at the spawn */
    NS_ORDER_NEWEST,  /* when the parent joins, newest first, as a single worker takes tasks from its deque */
    NS_ORDER_STOLEN   /* as NS_ORDER_NEWEST, but children of the root run oldest first, as a thief takes them */
};

/* How a pool uses the plan's task graph. RECORDED: the graph was recorded from the program; strategies that distinguish
 * tasks find each task in it. IS_PROGRAM: the graph is the program that runs. IGNORED: the graph is not used. */
enum ns_graph_use { NS_GRAPH_RECORDED, NS_GRAPH_IS_PROGRAM, NS_GRAPH_IGNORED };

typedef struct {
    enum ns_mode mode;
    uint32_t workers;    /* 0: the number in the plan, or without a plan the number of hardware threads */
    const char *plan;    /* a compiled plan; NULL: random victims, steal one, help while joining */
    enum ns_costs costs; /* for NS_MODE_SERIAL and NS_MODE_VIRTUAL */
    uint64_t seed;       /* for choosing victims at random; 0: the seed in the plan's file */
    const char *record;  /* NS_MODE_SERIAL: the file for the recorded task graph; NULL: no recording */
    enum ns_order order; /* NS_MODE_SERIAL; NS_ORDER_SPAWNED if `record` is set */
    /* Files or pipes, for a plan whose strategy has a controller: decisions are read from `controls` before each
     * iteration; the measurements of the previous iteration are written to `measures` (NULL: not written). */
    const char *controls, *measures;
    enum ns_graph_use graph; /* internal to the library */
} ns_pool_options;

/* Create a pool. Return 0; NS_ERROR_OPTION for null, an unknown value of an option, more than 2^20 workers, `record` or
 * `order` in a mode other than the serial mode, and a missing plan in a mode that needs a plan; NS_ERROR_FILE,
 * NS_ERROR_FORMAT and NS_ERROR_FIELD for a bad plan; NS_ERROR_UNSUPPORTED for a plan that threads cannot execute;
 * NS_ERROR_MEMORY and NS_ERROR_THREAD. After an error `*pool` is NULL, or a pool that returns the sentence of the
 * error, fails with the same error in each run, and has to be destroyed. Any thread may create a pool, also a thread
 * that runs a task of another pool, and a thread of a forked process. */
int ns_pool_create(ns_pool **pool, const ns_pool_options *options);

/* The functions below may be called by any thread, but by only one thread at a time. A second thread, and tasks of the
 * pool itself, get NS_ERROR_CALLER at once. In a forked process, a pool of threads cannot run, but can be destroyed:
 * this frees its memory, and leaves the threads of the parent process alone. A pool of any other mode can run. */

/* Destroy a pool, or do nothing for null. Return 0; NS_ERROR_CALLER, without an effect, while the pool is in use. */
int ns_pool_destroy(ns_pool *pool);

/* Run `body` as a task of worker 0, and return when this task and all its descendants have ended. Return 0;
 * NS_ERROR_OPTION for a null pool or body, for null arguments with `bytes` above 0 and for too many bytes;
 * NS_ERROR_CALLER while the pool is in use; NS_ERROR_PROGRAM, NS_ERROR_DEADLOCK and NS_ERROR_MEMORY by the tasks;
 * NS_ERROR_UNSUPPORTED for a call that the recorded or planned graph cannot express; NS_ERROR_FILE for its file. */
int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* Run `body` once on every worker, like a parallel region of OpenMP, and return when all these tasks have ended. The
 * errors are the errors of ns_pool_run. */
int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* Return a sentence for the user about the pool's last error; an empty string without an error, and the sentence of
 * NS_ERROR_CALLER while the pool is in use. The result is never NULL. */
const char *ns_pool_problem(const ns_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
