/* What the strategies keep of tasks that tell them apart: in which notes are written as tasks are spawned, begun, put
 * aside and ended. Nobody calls this in pools without notes.
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

/* Whether `child` is begun as `parent` spawns it, which leaves its rest to others (model 3.3 and 4.14). */
bool ns_thread_goes_first(ns_thread_worker *worker, ns_thread_task *parent, ns_thread_task *child);

/* Whom a leapfrogging task may steal from: the worker that has begun a child of it last, of those under way that are
 * not on its own worker, or NS_UNKNOWN (model 3.2). */
int32_t ns_thread_taker_of(const ns_thread_task *waiting);

/* The tier, the label and the number that a task is placed by. */
uint32_t ns_thread_tier_of(const ns_thread_pool *pool, const ns_thread_task *task);
int32_t ns_thread_label_of(const ns_thread_pool *pool, const ns_thread_task *task);
void ns_thread_number(const ns_thread_pool *pool, const ns_thread_task *task, ns_new_task *placed);

#endif
