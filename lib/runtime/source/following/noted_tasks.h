/* Notes about tasks, for strategies that distinguish tasks by their row (entry) in the plan's task graph. Only pools
 * with notes call these functions. Some strategies limit the number of live subtrees of tasks in each unit (group of
 * workers): of subtrees whose root has begun, and that have not ended (model 4.14). The gate of a steal level lets a
 * worker take a task only below the limit. Since several workers may come at once, a worker that passes the gate counts
 * as a live subtree itself, until it knows whether the task that it has taken is the root of a subtree. */
#pragma once

#include "threads/worker.h"

/* Note that `parent` spawns or calls `child`: find the row of the child. */
void ns_thread_note_child(ns_thread_worker *worker, const ns_thread_task *parent, ns_thread_task *child);

/* Note that the worker begins or resumes `task`: ns_thread_note_begin_here if the task begins at its spawn or call,
 * ns_thread_note_begin otherwise. */
void ns_thread_note_begin(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_note_begin_here(ns_thread_worker *worker, ns_thread_task *task);

/* Note that `task` has ended on the worker. */
void ns_thread_note_end(ns_thread_worker *worker, ns_thread_task *task);

/* Return whether `child` begins at its spawn, and the rest of `parent` goes into a queue (model 3.3, 4.14). */
bool ns_thread_goes_first(ns_thread_worker *worker, ns_thread_task *parent, ns_thread_task *child);

/* Return the worker from which a task in a leapfrogging join may steal: of the task's running children on other workers
 * the one that began last, its worker; or NS_UNKNOWN (model 3.2). */
int32_t ns_thread_taker_of(const ns_thread_task *waiting);

/* Return the tier of a task (of its last child, if the task has begun and now offers its rest) and the unit for which
 * it is meant; set the task's number in `placed`. By these the strategy chooses the task's queue. */
uint32_t ns_thread_tier_of(const ns_thread_pool *pool, const ns_thread_task *task);
int32_t ns_thread_label_of(const ns_thread_pool *pool, const ns_thread_task *task);
void ns_thread_number(const ns_thread_pool *pool, const ns_thread_task *task, ns_new_task *placed);

/* ---- live subtrees ----------------------------------------------------------------------------------------------- */

/* Copy the present counts of live subtrees, and of subtrees that have not begun, to arrays [units]. */
void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited);

/* Return whether the worker passes the gate of a level. If so, and if the level has a gate, the worker counts as a live
 * subtree until ns_thread_leave_gate, or until it begins the root of a subtree. */
bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level);
void ns_thread_leave_gate(ns_thread_worker *worker);

/* Note that the worker begins or resumes the task of a row; that the task of a row has ended. */
void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row);
void ns_thread_live_end(ns_thread_worker *worker, uint32_t row);
