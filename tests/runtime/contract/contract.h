/* The contract of the C library: right and wrong calls of each public function.
 *
 * A case is a function of the library in a situation: in a task, from a second thread, in a forked process, with a
 * destroyed object, or with null and wrong values. Each case runs in a process of its own, and must end with the error
 * code in its table and with a sentence. If a rule of the headers says so, the case is undefined instead.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "numasim/topology.h"

enum situation { TASK, THREAD, CHILD, DESTROYED, WRONG, SITUATIONS };

/* Rules of the headers that make a situation undefined. */
enum rule { DEFINED, BY_SELF, BY_FORK, BY_FREED, RULES };

/* A mode and a plan: one way of running a pool. */
typedef struct {
    const char *name;
    enum ns_mode mode;
    const char *plan; /* the plan's file, or NULL */
} pool_way;

/* The pool that runs the bodies, with the pool's words (synchronisation objects) and its object. */
typedef struct {
    const pool_way *way;
    ns_pool *pool;
    uint32_t lock, counter, condition, barrier, wide_barrier;
    uint32_t object;
    int error;            /* the first error that a body has found */
    const char *sentence; /* the sentence of this error */
} bodies;
extern bodies it;

/* The ways of running a pool in which a case is run. NOT_VIRTUAL: in virtual time programs make only the calls of the
 * plan's graph. ON_STACKS: on fibers each task has a small stack of its own. LANES: in lanes calls of typed tasks are
 * inline. NEITHER: neither in virtual time nor in lanes. */
enum ways { ALL, NOT_VIRTUAL, ON_STACKS, SERIAL, LANES, NEITHER };

enum { DIES = 1 }; /* in place of an error code: the process ends with a sentence on its standard error */

enum { WORKERS = 2, OBJECT_BYTES = 4096 };

/* A case in a task: the body calls the function, and stores the result of the call in `it`. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    ns_body *body;
    int error;        /* the error code that the call returns, or else that the run returns */
    const char *says; /* text in the error message of the run; NULL: any */
    enum ways ways;
} task_case;
extern const task_case TASK_CASES[];

/* A case outside of tasks: `call` must return the error code `error`. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    int (*call)(const pool_way *way);
    int error;
    bool once; /* for POOL_CASES: run the case only serially, since the way of running the pool does not matter */
} plain_case;
extern const plain_case POOL_CASES[]; /* run in each way of running a pool */
extern const plain_case FREE_CASES[]; /* run once, without a pool */

/* Right calls of a function that needs no pool: in a task, in a second thread and in a forked process. */
typedef struct {
    const char *function;
    int (*call)(void);
    enum rule destroyed; /* the rule for the situation DESTROYED; RULES: this situation has cases */
} free_call;
extern const free_call FREE_CALLS[];

/* A situation of a function that is undefined, or that cannot occur. `main.c` adds: each function with a right call in
 * TASK_CASES is undefined in other threads and processes, and with a task that has ended. */
typedef struct {
    const char *function;
    enum situation situation;
    enum rule rule; /* DEFINED: the function has no argument that could be in this situation */
} undefined_case;
extern const undefined_case UNDEFINED_CASES[];

/* Make a pool with the object and words of `it`. Exit if this fails. */
void make_pool(const pool_way *way);

/* Store the result of a call in a body. */
void found(int64_t error);

/* An empty body. */
void nothing(ns_task *self, void *arguments);

/* Call a function in a second thread, or in a forked process. Return the result of the function. */
int in_thread(int (*call)(void));
int in_child(int (*call)(void));

/* Limit the time of this process. */
void limit_time(void);

#endif
