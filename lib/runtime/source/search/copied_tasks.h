/* Tasks that dispatch rules have left copies of: entries in several queues that stand for one task (model 4.13).
 * Whoever takes one of them first has the task; the others are dropped by those who come to them.
 *
 * An entry of a queue is the task, or a ticket of it, which the lowest bit tells. The ticket outlives the task: it goes
 * with the last entry.
 */
#ifndef NS_COPIED_TASKS_H
#define NS_COPIED_TASKS_H

#include "threads/worker.h"

/* Push a task that was placed by a rule into queue `q`, and a copy into each of `copy` that has room; false where `q`
 * has none. Pushes one task after the other by `push`. */
bool ns_thread_push_copies(ns_thread_worker *worker, uint32_t q, const uint32_t *copy, uint32_t copies,
                           ns_thread_task *task, bool (*push)(ns_thread_worker *worker, uint32_t q, void *entry));

/* The task of an entry that was taken, or NULL where there is none, or where somebody else has it. */
ns_thread_task *ns_thread_claim(void *entry);

#endif
