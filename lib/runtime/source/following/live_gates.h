/* How many subtrees are live in each unit of workers, counted by all workers at the same time, and gates that let no
 * more of them begin (model 4.14).
 *
 * Two workers that come to a gate at once must not both pass it for the last subtree. So who passes a gate counts for
 * one until it knows whether what it takes is the root of a subtree.
 */
#ifndef NS_LIVE_GATES_H
#define NS_LIVE_GATES_H

#include "threads/worker.h"

/* What the counts are, for a worker that decides. */
void ns_thread_see_live(const ns_thread_pool *pool, int64_t *live, int64_t *awaited);

/* Whether the worker passes the gate of a level, and counts for a live subtree from now on; and until now, where what
 * it has taken is not executed next. */
bool ns_thread_pass_gate(ns_thread_worker *worker, const ns_level *level);
void ns_thread_leave_gate(ns_thread_worker *worker);

/* The worker begins the task of a row, or goes on with it; a task has been spawned or called; one has ended. */
void ns_thread_live_begin(ns_thread_worker *worker, uint32_t row);
void ns_thread_live_create(ns_thread_pool *pool, uint32_t row);
void ns_thread_live_end(ns_thread_pool *pool, uint32_t row);

#endif
