/* The order in which the phases of a program run, with the loops around the phases (model 3.6;
 * numasim/workload/phases.py). A step is one run of a phase. Programs may have very many, so that steps are computed
 * one by one. */
#pragma once

#include "base/pieces.h"
#include "generated/plan_structs.h"

/* The state of a loop that the program is in. */
typedef struct {
    int64_t pass;   /* how many passes have ended */
    int64_t around; /* the loop around this loop, or NS_NO_LOOP */
} ns_loop_state;

/* The present step. */
typedef struct {
    const ns_phase_list *phases;
    const ns_loop_list *loops;
    int64_t *turn;        /* [phases] how often each phase has run before */
    ns_loop_state *state; /* [loops] */
    int64_t phase;        /* the phase that runs; after the last step the number of phases */
    int64_t again;        /* how often the phase has run in a row before */
    int64_t next_loop;    /* the first loop that this pass has not entered */
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

/* The number of the pass through the outermost loop. A phase outside of all loops is a loop of its own repeats. */
static inline int64_t ns_steps_iteration(const ns_steps *self) {
    return self->outer == NS_NO_LOOP ? self->again : self->state[self->outer].pass;
}

/* How often the present phase has run before. */
static inline int64_t ns_steps_turn(const ns_steps *self) { return self->turn[self->phase]; }

/* Whether the iteration ends with the present step. */
bool ns_steps_ends_iteration(const ns_steps *self);
