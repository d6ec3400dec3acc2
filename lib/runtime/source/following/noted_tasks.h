/* Notes about tasks, for strategies that distinguish tasks. Only pools with notes call these functions.
 *
 * Some strategies limit the number of live subtrees of tasks in each unit, a group of workers (model 4.14). A gate lets
 * a worker pass only below the limit. If two workers come at once and one subtree is allowed, only one worker may pass.
 * So a passing worker counts as a live subtree, until it knows whether the taken task is the root of a subtree. */
#pragma once

#include "threads/worker.h"

/* Note that `parent` spawns or calls `child`. */
void ns_thread_note_child(ns_thread_worker *worker, const ns_thread_task *parent, ns_thread_task *child);

/* Note that the worker begins or resumes `task`: ns_thread_note_begin for a task from a queue or from the deal of
 * roots, ns_thread_note_begin_here for a task that begins at its spawn or call. */
void ns_thread_note_begin(ns_thread_worker *worker, ns_thread_task *task);
void ns_thread_note_begin_here(ns_thread_worker *worker, ns_thread_task *task);

/* Note that `task` has ended on the worker. */
void ns_thread_note_end(ns_thread_worker *worker, ns_thread_task *task);

/* Return whether `child` begins at its spawn, which leaves the rest of `parent` to other workers (model 3.3, 4.14). */
bool ns_thread_goes_first(ns_thread_worker *worker, ns_thread_task *parent, ns_thread_task *child);

/* Return the worker from which a leapfrogging task may steal: the worker that began the newest of the task's running
 * children on other workers; or NS_UNKNOWN (model 3.2). */
int32_t ns_thread_taker_of(const ns_thread_task *waiting);

/* Return the tier, the label and the number of a task, by which the strategy places the task. */
uint32_t ns_thread_tier_of(const ns_thread_pool *pool, const ns_thread_task *task);
int32_t ns_thread_label_of(const ns_thread_pool *pool, const ns_thread_task *task);
void ns_thread_number(const ns_thread_pool *pool, const ns_thread_task *task, ns_new_task *placed);

/* ---- live subtrees ----------------------------------------------------------------------------------------------- */

/* Copy the present counts of live subtrees of all units. */
void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited);

/* Return whether the worker passes the gate of a level. A worker that passes counts as one live subtree, until it
 * leaves the gate because it does not execute the taken task. */
bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level);
void ns_thread_leave_gate(ns_thread_worker *worker);

/* Note that the worker begins or resumes the task of a row; note that the task of a row has ended. */
void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row);
void ns_thread_live_end(ns_thread_worker *worker, uint32_t row);
