/* The number of a new task among the tasks of its phase, and how many these are, for the dispatch picks `cyclic` and
 * `block` (model 4.13). engine/reference/task_programs.py gives the same numbers.
 *
 * The tasks of the phase that runs are numbered from 0: root by root in the order of the phase, in program order below
 * each root. Calls and implicit bodies are not counted. If no rule of the strategy asks for numbers, none are kept.
 */
#ifndef NUMASIM_EXECUTION_TASK_NUMBERS_H
#define NUMASIM_EXECUTION_TASK_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The subtree of a root: the id of the root, and the number of the subtree's first task. */
typedef struct {
    int64_t id, number;
} ns_numbered_tree;

typedef struct {
    const ns_full_plan *plan;
    int64_t *before;        /* [rows + 1] tasks in front of each row; NULL where every row is a task */
    ns_numbered_tree *tree; /* of the phase that runs, by id; NULL where nobody asks for numbers */
    uint64_t trees;
    uint64_t count; /* tasks of the phase */
} ns_task_numbers;

/* For a plan that lives as long. False where there is no memory; to be destroyed in any case. */
bool ns_task_numbers_create(ns_task_numbers *self, const ns_full_plan *plan);
void ns_task_numbers_destroy(ns_task_numbers *self);

/* Whether rules ask which task of how many a new one is. */
static inline bool ns_task_numbers_are_asked_for(const ns_task_numbers *self) { return self->tree != NULL; }

/* A phase begins. */
void ns_task_numbers_start_phase(ns_task_numbers *self, const ns_phase *phase);

/* The number of the task with that id, which the phase has; 0 where nobody asks. */
uint64_t ns_task_number(const ns_task_numbers *self, int64_t id);

#ifdef __cplusplus
}
#endif

#endif
