/* A mode of running pools: the functions behind numasim/runtime.h, and the common part of pools, workers and tasks of
 * all modes. A mode puts the common part in front of its own structs.
 */
#ifndef NS_OPERATIONS_H
#define NS_OPERATIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "api/report.h"
#include "fields.h"
#include "numasim/runtime.h"
#include "plan_file.h"
#include "platform/atomics.h"

/* An order to run a body. */
typedef struct {
    ns_body *body;
    const void *arguments;
    size_t bytes;
    const ns_access *accesses; /* of its first segment */
    uint32_t access_count;
    ns_future *future; /* set when the body ends; or NULL */
    const ns_dependence *dependences;
    uint32_t dependence_count;
} ns_work_order;

/* The functions of a mode for pools. */
typedef struct {
    int (*open)(ns_pool **pool, const ns_pool_options *options,
                ns_fields *plan);   /* takes the plan, which may be NULL */
    void (*close)(ns_pool *pool);   /* in the process that opened it */
    void (*abandon)(ns_pool *pool); /* in a process that was forked from it; NULL: as there */
    int (*run)(ns_pool *pool, const ns_work_order *order, bool team);
    int (*report)(ns_pool *pool, ns_report *report); /* what was counted: report.h */
    /* of pools with a plan: the plan, and the row of a task in the plan's graph */
    const ns_plan_file *(*plan)(const ns_pool *pool);
    uint32_t (*row)(const ns_task *task);
} ns_pool_operations;

/* The functions that tasks call. A mode with several ways to execute tasks has such a table for each way, and chooses
 * one when a pool opens. */
typedef struct {
    void (*spawn)(ns_task *self, const ns_work_order *order);
    void (*spawn_after)(ns_task *self, const ns_work_order *order); /* with dependences */
    void (*call)(ns_task *self, ns_body *body, void *arguments);
    void (*join)(ns_task *self);
    void (*get)(ns_task *self, ns_future *future);
    void (*work)(ns_task *self, int64_t picoseconds);
    void (*access)(ns_task *self, const ns_access *access);
    void (*lock)(ns_task *self, uint32_t word);
    void (*unlock)(ns_task *self, uint32_t word);
    int64_t (*add)(ns_task *self, uint32_t word, int64_t value);
    void (*arrive)(ns_task *self, uint32_t word);
    void (*await)(ns_task *self, uint32_t word);
    void (*signal)(ns_task *self, uint32_t word, uint32_t permits);
    /* An op of a plan's graph without a call in runtime.h. NULL: plans with such ops are refused. */
    void (*op)(ns_task *self, uint32_t op, uint32_t argument);
    /* The task has made a wrong call: the run ends with this error, at once or when its tasks have ended. */
    void (*refuse)(ns_task *self, int error, const char *sentence);
} ns_task_operations;

typedef struct {
    char name[32];
    void *address;
    int64_t bytes;
} ns_object;

typedef struct {
    char name[32];
    enum ns_word_role role;
    uint32_t owner, parties;
    int64_t value; /* of an atomic counter */
} ns_word;

struct ns_pool {
    const ns_pool_operations *mode;
    const ns_task_operations *tasks;
    ns_pool_options options;
    uint32_t workers;
    ns_object *objects; /* [object_count] */
    ns_word *words;     /* [word_count] */
    uint32_t object_count, word_count;
    int unmade;           /* the error that the pool could not be made for, or 0 */
    pid_t process;        /* that made it */
    ns_atomic_u32 in_use; /* 1: a function of the pool is being called; else 0 */
    char problem[1024];
};

/* The modes. */
extern const ns_pool_operations ns_serial_mode; /* serial/: runs depth first, and records */
extern const ns_pool_operations ns_thread_mode; /* threads/: native and emulated */
/* virtual/: workers take turns by virtual clocks. A library of its own, which needs the library of C++. NULL in a
 * program that is linked without it. */
extern const ns_pool_operations ns_virtual_mode __attribute__((weak));

/* Returns whether so many bytes cannot be copied from `from`. */
static inline bool ns_is_wrong_memory(const void *from, size_t bytes) {
    return bytes && (!from || bytes > PTRDIFF_MAX);
}

/* Let only the caller use the pool. Returns 0, NS_ERROR_OPTION for null, or NS_ERROR_CALLER for a pool in use. */
int ns_pool_enter(ns_pool *pool);
void ns_pool_leave(ns_pool *pool);

/* Set the sentence of an error, as printf does. Returns `error`. */
int ns_pool_fail(ns_pool *pool, int error, const char *sentence, ...) __attribute__((format(printf, 3, 4)));

#endif
