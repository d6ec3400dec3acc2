/* Notes about tasks, for strategies that tell tasks apart: written when tasks are spawned, begun, put aside and ended.
 * Only pools with notes call these functions.
 *
 * Some strategies limit how many subtrees are live in each unit of workers (model 4.14). All workers count live
 * subtrees at the same time. A gate lets a worker pass only below the limit. Two workers that come to a gate at once
 * must not both pass for the last subtree. So a worker that passes counts for one subtree, until it knows whether the
 * task that it takes is the root of a subtree.
 */
#ifndef NS_NOTED_TASKS_H
#define NS_NOTED_TASKS_H

#include "threads/worker.h"

/* `parent` has spawned `child`, or calls it. */
void ns_thread_note_child(ns_thread_worker *worker, const ns_thread_task *parent, ns_thread_task *child);

/* The worker begins `task`, or goes on with it, out of a queue or as it is dealt; or as it is spawned or called. */
void ns_thread_note_begin(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_note_begin_here(ns_thread_worker *worker, ns_thread_task *task);

/* `task` has ended on the worker. */
void ns_thread_note_end(ns_thread_worker *worker, ns_thread_task *task);

/* Returns whether `child` is begun as `parent` spawns it, which leaves the rest of `parent` to others (model 3.3,
 * 4.14).
 */
bool ns_thread_goes_first(ns_thread_worker *worker, ns_thread_task *parent, ns_thread_task *child);

/* Returns the worker that a leapfrogging task may steal from: of the children under way that are not on its own worker,
 * the worker that began the newest one; or NS_UNKNOWN (model 3.2). */
int32_t ns_thread_taker_of(const ns_thread_task *waiting);

/* The tier, the label and the number by which a task is placed. */
uint32_t ns_thread_tier_of(const ns_thread_pool *pool, const ns_thread_task *task);
int32_t ns_thread_label_of(const ns_thread_pool *pool, const ns_thread_task *task);
void ns_thread_number(const ns_thread_pool *pool, const ns_thread_task *task, ns_new_task *placed);

/* ---- live subtrees ----------------------------------------------------------------------------------------------- */

/* Copy the present counts of all units. */
void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited);

/* Returns whether the worker passes the gate of a level. It then counts for a live subtree, until it leaves the gate
 * because it does not execute the task that it has taken. */
bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level);
void ns_thread_leave_gate(ns_thread_worker *worker);

/* The worker begins the task of a row, or goes on with it; the task of a row has ended. */
void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row);
void ns_thread_live_end(ns_thread_pool *pool, uint32_t row);

#endif
