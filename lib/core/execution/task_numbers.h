/* The number of a new task among the tasks of its phase, for the dispatch picks `cyclic` and `block` (model 4.13;
 * engine/reference/task_programs.py).
 *
 * The tasks of the present phase are numbered from 0: root by root in the order of the phase, and in program order
 * below each root. Calls and implicit bodies have no numbers. They are kept only if a dispatch rule asks for them. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

/* The subtree of a root: the id of the root, and the number of the subtree's first task. */
typedef struct {
    int64_t id, number;
} ns_numbered_tree;

typedef struct {
    const ns_full_plan *plan;
    int64_t *before;        /* [rows + 1] tasks among the rows before each row; NULL if every row is a task */
    ns_numbered_tree *tree; /* trees of the phase, sorted by id; NULL if no rule asks for numbers */
    uint64_t trees;
    uint64_t count; /* number of tasks of the phase */
    ns_pieces memory;
} ns_task_numbers;

/* Prepare the numbers of a plan that outlives `self`. Returns false if there is no memory. Release `memory` in either
 * case. */
bool ns_task_numbers_create(ns_task_numbers *self, const ns_full_plan *plan);

/* Whether a rule asks for the numbers of new tasks. */
static inline bool ns_task_numbers_are_asked_for(const ns_task_numbers *self) { return self->tree != NULL; }

/* Begin a phase. */
void ns_task_numbers_start_phase(ns_task_numbers *self, const ns_phase *phase);

/* Return the number of the phase's task with this id; 0 if no rule asks for numbers. */
uint64_t ns_task_number(const ns_task_numbers *self, int64_t id);
