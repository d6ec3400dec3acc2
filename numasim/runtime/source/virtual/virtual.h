/* What a body that executes the plan's own graph has to know of its task. */
#ifndef NS_VIRTUAL_H
#define NS_VIRTUAL_H

#include "numasim/runtime.h"
#include "plan/plan_reader.h"

/* The plan of a pool of virtual time. */
const ns_full_plan *ns_virtual_plan(const ns_pool *pool);

/* The row of a task in the plan's graph. */
uint32_t ns_virtual_row(const ns_task *task);

/* Begin a group; end the innermost one that the task has begun, when all its tasks have finished. */
void ns_virtual_begin_group(ns_task *task);
void ns_virtual_end_group(ns_task *task);

#endif
