#include "clock/clock.h"

#include <stdlib.h>

bool ns_clock_create(ns_clock *self, size_t slots) {
    *self = (ns_clock){.leaves = 2, .levels = 2};
    while (self->leaves < slots) {
        self->leaves *= 2;
        self->levels++;
    }
    self->keys = malloc(2 * self->leaves * sizeof *self->keys);
    if (!self->keys) return false;
    for (size_t at = 0; at < 2 * self->leaves; at++) self->keys[at] = NS_NO_EVENT;
    return true;
}

void ns_clock_destroy(ns_clock *self) {
    free(self->keys);
    self->keys = NULL;
}

bool ns_clock_has_progress(const ns_clock *self) {
    for (size_t slot = 0; slot < self->leaves; slot++) {
        const ns_event_key key = self->keys[self->leaves + slot];
        const uint32_t rank = ns_event_rank(key);
        if (key != NS_NO_EVENT && rank != NS_RANK_LOOK && rank != NS_RANK_POLL) return true;
    }
    return false;
}
