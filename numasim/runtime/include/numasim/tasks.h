/* Tasks: what a body of a program calls to spawn children and to wait for them. Included by numasim/runtime.h, where
 * all else is, and by numasim/typed_tasks.h.
 */
#ifndef NUMASIM_TASKS_H
#define NUMASIM_TASKS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ns_pool ns_pool;
typedef struct ns_task ns_task;
typedef void ns_body(ns_task *self, void *arguments);

/* Let `body` run, here or on another worker, with a copy of the `bytes` bytes at `arguments`, which lies as memory of
 * malloc does. */
void ns_spawn(ns_task *self, ns_body *body, const void *arguments, size_t bytes);

/* Wait until all children that `self` has spawned so far have finished. A body joins what it spawned before it returns;
 * if it does not, the runtime does it. */
void ns_join(ns_task *self);

/* Run `body` here and now, as a part of the task with children and joins of its own. A plain call of C does as well,
 * but then a join waits for the caller's children, too. */
void ns_call(ns_task *self, ns_body *body, void *arguments);

#ifdef __cplusplus
}
#endif

#endif
