#include "sync/locks.h"

#include <stdlib.h>

#include "base/wide.h"

/* Return how many cache lines an actor fetches, one after the other, to get a free lock. */
static int64_t lines_when_free(enum ns_lock_kind kind) { return kind == NS_LOCK_CLH ? 2 : 1; }

int64_t ns_lock_free_ps(enum ns_lock_kind kind, const ns_transfers *transfers, const ns_line *line, uint32_t actor) {
    return lines_when_free(kind) * ns_line_to_ps(transfers, line, actor);
}

/* The release of a lock, whose cache line is `line`, with `count` waiters. The functions below speak of a waiter by its
 * place: its position among the waiters, which are in the order of their arrival. */
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

/* Return the waiter to which the line moves fastest, the first of several; with fair locks, the first waiter. */
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

/* Whether a waiter of a `mutex` or `barging` lock sleeps: it has waited for longer than the time of spinning. */
static bool sleeps(const release *self, uint32_t place, int64_t now) {
    return now - self->waiters[place].since_ps > self->rules->spin_ps;
}

/* Return the time from the release until a sleeping waiter is awake, in ps. */
static int64_t wake_up_ps(const release *self, uint32_t place) {
    const bool remote = ns_line_wakes_remotely(self->transfers, self->line, self->waiters[place].actor);
    return self->rules->futex_ps + (remote ? self->rules->wake_remote_ps : self->rules->wake_ps);
}

static ns_grant mutex(const release *self, int64_t now) {
    return (ns_grant){0, transfer_ps(self, 0) + (sleeps(self, 0, now) ? wake_up_ps(self, 0) : 0)};
}

/* Return the first waiter on another node (`remote`), or on the same node (not `remote`), than the releasing actor;
 * `count` if there is none. */
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
        case NS_LOCK_MUTEX:
        case NS_LOCK_BARGING: return mutex(&released, now);
        case NS_LOCK_COHORT: return cohort(&released, run);
        default: return (ns_grant){0, transfer_ps(&released, 0)};
    }
}

/* Return the first waiter that sleeps (`asleep`) or spins (not `asleep`); `count` if there is none. */
static uint32_t first_that(const release *self, bool asleep, int64_t now) {
    uint32_t place = 0;
    while (place < self->count && sleeps(self, place, now) != asleep) place++;
    return place;
}

#define WOKEN UINT32_MAX

/* Return the waiter that has waited longest; WOKEN stands for the waiter that is waking up. */
static uint32_t longest(const ns_server *self) {
    const ns_waiter *waiters = ns_server_waiters(self), *best = self->wakes ? &self->woken : &waiters[0];
    for (uint32_t i = 0; i < self->count; i++) {
        const bool ties = waiters[i].since_ps == best->since_ps;
        if (waiters[i].since_ps < best->since_ps || (ties && waiters[i].actor < best->actor)) best = &waiters[i];
    }
    return best == &self->woken ? WOKEN : (uint32_t)(best - waiters);
}

/* Promise the lock to the waiter that is waking up, for the time of its try plus a transfer of the line. */
static void promise_to_woken(ns_server *self, const release *released) {
    const int64_t transfer = ns_line_to_ps(released->transfers, released->line, self->woken.actor);
    self->next = self->woken;
    self->promised = self->busy = true;
    self->due_ps = ns_sum(self->tries_ps, transfer);
}

/* Promise the lock to the waiter at `place`. No other actor can take the lock before. */
static void hand_over(ns_server *self, const release *released, uint32_t place, int64_t now_ps) {
    if (place == WOKEN) {
        promise_to_woken(self, released);
        self->wakes = false;
    } else {
        const int64_t wake_up = sleeps(released, place, now_ps) ? wake_up_ps(released, place) : 0;
        ns_server_promise(self, (ns_grant){place, transfer_ps(released, place) + wake_up}, now_ps);
    }
}

/* Wake the first sleeper if no waiter is waking up already, and promise the lock to the first waiter that spins. If
 * none spins, promise the lock to the waiter that is waking up; any other actor can still take the lock before. */
static void let_barge(ns_server *self, const release *released, int64_t now_ps) {
    release left = *released;
    const uint32_t sleeper = first_that(released, true, now_ps);
    if (!self->wakes && sleeper < self->count) {
        self->tries_ps = ns_sum(now_ps, wake_up_ps(released, sleeper));
        ns_server_promise(self, (ns_grant){sleeper, 0}, now_ps);
        self->woken = self->next;
        self->wakes = true;
        left.waiters = ns_server_waiters(self);
        left.count = self->count;
    }
    const uint32_t spinner = first_that(&left, false, now_ps);
    self->awaits_woken = spinner == left.count;
    if (self->awaits_woken)
        promise_to_woken(self, released);
    else
        ns_server_promise(self, (ns_grant){spinner, transfer_ps(&left, spinner)}, now_ps);
}

void ns_server_let_barge(ns_server *self, const ns_lock_rules *rules, const ns_transfers *transfers,
                         const ns_line *line, int64_t now_ps) {
    const release released = {rules, transfers, line, ns_server_waiters(self), self->count};
    const uint32_t first = longest(self);
    const int64_t since_ps = first == WOKEN ? self->woken.since_ps : released.waiters[first].since_ps;
    if (now_ps - since_ps > NS_BARGED_PS)
        hand_over(self, &released, first, now_ps);
    else
        let_barge(self, &released, now_ps);
}

bool ns_server_sleep_again(ns_server *self) {
    if (self->first + self->count == self->room && !ns_server_make_room(self)) return false;
    ns_server_waiters(self)[self->count++] = self->woken;
    self->wakes = false;
    return true;
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
