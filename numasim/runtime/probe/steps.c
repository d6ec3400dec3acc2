/* Small steps of one thread: reading the clock, pausing in a waiting loop, switching to a fiber and back. */
#include "atomics.h"
#include "fiber.h"
#include "numasim/runtime.h"
#include "probe/probe.h"

enum { STEPS = 2000, STACK_BYTES = 65536 };

static void read_clock(void *context, uint32_t member) {
    volatile double *now = context;
    (void)member;
    for (int step = 0; step < STEPS; step++) *now = ns_now_ns();
}

static void pause_often(void *context, uint32_t member) {
    (void)context, (void)member;
    for (int step = 0; step < STEPS; step++) ns_pause();
}

static void yield_often(void *context, uint32_t member) {
    (void)context, (void)member;
    for (int step = 0; step < STEPS; step++) ns_yield();
}

static void sample_alone(ns_probe *self, const char *name, ns_team_body *body, void *context, double steps) {
    const ns_subject found = {name, NULL, "ns", NS_PROBE_NOWHERE, NS_PROBE_NOWHERE};
    ns_probe_sample(self, &found, &(ns_sampling){&self->topology->cpu[0].id, 1, body, context, steps, NULL, NULL});
}

void ns_probe_clock(ns_probe *self) {
    volatile double now = 0;
    sample_alone(self, "clock_read", read_clock, (void *)&now, STEPS);
    sample_alone(self, "pause", pause_often, NULL, STEPS);
    sample_alone(self, "yield", yield_often, NULL, STEPS);
}

/* ---- fibers ------------------------------------------------------------------------------------------------------ */

typedef struct {
    ns_fiber *thread, *fiber;
} pair;

static void come_back(void *context) {
    pair *self = context;
    for (;;) ns_fiber_switch(self->fiber, self->thread);
}

static void go_there(void *context, uint32_t member) {
    pair *self = context;
    (void)member;
    for (int step = 0; step < STEPS; step++) ns_fiber_switch(self->thread, self->fiber);
}

void ns_probe_fibers(ns_probe *self) {
    pair both = {0};
    int error = ns_fiber_adopt(&both.thread);
    if (!error) error = ns_fiber_create(&both.fiber, STACK_BYTES, come_back, &both);
    if (error) {
        ns_probe_miss(self, "fiber_switch", NULL, ns_error_sentence(error));
    } else {
        sample_alone(self, "fiber_switch", go_there, &both, 2 * STEPS);
        ns_fiber_destroy(both.fiber);
    }
    if (both.thread) ns_fiber_destroy(both.thread);
}
