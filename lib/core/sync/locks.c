#include "sync/locks.h"

#include <stdlib.h>

#include "base/wide.h"

/* How many lines an actor fetches, one after the other, to get a free lock. */
static int64_t lines_when_free(enum ns_lock_kind kind) { return kind == NS_LOCK_CLH ? 2 : 1; }

int64_t ns_lock_free_ps(enum ns_lock_kind kind, const ns_transfers *transfers, const ns_line *line, uint32_t actor) {
    return lines_when_free(kind) * ns_line_to_ps(transfers, line, actor);
}

/* The release of a lock. */
typedef struct {
    const ns_lock_rules *rules;
    const ns_transfers *transfers;
    const ns_line *line;
    const ns_waiter *waiters;
    uint32_t count;
} release;

static int64_t transfer_ps(const release *self, uint32_t place) {
    return ns_line_to_ps(self->transfers, self->line, self->waiters[place].actor);
}

static bool is_remote(const release *self, uint32_t place) {
    return ns_node_of(self->transfers, self->waiters[place].actor) != ns_node_of(self->transfers, self->line->owner);
}

/* The place among the waiters of the waiter that gets the lock's line first. */
static uint32_t winner(const release *self) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < self->count && !self->rules->fair; i++) {
        if (transfer_ps(self, i) < transfer_ps(self, best)) best = i;
    }
    return best;
}

static ns_grant test_and_set(const release *self) {
    const uint32_t place = winner(self);
    ns_wide delay = (ns_wide)transfer_ps(self, place) + self->rules->pause_ps / 2;
    for (uint32_t i = 0; i < self->count; i++) {
        const int64_t step = transfer_ps(self, i);
        const int64_t every = step > self->rules->pause_ps ? step : self->rules->pause_ps;
        if (i != place && step != 0) delay += (ns_wide)step * step / every;
    }
    return (ns_grant){place, ns_saturate(delay)};
}

static ns_grant ticket(const release *self) {
    ns_wide others = 0;
    for (uint32_t i = 1; i < self->count; i++) others += transfer_ps(self, i);
    return (ns_grant){0, ns_saturate(transfer_ps(self, 0) + others / 2)};
}

static ns_grant mutex(const release *self, int64_t now) {
    const ns_lock_rules *rules = self->rules;
    const bool wakes_remotely = ns_line_wakes_remotely(self->transfers, self->line, self->waiters[0].actor);
    int64_t delay = transfer_ps(self, 0);
    if (now - self->waiters[0].since_ps > rules->spin_ps)
        delay += rules->futex_ps + (wakes_remotely ? rules->wake_remote_ps : rules->wake_ps);
    return (ns_grant){0, delay};
}

/* The place of the first waiter on another node (`remote`) or on the same node (not `remote`); `count`: none. */
static uint32_t first_waiter(const release *self, bool remote) {
    uint32_t place = 0;
    while (place < self->count && is_remote(self, place) != remote) place++;
    return place;
}

static ns_grant cohort(const release *self, int64_t *run) {
    const int64_t batch = self->rules->batch;
    const uint32_t local = first_waiter(self, false);
    const bool stays = local < self->count && (*run < batch || first_waiter(self, true) == self->count);
    const uint32_t place = stays ? local : first_waiter(self, true);
    *run = stays ? *run % batch + 1 : 0;
    return (ns_grant){place, transfer_ps(self, place)};
}

ns_grant ns_lock_next(enum ns_lock_kind kind, const ns_lock_rules *rules, const ns_transfers *transfers,
                      const ns_line *line, const ns_waiter *waiters, uint32_t count, int64_t now, int64_t *run) {
    const release released = {rules, transfers, line, waiters, count};
    uint32_t place;
    switch (kind) {
        case NS_LOCK_TAS: return test_and_set(&released);
        case NS_LOCK_TTAS: place = winner(&released); return (ns_grant){place, transfer_ps(&released, place)};
        case NS_LOCK_TICKET: return ticket(&released);
        case NS_LOCK_MUTEX: return mutex(&released, now);
        case NS_LOCK_COHORT: return cohort(&released, run);
        default: return (ns_grant){0, transfer_ps(&released, 0)};
    }
}

enum { FIRST_ROOM = 4 };

bool ns_server_make_room(ns_server *self) {
    if (2 * self->count > self->room || !self->room) {
        const uint32_t room = self->room ? 2 * self->room : FIRST_ROOM;
        ns_waiter *grown = realloc(self->places, room * sizeof *grown);
        if (!grown) return false;
        self->places = grown;
        self->room = room;
    }
    if (self->count) memmove(self->places, ns_server_waiters(self), self->count * sizeof *self->places);
    self->first = 0;
    return true;
}
