/* Tasks: the calls by which a body of a program spawns children and waits for them. numasim/runtime.h and
 * numasim/typed_tasks.h include this header. */
#ifndef NUMASIM_TASKS_H
#define NUMASIM_TASKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_pool ns_pool;
typedef struct ns_task ns_task;
typedef struct ns_access ns_access;
typedef void ns_body(ns_task *self, void *arguments);

/* Spawn a child: run `body`, on this or another worker, with a copy of the `bytes` bytes at `arguments`, aligned as by
 * malloc. NS_ERROR_PROGRAM ends the run (see numasim/runtime.h) for a null body, null arguments with `bytes` above 0,
 * and too many bytes. */
void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes);

/* Wait until all children that `self` has spawned so far have ended. At the end of a body the runtime joins the
 * children that the body has not joined. A waiting task executes other tasks on its stack; NS_ERROR_MEMORY ends the run
 * if the stack is too small for this nesting. */
void ns_join(ns_task *self);

/* Run `body` at once, as a part of the task, but with children and joins of its own. (In a plain call of C, a join also
 * waits for the caller's children.) NS_ERROR_PROGRAM ends the run for a null body, and NS_ERROR_MEMORY if nested calls
 * do not fit the stack. */
void ns_call(ns_task *self, ns_body *body, void *arguments);

/* ---- dependences --------------------------------------------------------------------------------------------------
 *
 * A child may have to wait for other children of the same parent. If two children name the same address, the later
 * child waits for the earlier child, unless both children only read there, as with `depend` of OpenMP. So a program
 * that spawns its tasks in the order of a serial program runs in parallel as far as its data allow:
 *
 *     ns_spawn_after(self, factor, &step, sizeof step, NS_DEPEND(NS_INOUT(tile)));
 *     ns_spawn_after(self, divide, &next, sizeof next, NS_DEPEND(NS_IN(tile), NS_INOUT(below)));
 *     ns_join(self);
 *
 * Addresses are only compared. An address stands for data of any size; NULL stands for no data. Dependences hold among
 * the children of one task, or of one call by ns_call, up to the next join. */
enum ns_direction { NS_DIRECTION_IN = 1, NS_DIRECTION_OUT = 2, NS_DIRECTION_INOUT = 3 };

/* The use of an address by a child. `access`, which may be NULL, declares how the first segment of the child accesses
 * the data, as in ns_spawn_with. */
typedef struct {
    const void *address;
    enum ns_direction direction;
    const ns_access *access;
} ns_dependence;

/* Spawn a child, as ns_spawn does. The child begins when all siblings have ended that its `count` dependences make it
 * wait for. NS_ERROR_PROGRAM ends the run as in ns_spawn, for null dependences, for an unknown direction, and for
 * accesses that ns_access_declare refuses. */
void ns_spawn_after(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_dependence *dependences,
                    uint32_t count);

/* In C, a list of dependences as the last two arguments of ns_spawn_after. */
#define NS_DEPEND(...)                    \
    (const ns_dependence[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const ns_dependence[]){__VA_ARGS__}) / sizeof(ns_dependence))
#define NS_IN(ADDRESS) {(ADDRESS), NS_DIRECTION_IN, NULL}       /* the child reads */
#define NS_OUT(ADDRESS) {(ADDRESS), NS_DIRECTION_OUT, NULL}     /* the child writes */
#define NS_INOUT(ADDRESS) {(ADDRESS), NS_DIRECTION_INOUT, NULL} /* the child reads and writes */

#ifdef __cplusplus
}
#endif

#endif
