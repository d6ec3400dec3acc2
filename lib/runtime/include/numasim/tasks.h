/* Tasks: what a body of a program calls to spawn children and to wait for them. Included by numasim/runtime.h, where
 * all else is, and by numasim/typed_tasks.h.
 */
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

/* Let `body` run, here or on another worker, with a copy of the `bytes` bytes at `arguments`, which lies as memory of
 * malloc does. NS_ERROR_PROGRAM ends the run (see numasim/runtime.h) for a null body, null arguments of some bytes, and
 * more bytes than there can be. */
void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes);

/* Wait until all children that `self` has spawned so far have finished. A body joins what it spawned before it returns;
 * if it does not, the runtime does it. NS_ERROR_MEMORY ends the run where tasks that are executed within each other do
 * not fit the stack. */
void ns_join(ns_task *self);

/* Run `body` here and now, as a part of the task with children and joins of its own. A plain call of C does as well,
 * but then a join waits for the caller's children, too. NS_ERROR_PROGRAM ends the run for a null body, NS_ERROR_MEMORY
 * where calls within each other do not fit the stack. */
void ns_call(ns_task *self, ns_body *body, void *arguments);

/* ---- dependences --------------------------------------------------------------------------------------------------
 *
 * A child may have to wait for others of the same parent: of two that name one address, the later one waits for the
 * earlier one unless both only read what is there, as with `depend` of OpenMP. So what a program writes down in the
 * order of a serial one runs in parallel as far as its data allow:
 *
 *     ns_spawn_after(self, factor, &step, sizeof step, NS_DEPEND(NS_INOUT(tile)));
 *     ns_spawn_after(self, divide, &next, sizeof next, NS_DEPEND(NS_IN(tile), NS_INOUT(below)));
 *     ns_join(self);
 *
 * Addresses are only compared: each stands for what the program says that it does, whatever its size, and NULL for
 * nothing. Dependences are among the children of one task, or of one part of it that ns_call runs, up to its next join.
 */
enum ns_direction { NS_DIRECTION_IN = 1, NS_DIRECTION_OUT = 2, NS_DIRECTION_INOUT = 3 };

/* What a child does with what is at an address; `access` says how its first segment accesses that, as those of
 * ns_spawn_with do, and may be NULL. */
typedef struct {
    const void *address;
    enum ns_direction direction;
    const ns_access *access;
} ns_dependence;

/* `ns_spawn` of a child that begins when those of its siblings have ended that `count` dependences make it wait for.
 * NS_ERROR_PROGRAM ends the run as in ns_spawn, for null dependences, for a direction that there is not, and for
 * accesses that ns_access_declare refuses. */
void ns_spawn_after(ns_task *self, ns_body *body, const void *arguments, size_t bytes, const ns_dependence *dependences,
                    uint32_t count);

/* A list of dependences as the last two arguments of ns_spawn_after, in C. */
#define NS_DEPEND(...)                    \
    (const ns_dependence[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const ns_dependence[]){__VA_ARGS__}) / sizeof(ns_dependence))
#define NS_IN(ADDRESS) {(ADDRESS), NS_DIRECTION_IN, NULL}       /* it reads what siblings before it write, */
#define NS_OUT(ADDRESS) {(ADDRESS), NS_DIRECTION_OUT, NULL}     /* writes what siblings before it read or write, */
#define NS_INOUT(ADDRESS) {(ADDRESS), NS_DIRECTION_INOUT, NULL} /* or both */

#ifdef __cplusplus
}
#endif

#endif
