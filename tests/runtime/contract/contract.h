/* The contract of the C library: each public function, called as programs should not.
 *
 * A case is a function of the library in a situation: in a task, from a second thread, in a forked process, with what
 * was destroyed, or with null and wrong values. It is run by itself in a process, and ends with the error code that its
 * table says, and with a sentence; or it is undefined by one of the rules that the headers state.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "numasim/topology.h"

enum situation { TASK, THREAD, CHILD, DESTROYED, WRONG, SITUATIONS };

/* Rules of the headers, by which what a situation does is undefined. */
enum rule { DEFINED, BY_SELF, BY_FORK, BY_FREED, RULES };

/* A pool, and the mode that a case is run in. */
typedef struct {
    const char *name;
    enum ns_mode mode;
    const char *plan; /* or NULL */
} pool_way;

/* What bodies find of the pool that runs them. */
typedef struct {
    const pool_way *way;
    ns_pool *pool;
    uint32_t lock, counter, condition, barrier, wide_barrier;
    uint32_t object;
    int error;            /* the first that a body has found */
    const char *sentence; /* and its sentence */
} bodies;
extern bodies it;

/* In which ways of running a pool a case is one. In virtual time programs do what the plan's graph does, and no more;
 * on fibers each task has a small stack of its own; in lanes calls of typed tasks are inline. NEITHER: neither in
 * virtual time nor in lanes. */
enum ways { ALL, NOT_VIRTUAL, ON_STACKS, SERIAL, LANES, NEITHER };

enum { DIES = 1 }; /* in place of an error code: the process ends with a sentence on its standard error */

enum { WORKERS = 2, OBJECT_BYTES = 4096 };

/* The body of a case in a task: it calls the function, and leaves in `it` what the call returned. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    ns_body *body;
    int error;        /* of the call where it returns one, or of the run */
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
    bool once; /* of POOL_CASES: serially alone, since the way to run the pool plays no part */
} plain_case;
extern const plain_case POOL_CASES[]; /* in each way of running a pool */
extern const plain_case FREE_CASES[]; /* once, and without a pool */

/* Right calls of functions that need no pool, which a task, a second thread and a forked process may all make. */
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

/* A pool that can be run, with the objects and words of `it`; ends the process where there is none. */
void make_pool(const pool_way *way);

/* An error code that a body has found. */
void found(int64_t error);

/* A body that does nothing. */
void nothing(ns_task *self, void *arguments);

/* What a function returns, called in a second thread, or in a forked process. */
int in_thread(int (*call)(void));
int in_child(int (*call)(void));

/* The rest of the time that a case has is that of this process: of a forked one, too. */
void limit_time(void);

#endif
