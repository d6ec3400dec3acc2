/* The order in which the phases of a program run (model 3.6; numasim/workload/phases.py). A phase is a part of the
 * program after which all workers meet. A phase runs `repeat` times, one run after the other, and loops around phases
 * repeat several phases. A step is one run of one phase. Each step is computed from the step before, since a list of
 * all steps could be too long. An iteration is a pass through the outermost loop; outside of loops, it is a step. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

/* The state of a loop around the phase of the present step. */
typedef struct {
    int64_t pass;   /* how many passes through the loop have ended */
    int64_t around; /* the innermost loop around this loop, or NS_NO_LOOP */
} ns_loop_state;

/* The present step. */
typedef struct {
    const ns_phase_list *phases;
    const ns_loop_list *loops;
    int64_t *turn;        /* [phases] how many runs of each phase have ended */
    ns_loop_state *state; /* [loops] */
    int64_t phase;        /* the phase of the step; after the last step: the number of phases */
    int64_t again;        /* how many of the phase's `repeat` runs have ended before this step */
    int64_t next_loop;    /* the next loop in `loops` that the program can enter */
    int64_t inner, outer; /* the innermost and the outermost loop around the phase, or NS_NO_LOOP */
    ns_pieces memory;
} ns_steps;

#define NS_NO_LOOP INT64_C(-1)

/* Set `self` to the first step of the plan. Returns false if memory is short. The caller releases `memory` in either
 * case. */
bool ns_steps_create(ns_steps *self, const ns_full_plan *plan);

/* Return whether there is a present step; false after the last step. */
static inline bool ns_steps_run(const ns_steps *self) { return self->phase < (int64_t)self->phases->count; }

/* Go on to the next step. */
void ns_steps_next(ns_steps *self);

/* Return the number, from 0, of the present pass through the outermost loop; outside of loops, of the phase's run. */
static inline int64_t ns_steps_iteration(const ns_steps *self) {
    return self->outer == NS_NO_LOOP ? self->again : self->state[self->outer].pass;
}

/* Return how often the phase of the present step has run before, in all passes through loops. */
static inline int64_t ns_steps_turn(const ns_steps *self) { return self->turn[self->phase]; }

/* Return whether the present step is the last step of its iteration. */
bool ns_steps_ends_iteration(const ns_steps *self);
