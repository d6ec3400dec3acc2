/* What all modes of running pools (serial, threads, virtual time) share: tables of the functions behind
 * numasim/runtime.h, which each mode implements, and the struct of a pool, with which each mode's own struct begins. A
 * word is a synchronisation object. An order is the description of a body to be run. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "api/report.h"
#include "base/pieces.h"
#include "fields.h"
#include "generated/enumerations.h"
#include "numasim/runtime.h"
#include "plan_file.h"
#include "platform/atomics.h"

/* A body to be run, its arguments, and what the program has declared about it at the spawn. */
typedef struct {
    ns_body *body;
    const void *arguments;
    size_t bytes;
    const ns_access *accesses; /* [access_count] of the first segment (up to the body's first call of the library) */
    uint32_t access_count;
    ns_future *future;                /* done when the body ends; or NULL */
    const ns_dependence *dependences; /* [dependence_count] */
    uint32_t dependence_count;
} ns_work_order;

/* The functions of a mode that act on pools. */
typedef struct {
    /* make a pool, which owns `plan` (or NULL) from then on; like `run` and `report`, return 0 or a negative code */
    int (*open)(ns_pool **pool, const ns_pool_options *options, ns_fields *plan);
    void (*close)(ns_pool *pool);   /* free a pool in the process that opened it */
    void (*abandon)(ns_pool *pool); /* free a pool in a process that was forked since; NULL: `close` does */
    int (*run)(ns_pool *pool, const ns_work_order *order, bool team); /* once, or on each worker if `team` */
    int (*report)(ns_pool *pool, ns_report *report);                  /* copy the counts of all runs so far */
    /* for pools with a plan: return the plan, and the row (entry) of a task in the plan's task graph */
    const ns_plan_file *(*plan)(const ns_pool *pool);
    uint32_t (*row)(const ns_task *task);
} ns_pool_operations;

/* The functions that tasks call. A mode that can execute tasks in several ways has a table for each way, and chooses
 * one when a pool opens. */
typedef struct {
    void (*spawn)(ns_task *self, const ns_work_order *order);
    void (*spawn_after)(ns_task *self, const ns_work_order *order); /* with dependences */
    void (*call)(ns_task *self, ns_body *body, void *arguments);
    void (*join)(ns_task *self);
    void (*get)(ns_task *self, ns_future *future);
    void (*work)(ns_task *self, int64_t picoseconds);       /* declare the time of the running segment */
    void (*access)(ns_task *self, const ns_access *access); /* declare an access of the running segment */
    /* Execute an operation, from NS_OP_LOCK to NS_OP_BROADCAST, on a word of the right role. NS_OP_ATOMIC adds `value`,
     * and returns the value before. NS_OP_SIGNAL and NS_OP_BROADCAST let `value` waiters pass. */
    int64_t (*use)(ns_task *self, enum ns_op op, uint32_t word, int64_t value);
    /* Execute an operation of a plan's graph that has no function in runtime.h. NULL: plans with such are refused. */
    void (*op)(ns_task *self, uint32_t op, uint32_t argument);
    /* Note a wrong call: the run ends with this error, at once or when all tasks have ended. */
    void (*refuse)(ns_task *self, int error, const char *sentence);
} ns_task_operations;

/* The table of a mode whose functions have these names; SPAWN_AFTER is its function for spawns with dependences. */
#define NS_MODE_CALLS(SPAWN_AFTER)                                                                    \
    .spawn = spawn, .spawn_after = SPAWN_AFTER, .call = call, .join = join, .get = get, .work = work, \
    .access = declare, .use = use, .refuse = refuse

enum { NS_NAME_BYTES = 32 }; /* the bytes of the name of an object or a word, with its end */

typedef struct {
    char name[NS_NAME_BYTES];
    void *address;
    int64_t bytes;
} ns_object;

typedef struct {
    char name[NS_NAME_BYTES];
    enum ns_word_role role;
    uint32_t owner, parties;
    int64_t value; /* the value of an atomic counter */
} ns_word;

struct ns_pool {
    const ns_pool_operations *mode;
    const ns_task_operations *tasks;
    ns_pool_options options;
    uint32_t workers;
    ns_object *objects; /* [object_count] */
    ns_word *words;     /* [word_count] */
    uint32_t object_count, word_count;
    int unmade;           /* the error of ns_pool_create, or 0 */
    pid_t process;        /* the process that made the pool */
    ns_atomic_u32 in_use; /* 1 during a call of a function of the pool; else 0 */
    char problem[1024];   /* the sentence about the last error */
    ns_pieces memory;     /* released with the pool */
};

/* The modes. */
extern const ns_pool_operations ns_serial_mode; /* serial/: runs depth first, and can record */
extern const ns_pool_operations ns_thread_mode; /* threads/: native and emulated */
/* Two modes in libraries of their own. Each symbol is NULL in a program that is linked without its library. */
extern const ns_pool_operations ns_virtual_mode __attribute__((weak)); /* virtual/: virtual time */
extern const ns_pool_operations ns_turns_mode __attribute__((weak));   /* turns/: threads in turns */

static inline bool ns_runs_in_turns(const ns_pool *pool) {
    return pool->options.mode == NS_MODE_TURNS || pool->options.mode == NS_MODE_PACED;
}

/* Return whether `bytes` bytes cannot be copied from `from`: null with a size above 0, or too many bytes. */
static inline bool ns_is_wrong_memory(const void *from, size_t bytes) {
    return bytes && (!from || bytes > PTRDIFF_MAX);
}

/* Reserve the pool for the caller, until ns_pool_leave. Return 0, NS_ERROR_OPTION for null, or NS_ERROR_CALLER if
 * another call has reserved the pool. */
int ns_pool_enter(ns_pool *pool);
void ns_pool_leave(ns_pool *pool);

/* Check that ns_pool_run, or ns_pool_team if `team`, can run phase `number` of the plan (less than 0: no phase is
 * left). Return 0; or an error, with a sentence in the pool. */
int ns_pool_check_phase(ns_pool *pool, const ns_full_plan *plan, int64_t number, bool team);

/* Store the sentence of an error, formatted as by printf. Return `error`. */
int ns_pool_fail(ns_pool *pool, int error, const char *sentence, ...) __attribute__((format(printf, 3, 4)));
