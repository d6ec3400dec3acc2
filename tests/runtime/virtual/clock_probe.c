/* The clock of the core, which is inline, behind functions that the tests can call. */
#include "clock/clock.h"

bool probe_next(const ns_clock *self, int64_t *time_ps, uint32_t *rank, uint32_t *actor);
void probe_set(ns_clock *self, size_t slot, int64_t time_ps, uint32_t rank, uint32_t actor);
void probe_clear(ns_clock *self, size_t slot);

bool probe_next(const ns_clock *self, int64_t *time_ps, uint32_t *rank, uint32_t *actor) {
    const ns_event_key next = ns_clock_next(self);
    *time_ps = ns_event_time(next);
    *rank = ns_event_rank(next);
    *actor = ns_event_actor(next);
    return next != NS_NO_EVENT;
}

void probe_set(ns_clock *self, size_t slot, int64_t time_ps, uint32_t rank, uint32_t actor) {
    ns_clock_set(self, slot, ns_event_key_of(time_ps, rank, actor));
}

void probe_clear(ns_clock *self, size_t slot) { ns_clock_clear(self, slot); }
