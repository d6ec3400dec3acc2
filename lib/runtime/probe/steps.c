/* Small steps of one thread: reading the clock, pausing in a waiting loop, switching to a fiber and back. */
#include "numasim/runtime.h"
#include "platform/atomics.h"
#include "platform/fiber.h"
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

void ns_probe_clock(ns_probe *self) {
    volatile double now = 0;
    ns_probe_alone(self, "clock_read",
                   &(ns_sampling){.body = read_clock, .context = (void *)&now, .operations = STEPS});
    ns_probe_alone(self, "pause", &(ns_sampling){.body = pause_often, .operations = STEPS});
    ns_probe_alone(self, "yield", &(ns_sampling){.body = yield_often, .operations = STEPS});
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
        ns_probe_alone(self, "fiber_switch",
                       &(ns_sampling){.body = go_there, .context = &both, .operations = 2 * STEPS});
        ns_fiber_destroy(both.fiber);
    }
    if (both.thread) ns_fiber_destroy(both.thread);
}
