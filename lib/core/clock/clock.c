#include "clock/clock.h"

#include <stdlib.h>

enum { KEY_BITS = 64, FEW = 16 };

/* Slots of which the tree is made: a power of two, so that all paths to the root are equally long and no end of one is
 * mispredicted, but where only a few more than such are needed, those alone have longer ones. */
static size_t tree_slots(size_t needed) {
    size_t slots = 2;
    while (2 * slots <= needed) slots *= 2;
    return needed <= slots ? slots : needed - slots <= slots / FEW ? needed : 2 * slots;
}

static uint32_t bits_for(size_t numbers) {
    uint32_t bits = 1;
    while ((UINT64_C(1) << bits) < numbers) bits++;
    return bits;
}

bool ns_clock_create(ns_clock *self, size_t slots) {
    *self = (ns_clock){.slots = tree_slots(slots), .actor_bits = bits_for(slots)};
    self->time_shift = self->actor_bits + NS_RANK_BITS;
    self->window_ps = (UINT64_C(1) << (KEY_BITS - self->time_shift)) - 1;
    self->keys = malloc(2 * self->slots * sizeof *self->keys);
    self->later = malloc(self->slots * sizeof *self->later);
    if (!self->keys || !self->later) {
        ns_clock_destroy(self);
        return false;
    }
    for (size_t at = 0; at < 2 * self->slots; at++) self->keys[at] = NS_NO_SHORT_KEY;
    return true;
}

void ns_clock_destroy(ns_clock *self) {
    free(self->keys);
    free(self->later);
    self->keys = NULL;
    self->later = NULL;
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

static ns_event_key pending_at(const ns_clock *self, size_t slot) {
    const uint64_t key = self->keys[self->slots + slot];
    if (key == NS_NO_SHORT_KEY) return NS_NO_EVENT;
    return key == NS_LATER_EVENT ? self->later[slot] : ns_clock_lengthen(self, key);
}

static void move_window(ns_clock *self, int64_t begin_ps) {
    for (size_t slot = 0; slot < self->slots; slot++) self->later[slot] = pending_at(self, slot);
    self->window_begin_ps = begin_ps;
    for (size_t slot = 0; slot < self->slots; slot++) {
        const ns_event_key key = self->later[slot];
        const bool in_window = ns_clock_is_in_window(self, key);
        const uint64_t outside = key == NS_NO_EVENT ? NS_NO_SHORT_KEY : NS_LATER_EVENT;
        self->keys[self->slots + slot] = in_window ? ns_clock_shorten(self, key) : outside;
    }
    for (size_t at = self->slots; --at != 0;) {
        const uint64_t one = self->keys[2 * at], other = self->keys[2 * at + 1];
        self->keys[at] = one < other ? one : other;
    }
}

uint64_t ns_clock_put_away(ns_clock *self, size_t slot, ns_event_key key) {
    if (key == NS_NO_EVENT) return NS_NO_SHORT_KEY;
    if (ns_event_time(key) < self->window_begin_ps) {
        move_window(self, ns_event_time(key));
        return ns_clock_shorten(self, key);
    }
    self->later[slot] = key;
    return NS_LATER_EVENT;
}

uint64_t ns_clock_take_later(ns_clock *self) {
    ns_event_key first = NS_NO_EVENT;
    for (size_t slot = 0; slot < self->slots; slot++) {
        const ns_event_key key = pending_at(self, slot);
        if (key < first) first = key;
    }
    move_window(self, ns_event_time(first));
    return self->keys[1];
}
