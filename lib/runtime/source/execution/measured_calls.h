/* How long the own segments of tasks take, where a controller is told (model 4.12): the time from one call into the
 * runtime to the next. What tasks call is then a table that measures around the calls of the way to execute them.
 */
#ifndef NS_MEASURED_CALLS_H
#define NS_MEASURED_CALLS_H

#include "threads/worker.h"

extern const ns_task_operations ns_thread_measured_calls;

/* A segment of a task begins; it ends, if one is under way. */
void ns_thread_segment_begins(ns_thread_task *task);
void ns_thread_segment_ends(ns_thread_task *task);

#endif
