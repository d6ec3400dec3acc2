/* Tasks on fibers of their own: for spawns that execute the child first and let others steal the parent (work-first),
 * and for joins that leave the worker and go on where the last child ends (continuation). Inside source/thread*.c.
 *
 * A worker's home is the fiber that looks for work: its thread's own, or that of a task which waits while it executes
 * others. A task that ends or leaves goes home, and what is to be done once its fiber rests is done there: nobody can
 * go on with a fiber that is still being left.
 */
#ifndef NS_THREAD_FIBERS_H
#define NS_THREAD_FIBERS_H

#include "threads/threads.h"

/* A fiber with the task that is on it. */
typedef struct ns_thread_fiber ns_thread_fiber;
struct ns_thread_fiber {
    ns_fiber *fiber;
    ns_thread_task *task;
    ns_thread_fiber *next; /* in a list of those that rest */
};

/* The fibers of a worker's thread, which calls this: 0 or NS_ERROR_MEMORY. */
int ns_thread_fibers_create(ns_thread_worker *worker);
void ns_thread_fibers_destroy(ns_thread_worker *worker);

/* Execute a task, or go on with it, until it ends or leaves: from the worker's home. False where it has no fiber and
 * there is no memory for one: it is to be executed on the stack that one is on. */
bool ns_thread_fibers_enter(ns_thread_worker *worker, ns_thread_task *task);

/* What the worker has to go on with before it looks for work, or NULL. */
ns_thread_task *ns_thread_fibers_next(ns_thread_worker *worker);

/* Go on with `task` here, before the worker looks for work. */
void ns_thread_fibers_keep(ns_thread_worker *worker, ns_thread_task *task);

/* Execute `child` now; `parent`, which is running on a fiber, is offered to others meanwhile if `offered`, and goes on
 * here afterwards if it is not. False where there is no memory for a fiber. */
bool ns_thread_fibers_spawn(ns_thread_task *parent, ns_thread_task *child, bool offered);

/* Leave the worker until all children of `task` have ended; returns on the worker of the last one. */
void ns_thread_fibers_detach(ns_thread_task *task);

/* Execute tasks until the wait is over, which `task` waits in; its fiber is the worker's home meanwhile. */
void ns_thread_fibers_wait(ns_thread_task *task, const ns_thread_wait *wait);

#endif
