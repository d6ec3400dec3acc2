/* The order in which the phases of a program run, with the loops around the phases (model 3.6;
 * numasim/workload/phases.py). A step is one run of a phase. A program may have so many steps that they are not listed:
 * each step is computed from the step before. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

/* The state of a loop around the present phase. */
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
    int64_t again;        /* how many runs of the phase directly precede the step */
    int64_t next_loop;    /* the next loop that may be entered in this pass */
    int64_t inner, outer; /* the innermost and the outermost loop around the phase, or NS_NO_LOOP */
    ns_pieces memory;
} ns_steps;

#define NS_NO_LOOP INT64_C(-1)

/* Begin with the first step of a plan. Returns false if there is no memory. Release `memory` in either case. */
bool ns_steps_create(ns_steps *self, const ns_full_plan *plan);

/* Whether there is a present step; false after the last step. */
static inline bool ns_steps_run(const ns_steps *self) { return self->phase < (int64_t)self->phases->count; }

/* Go on to the next step. */
void ns_steps_next(ns_steps *self);

/* The number of the present pass through the outermost loop. Outside of all loops, the number of the phase's repeat. */
static inline int64_t ns_steps_iteration(const ns_steps *self) {
    return self->outer == NS_NO_LOOP ? self->again : self->state[self->outer].pass;
}

/* How often the present phase has run before the present step. */
static inline int64_t ns_steps_turn(const ns_steps *self) { return self->turn[self->phase]; }

/* Whether the iteration (`ns_steps_iteration`) ends with the present step. */
bool ns_steps_ends_iteration(const ns_steps *self);
