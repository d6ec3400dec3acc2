/* The number of a new task among the tasks of its phase. Dispatch rules with the picks `cyclic` and `block` choose a
 * queue by this number (model 4.13; engine/reference/task_programs.py).
 *
 * The tasks of the present phase are numbered from 0: root (task without a parent) by root in the order of the phase,
 * and in program order below each root. Plain calls and the implicit tasks of OpenMP are not counted. Numbers are
 * computed only if the plan has such a rule. A row is an entry of the task graph. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

/* The tree below a root: the id of the root, and the number of the first task of the tree. */
typedef struct {
    int64_t id, number;
} ns_numbered_tree;

typedef struct {
    const ns_full_plan *plan;
    int64_t *before;        /* [rows + 1] tasks among the rows before each row; NULL if every row is a task */
    ns_numbered_tree *tree; /* [trees] trees of the phase, sorted by id; NULL if no rule asks for numbers */
    uint64_t trees;
    uint64_t count; /* number of tasks of the phase */
    ns_pieces memory;
} ns_task_numbers;

/* Initialise `self` for a plan, which must outlive `self`. Returns false if memory is short. The caller releases
 * `memory` in either case. */
bool ns_task_numbers_create(ns_task_numbers *self, const ns_full_plan *plan);

/* Return whether a dispatch rule asks for the numbers of new tasks. */
static inline bool ns_task_numbers_are_asked_for(const ns_task_numbers *self) { return self->tree != NULL; }

/* Begin a phase: number its tasks. */
void ns_task_numbers_start_phase(ns_task_numbers *self, const ns_phase *phase);

/* Return the number of the phase's task with this id; 0 if no rule asks for numbers. */
uint64_t ns_task_number(const ns_task_numbers *self, int64_t id);
