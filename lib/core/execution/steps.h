/* In which order the phases of a program run, with the loops around them: numasim/workload/phases.py says it
 * (model 3.6). What comes next is found step by step, since there may be very many.
 */
#ifndef NUMASIM_EXECUTION_STEPS_H
#define NUMASIM_EXECUTION_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/plan_structs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is kept of a loop that the program is in. */
typedef struct {
    int64_t pass;   /* how often it has gone through the loop */
    int64_t around; /* the loop around this one, or NS_NO_LOOP */
} ns_loop_state;

/* The step that runs. */
typedef struct {
    const ns_phase_list *phases;
    const ns_loop_list *loops;
    int64_t *turn;        /* [phases] how often each has run before */
    ns_loop_state *state; /* [loops] */
    int64_t phase;        /* that runs; their number behind the last step */
    int64_t again;        /* how often it has just run in a row */
    int64_t next_loop;    /* the first loop that has not been entered in this pass */
    int64_t inner, outer; /* the innermost and the outermost loop around the phase, or NS_NO_LOOP */
} ns_steps;

#define NS_NO_LOOP INT64_C(-1)

/* Begin with the first step of a plan; false where memory is short. */
bool ns_steps_create(ns_steps *self, const ns_full_plan *plan);
void ns_steps_destroy(ns_steps *self);

/* Whether there is a step; false behind the last one. */
static inline bool ns_steps_run(const ns_steps *self) { return self->phase < (int64_t)self->phases->count; }

/* Go on to the next step. */
void ns_steps_next(ns_steps *self);

/* The number of the pass through the outermost loop; a phase that stands alone is a loop of its own repeats. */
static inline int64_t ns_steps_iteration(const ns_steps *self) {
    return self->outer == NS_NO_LOOP ? self->again : self->state[self->outer].pass;
}

/* How often the phase has run before. */
static inline int64_t ns_steps_turn(const ns_steps *self) { return self->turn[self->phase]; }

/* Whether the iteration ends with this step. */
bool ns_steps_ends_iteration(const ns_steps *self);

#ifdef __cplusplus
}
#endif

#endif
