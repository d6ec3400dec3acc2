#include "execution/steps.h"

/* Enter all loops that begin with the present phase. */
static void enter_loops(ns_steps *self) {
    while (self->next_loop < (int64_t)self->loops->count && self->loops->at[self->next_loop].first == self->phase) {
        self->state[self->next_loop] = (ns_loop_state){.around = self->inner};
        if (self->inner == NS_NO_LOOP) self->outer = self->next_loop;
        self->inner = self->next_loop++;
    }
}

/* Whether the present phase is the last phase of the last pass through the loop. */
static bool is_last_pass(const ns_steps *self, int64_t loop) {
    const ns_loop *one = &self->loops->at[loop];
    return one->end == self->phase + 1 && self->state[loop].pass + 1 == one->repeat;
}

bool ns_steps_create(ns_steps *self, const ns_full_plan *plan) {
    *self = (ns_steps){.phases = &plan->phases, .loops = &plan->loops, .inner = NS_NO_LOOP, .outer = NS_NO_LOOP};
    self->turn = ns_pieces_take(&self->memory, plan->phases.count + 1, sizeof *self->turn);
    self->state = ns_pieces_take(&self->memory, plan->loops.count, sizeof *self->state);
    if (self->memory.is_short) return false;
    enter_loops(self);
    return true;
}

void ns_steps_next(ns_steps *self) {
    self->turn[self->phase]++;
    if (++self->again < self->phases->at[self->phase].repeat) return;
    self->again = 0;
    while (self->inner != NS_NO_LOOP && is_last_pass(self, self->inner)) self->inner = self->state[self->inner].around;
    if (self->inner == NS_NO_LOOP) self->outer = NS_NO_LOOP;
    const ns_loop *loop = self->inner == NS_NO_LOOP ? NULL : &self->loops->at[self->inner];
    if (loop && loop->end == self->phase + 1) {
        self->state[self->inner].pass++;
        self->phase = loop->first;
        self->next_loop = self->inner + 1;
    } else {
        self->phase++;
    }
    enter_loops(self);
}

bool ns_steps_ends_iteration(const ns_steps *self) {
    if (self->outer == NS_NO_LOOP) return true;
    if (self->again + 1 < self->phases->at[self->phase].repeat) return false;
    for (int64_t loop = self->inner; loop != self->outer; loop = self->state[loop].around) {
        if (!is_last_pass(self, loop)) return false;
    }
    return self->loops->at[self->outer].end == self->phase + 1;
}
