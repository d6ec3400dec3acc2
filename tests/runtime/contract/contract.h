/* The contract of the C library: right and wrong calls of each public function.
 *
 * A case is a function of the library in a situation: in a task, from a second thread, in a forked process, with a
 * destroyed object, or with null and wrong values. Each case runs in a process of its own, and ends with the error code
 * in its table and with a sentence. Or the case is undefined, by a rule of the headers.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "numasim/topology.h"

enum situation { TASK, THREAD, CHILD, DESTROYED, WRONG, SITUATIONS };

/* Rules of the headers by which a situation is undefined. */
enum rule { DEFINED, BY_SELF, BY_FORK, BY_FREED, RULES };

/* A pool, and the mode that a case is run in. */
typedef struct {
    const char *name;
    enum ns_mode mode;
    const char *plan; /* or NULL */
} pool_way;

/* The pool that runs the bodies, with its words and its object. */
typedef struct {
    const pool_way *way;
    ns_pool *pool;
    uint32_t lock, counter, condition, barrier, wide_barrier;
    uint32_t object;
    int error;            /* the first that a body has found */
    const char *sentence; /* and its sentence */
} bodies;
extern bodies it;

/* The ways of running a pool in which a case is run. In virtual time programs make only the calls of the plan's graph.
 * On fibers each task has a small stack of its own. In lanes calls of typed tasks are inline. NEITHER: neither in
 * virtual time nor in lanes. */
enum ways { ALL, NOT_VIRTUAL, ON_STACKS, SERIAL, LANES, NEITHER };

enum { DIES = 1 }; /* in place of an error code: the process ends with a sentence on its standard error */

enum { WORKERS = 2, OBJECT_BYTES = 4096 };

/* A case in a task: the body calls the function, and stores the result of the call in `it`. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    ns_body *body;
    int error;        /* of the call if it returns one, or of the run */
    const char *says; /* in the sentence of the run; NULL: nothing in particular */
    enum ways ways;
} task_case;
extern const task_case TASK_CASES[];

/* A case outside of tasks: the error code, which is to be `error`. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    int (*call)(const pool_way *way);
    int error;
    bool once; /* of POOL_CASES: only serially, since the way to run the pool plays no part */
} plain_case;
extern const plain_case POOL_CASES[]; /* in each way of running a pool */
extern const plain_case FREE_CASES[]; /* once, and without a pool */

/* Right calls of functions that need no pool, in a task, in a second thread and in a forked process. */
typedef struct {
    const char *function;
    int (*call)(void);
    enum rule destroyed; /* of the situation DESTROYED; RULES: there are cases */
} free_call;
extern const free_call FREE_CALLS[];

/* What is undefined, or what does not occur; besides, in other threads and processes and with a task that has ended,
 * all functions of tasks. */
typedef struct {
    const char *function;
    enum situation situation;
    enum rule rule; /* DEFINED: the function takes nothing that could be so */
} undefined_case;
extern const undefined_case UNDEFINED_CASES[];

/* Make a pool with the object and words of `it`; exit if that fails. */
void make_pool(const pool_way *way);

/* Note the result of a call in a body. */
void found(int64_t error);

/* A body that does nothing. */
void nothing(ns_task *self, void *arguments);

/* Call a function in a second thread, or in a forked process. Return its result. */
int in_thread(int (*call)(void));
int in_child(int (*call)(void));

/* Limit the time of this process. */
void limit_time(void);

#endif
