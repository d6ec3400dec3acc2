/* Groups of tasks in virtual time (model 3.1 and 3.2). Equal, event for event, to engine/reference/executor.py. */
#include <stdlib.h>

#include "virtual/virtual_state.h"

void ns_virtual_enter_group(virtual_task *task, const virtual_task *parent) {
    task->group = parent->innermost ? parent->innermost : parent->group;
}

void ns_virtual_close_groups(virtual_task *task) {
    while (task->innermost) {
        virtual_group *ended = task->innermost;
        task->innermost = ended->around;
        free(ended);
    }
}

bool ns_virtual_gathers(const virtual_task *task) {
    return task->innermost && ns_virtual_op_at(pool_of(worker_of(task)), task) == NS_OP_END_GROUP;
}

uint32_t ns_virtual_awaited(const virtual_task *task) {
    return ns_virtual_gathers(task) ? task->innermost->members : task->pending;
}
