/* The contract of the C library: right and wrong calls of each public function.
 *
 * A case is a function of the library in a situation: in a task, from a second thread, in a forked process, with a
 * destroyed object, or with null and wrong values. Each case runs in a process of its own, and must end with the error
 * code in its table and with a sentence. Where a rule of the headers leaves the outcome undefined, no case is run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "numasim/topology.h"

enum situation { TASK, THREAD, CHILD, DESTROYED, WRONG, SITUATIONS };

/* Rules of the library's headers that leave the outcome of a situation undefined. */
enum rule { DEFINED, BY_SELF, BY_FORK, BY_FREED, RULES };

/* A mode and a plan: one way of running a pool. */
typedef struct {
    const char *name;
    enum ns_mode mode;
    const char *plan; /* the plan's file, or NULL */
} pool_way;

/* The pool of workers whose tasks call the functions of the cases; the ids of the pool's synchronisation objects and of
 * its one data object; and the first error that the code of a task (a body) has found. */
typedef struct {
    const pool_way *way;
    ns_pool *pool;
    uint32_t lock, counter, condition, barrier, wide_barrier;
    uint32_t object;
    int error;            /* the code of the error */
    const char *sentence; /* the sentence of the error */
} bodies;
extern bodies it;

/* The ways of running a pool in which a case is run. NOT_VIRTUAL: in virtual time programs make only the calls of the
 * plan's graph. ON_STACKS: on fibers each task has a small stack of its own. LANES: in lanes calls of typed tasks are
 * inline. NEITHER: neither in virtual time nor in lanes. WITHOUT_POOL: the case needs no pool, and is run once. */
enum ways { ALL, NOT_VIRTUAL, ON_STACKS, SERIAL, LANES, NEITHER, WITHOUT_POOL };

enum { DIES = 1 }; /* in place of an error code: the process ends with a sentence on its standard error */

enum { WORKERS = 2, OBJECT_BYTES = 4096 };

/* A case: `function` is called in a situation, and the case must end with `error`. */
typedef struct {
    const char *function;
    enum situation situation;
    const char *what;
    int error;        /* the error code that the call returns, or else that the run returns; or DIES */
    const char *says; /* text in the error message of the run; NULL: any */
    enum ways ways;
    ns_body *body;                    /* a case in a task: the body calls the function, and stores the result in `it` */
    int (*call)(const pool_way *way); /* a case outside of tasks */
    int (*free_call)(void);           /* a right call that needs no pool, made in `situation` */
} contract_case;

/* Add a case; add the rule by which a situation of a function is undefined, or DEFINED if the function has no argument
 * that could be in this situation. The macros below call these functions before `main`. */
void add_case(contract_case added);
void add_rule(const char *function, enum situation situation, enum rule rule);

#define PASTED(FIRST, SECOND) FIRST##SECOND
#define JOINED(FIRST, SECOND) PASTED(FIRST, SECOND)
#define OF_LINE(NAME) JOINED(NAME, __LINE__)
#define BEFORE_MAIN(...) \
    __attribute__((constructor)) static void OF_LINE(register_)(void) { __VA_ARGS__; }

/* A case in a task. The last arguments are the statements of the body, which calls the task `self`. */
#define IN_TASK(FUNCTION, SITUATION, WHAT, ERROR, SAYS, WAYS, ...) \
    static void OF_LINE(body_)(ns_task * self, void *arguments) {  \
        (void)self, (void)arguments;                               \
        __VA_ARGS__;                                               \
    }                                                              \
    BEFORE_MAIN(add_case((contract_case){FUNCTION, SITUATION, WHAT, ERROR, SAYS, WAYS, OF_LINE(body_), NULL, NULL}))

/* A case outside of tasks. The last arguments are an expression for the error code, which may use `way`. */
#define OUTSIDE(FUNCTION, SITUATION, WHAT, ERROR, WAYS, ...) \
    static int OF_LINE(call_)(const pool_way *way) {         \
        (void)way;                                           \
        return (int)(__VA_ARGS__);                           \
    }                                                        \
    BEFORE_MAIN(add_case((contract_case){FUNCTION, SITUATION, WHAT, ERROR, NULL, WAYS, NULL, OF_LINE(call_), NULL}))

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
