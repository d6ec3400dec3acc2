/* numasim's task runtime: tasks, pools of workers, objects in memory and synchronisation objects.
 *
 * A program is a body that spawns children and joins them. A pool runs the program on real threads, on real threads
 * that pretend to be another machine, in virtual time on one thread, or serially. A compiled strategy (`numasim
 * strategy compile`) decides where tasks go. numasim's simulator interprets the same strategy.
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
 * numasim/typed_tasks.h has a shorter and faster form of this.
 *
 * Errors. Functions that can fail return 0 or a negative error code, and `ns_error_sentence` has a sentence for each
 * code. A wrong call of a task's function without a result does nothing, and the run ends with NS_ERROR_PROGRAM:
 * ns_pool_run returns this code, and ns_pool_problem has the sentence, with the wrong number or name. Serially and in
 * virtual time the run ends at the call, which does not return. On threads the call returns, and the run ends when its
 * tasks have ended. After a run with an error, a pool of threads or of virtual time returns the same error for every
 * later run, and can only be destroyed.
 *
 * Undefined. The library makes all checks that take little time. Not checked are:
 *
 * - self A function of a task is called with the `self` of the body that calls, by the thread that runs this body,
 *   before the body returns. Anything else is undefined: another thread's `self`, the `self` of a body that has
 *   returned, null. Reason: spawns and joins are a few instructions, and a check of the thread would take more.
 * - fork In a process that a task has forked, no function of a task may be called. Reason: as for `self`; besides, the
 *   threads that could run children are in the other process. Functions of pools refuse there (NS_ERROR_CALLER). Locks
 *   of numasim/locks.h that no thread held are copies that work.
 * - freed A pool, a lock, a condition, a barrier or memory that was destroyed may not be used. Reason: the library has
 *   freed the memory, as free() does.
 * - waits On threads a wait that no task ends lasts for ever: for a lock whose holder has ended, or waits for the
 *   waiting task; for a condition without a signal; at a barrier with too few arrivals. Reason: any task that computes
 *   may end the wait, and counting the waiting tasks would slow down every wait. Serially and in virtual time such a
 *   program ends with NS_ERROR_DEADLOCK. So does, in every mode, a task that takes a lock twice, and a barrier for more
 *   parties than there are workers.
 * - stack Calls of C, and NAME_call and NAME_join of typed tasks in lanes, nest on the stack of the thread without a
 *   check. If this stack overflows, a sentence is written to the standard error, and SIGSEGV ends the process, unless
 *   the program handles this signal. All other nesting is checked: the run ends with NS_ERROR_MEMORY when less than 32
 *   KiB of stack are left for a body.
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
    NS_ERROR_PROGRAM = -5,     /* a task makes a wrong call, or the plan was made for another program */
    NS_ERROR_DEADLOCK = -6,    /* tasks are left that no worker can ever run */
    NS_ERROR_THREAD = -7,      /* a thread cannot be made or pinned */
    NS_ERROR_OPTION = -8,      /* an option or an argument has an impossible value, such as null */
    NS_ERROR_UNSUPPORTED = -9, /* not possible in this build, on this machine, or in this mode */
    NS_ERROR_CALLER = -10      /* the pool is in use, or its threads are in the process that forked this process */
};

/* Returns one sentence about an error code, known or not; never NULL. */
const char *ns_error_sentence(int error);

/* ---- tasks: see also numasim/tasks.h ----------------------------------------------------------------------------- */

/* Run body(self, arguments, first, last) over pieces of [begin, end) of at most `grain` indices, in parallel. Returns
 * when all pieces, and all children that `self` spawned before, have ended. The pieces are made by halving. A grain
 * below 1 counts as 1. If `end` is not above `begin`, the body is not called. A null body ends the run:
 * NS_ERROR_PROGRAM.
 */
typedef void ns_loop_body(ns_task *self, void *arguments, int64_t first, int64_t last);
void ns_parallel_for(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_loop_body *body, void *arguments);

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* The result is the same on every run, in any mode and on any number of workers.
 *
 * Values have `bytes` bytes, aligned as by malloc, and are combined in pairs of neighbours: combine(value, next) sets
 * `value` to the combination of both, of which `value` is the left one. It need not be commutative, nor exactly
 * associative, as with floating-point numbers. The pairs depend only on the range and the grain, or on the order of
 * spawns.
 */
typedef void ns_combine(void *value, const void *next);

/* Set `value` to the value of the indices in [first, last), which has at least one index. */
typedef void ns_reduce_body(ns_task *self, void *arguments, int64_t first, int64_t last, void *value);

/* Combine `value` with the values of all pieces of [begin, end) of at most `grain` indices, which run in parallel. The
 * pieces are made by halving, and combined as they were made. Returns 0; or without a call of the body, NS_ERROR_OPTION
 * for a null body, combine or value, and NS_ERROR_MEMORY if memory for the values is short. */
int ns_parallel_reduce(ns_task *self, int64_t begin, int64_t end, int64_t grain, ns_reduce_body *body,
                       ns_combine *combine, void *arguments, void *value, size_t bytes);

/* A reduction over children: set the first three fields, and leave the rest zero. */
typedef struct {
    void *value; /* the initial value, and then the result */
    size_t bytes;
    ns_combine *combine;
    struct ns_terms *first, *newest; /* internal to the library */
} ns_reduction;

/* Set `term`, which is zero before, to the contribution of this child. */
typedef void ns_term_body(ns_task *self, void *arguments, void *term);

/* Spawn a child that contributes a term. Returns 0; or without a spawn, NS_ERROR_OPTION for a null reduction, value,
 * combine or body and for null arguments of some bytes, NS_ERROR_MEMORY if memory is short. */
int ns_reduce_spawn(ns_task *self, ns_reduction *reduction, ns_term_body *body, const void *arguments, size_t bytes);

/* Join all children, and combine the value with the terms, in the order of the spawns. Returns 0; or without a join,
 * NS_ERROR_OPTION for a null reduction, value or combine. */
int ns_reduce_join(ns_task *self, ns_reduction *reduction);

/* ---- futures ----------------------------------------------------------------------------------------------------- */

/* A future: a single child that can be awaited. */
typedef struct {
    ns_task *task;
    uint32_t done; /* atomic */
} ns_future;

/* Spawn the child of a future, with a copy of the `bytes` bytes at `arguments`. NS_ERROR_PROGRAM ends the run for a
 * null future or body, and for arguments as in ns_spawn. The future then has no child. */
void ns_future_spawn(ns_task *self, ns_future *future, ns_body *body, const void *arguments, size_t bytes);

/* Wait until the child of a future has ended. NS_ERROR_PROGRAM ends the run for a null future, and for a future of all
 * zero, which has no child. */
void ns_future_get(ns_task *self, ns_future *future);

/* Return the worker that runs `self` now, the number of workers, and the NUMA node of that worker in the plan's
 * machine. These functions cannot fail. */
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

/* Register memory that tasks share. Returns its id, ascending from 0; NS_ERROR_OPTION for a null pool or name, a null
 * address of some bytes, and a negative number of bytes; NS_ERROR_CALLER while the pool runs; NS_ERROR_MEMORY. The
 * first 31 bytes of `name` are kept. */
int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes);

/* Spawn a child, as ns_spawn does, and declare the accesses of its first segment, which dispatch by data uses.
 * NS_ERROR_PROGRAM ends the run as in ns_spawn, for null accesses, and for accesses that ns_access_declare refuses. */
void ns_spawn_with(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_access *accesses,
                   uint32_t count);

/* Declare an access of the segment under way, beside those declared at the spawn. NS_ERROR_PROGRAM ends the run for
 * null, an object that is not registered, an unknown mode or pattern, no passes, rows that are not within their object,
 * and more than 2^38 bytes walked in all. */
void ns_access_declare(ns_task *self, const ns_access *access);

/* ---- synchronisation objects, called words here: locks, atomic counters, conditions, barriers (thesis section 6.3) */

enum ns_word_role { NS_WORD_LOCK, NS_WORD_ATOMIC, NS_WORD_CONDITION, NS_WORD_BARRIER };

/* Create a word, which is kept for worker `owner` (modulo the workers). `parties`, at least one, is how many tasks
 * arrive at a barrier before it opens, or pass at a broadcast. The plan has the kinds of locks and barriers, and the
 * homes of words. A condition is a condition variable together with a count of signals: no signal is lost. Returns the
 * id of the word, ascending from 0; NS_ERROR_OPTION for a null pool or name, an unknown role, and a barrier or a
 * condition of no parties; NS_ERROR_CALLER while the pool runs; NS_ERROR_MEMORY. The first 31 bytes of `name` are kept.
 */
int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties);

/* Use words. NS_ERROR_PROGRAM ends the run for a word that was not created or has another role; for the release of a
 * lock that `self` does not hold; and for a task that ends and holds a lock. The body that takes a lock holds it. A
 * body that the holder runs by ns_call does not hold the lock. NS_ERROR_DEADLOCK ends the run if `self` takes a lock
 * that it holds, and if `self` arrives at a barrier for more parties than there are workers. ns_word_add returns 0
 * for a wrong call on threads. */
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
    NS_MODE_EMULATED, /* threads on virtual nodes: remote steps spin for the difference of latencies; memory is on the
                         node that touched it first, whatever the plan's placement */
    NS_MODE_VIRTUAL   /* on one thread, by the clocks of the simulator's engine, a library of its own: a program that is
                         linked without the library gets NS_ERROR_UNSUPPORTED */
};

/* Native workers are pinned to the hardware threads of the plan. These are counted among the hardware threads that the
 * process may use: the first threads of all cores, node by node, then the second threads. Without a plan, or if one of
 * these threads does not exist, worker i is pinned to the i-th. If there are more workers than hardware threads,
 * workers are not pinned. */

/* The times that advance a virtual clock, and the times of recorded segments. */
enum ns_costs { NS_COSTS_MODEL, NS_COSTS_MEASURED };

/* When spawned tasks begin in a serial run. Caches make the time of a program depend on this. Tasks with a future begin
 * where they are spawned, in every order. */
enum ns_order {
    NS_ORDER_SPAWNED, /* where they are spawned */
    NS_ORDER_NEWEST,  /* when their parent joins, newest first, as a single worker takes them from its deque */
    NS_ORDER_STOLEN   /* the same, but the children of the root oldest first, as a thief takes them */
};

/* The use of the plan's task graph: the graph was recorded of the program, and is used as far as the strategy needs it;
 * or the graph is the program; or the graph is ignored. */
enum ns_graph_use { NS_GRAPH_RECORDED, NS_GRAPH_IS_PROGRAM, NS_GRAPH_IGNORED };

typedef struct {
    enum ns_mode mode;
    uint32_t workers;    /* 0: as many as in the plan, or without a plan as many as there are hardware threads */
    const char *plan;    /* a compiled plan; NULL: random victims, steal one, help while joining */
    enum ns_costs costs; /* of NS_MODE_SERIAL and NS_MODE_VIRTUAL */
    uint64_t seed;       /* of victim draws; 0: the seed in the plan's file */
    const char *record;  /* NS_MODE_SERIAL: write the task graph there; NULL: do not */
    enum ns_order order; /* NS_MODE_SERIAL; with `record`, NS_ORDER_SPAWNED */
    /* of a plan whose strategy has a controller, files or pipes: its decisions are read from the first before each
     * iteration; the measurements of the last iteration are written to the second (NULL: not written) */
    const char *controls, *measures;
    enum ns_graph_use graph; /* internal to the library */
} ns_pool_options;

/* Create a pool. Returns 0; NS_ERROR_OPTION for null, an unknown value of an option, more than 2^20 workers, `record`
 * or `order` in another mode than the serial mode, and a missing plan in a mode that needs a plan; NS_ERROR_FILE,
 * NS_ERROR_FORMAT and NS_ERROR_FIELD of the plan; NS_ERROR_UNSUPPORTED for a plan that threads cannot execute;
 * NS_ERROR_MEMORY and NS_ERROR_THREAD. With an error `*pool` is NULL, or a pool that has the sentence of the error,
 * fails with the same error in each run, and has to be destroyed. Any thread may create a pool, also in a task of
 * another pool, and in a process that was forked. */
int ns_pool_create(ns_pool **pool, const ns_pool_options *options);

/* One thread at a time, whichever, calls the functions below. Other threads, and tasks of the pool itself, get
 * NS_ERROR_CALLER at once. In a process that was forked, a pool of threads cannot run, and can be destroyed: this frees
 * its memory, and leaves the threads of the other process alone. Pools of the other modes are copies that run.
 */

/* Destroy a pool, or do nothing for null. Returns 0; NS_ERROR_CALLER, without an effect, while the pool is in use. */
int ns_pool_destroy(ns_pool *pool);

/* Run `body` as a task of worker 0, and return when this task and all its descendants have ended. Returns 0;
 * NS_ERROR_OPTION for a null pool or body, for null arguments of some bytes and for too many bytes; NS_ERROR_CALLER as
 * above; NS_ERROR_PROGRAM, NS_ERROR_DEADLOCK and NS_ERROR_MEMORY of the tasks; NS_ERROR_UNSUPPORTED for a call that a
 * recorded graph or the plan's graph cannot express; NS_ERROR_FILE if the graph cannot be written. */
int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* Run `body` once on every worker, like a parallel region of OpenMP, and return when all have ended. Errors are those
 * of ns_pool_run. */
int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes);

/* Returns the sentence of the last error, for the user; empty without an error, and the sentence of NS_ERROR_CALLER
 * while the pool is in use. Never NULL. */
const char *ns_pool_problem(const ns_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
