/* Simulated locks: who gets a lock next, and when (model 5.1 to 5.3). The costs are transfers of the cache line that
 * has the lock or atomic word. An actor is a worker, or a producer of tasks that runs on the core of worker 0. The
 * owner of a line is the actor that had the line last; a transfer comes from the owner's core, or, without an owner or
 * if such words are not cached, from the memory of the line's home node (thesis Table 6.2). A waiter is an actor that
 * has asked for the lock and does not have it. A promise is a decision who gets the lock at which later time; the grant
 * carries it out at that time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/wide.h"
#include "generated/plan_structs.h"

#define NS_NOBODY UINT32_MAX

/* A cache line, and how often it moved to another actor of the same node (`local`) and of another node (`remote`). */
typedef struct {
    int32_t home;
    uint32_t owner; /* NS_NOBODY: the line is in memory */
    int64_t local, remote;
} ns_line;

/* Return the worker on whose core the actor runs. */
static inline uint32_t ns_place_of(const ns_transfers *self, uint32_t actor) {
    return actor < self->workers ? actor : 0;
}

static inline int32_t ns_node_of(const ns_transfers *self, uint32_t actor) {
    return self->node[ns_place_of(self, actor)];
}

/* Return the time to move the line to `actor`, in ps. */
static inline int64_t ns_line_to_ps(const ns_transfers *self, const ns_line *line, uint32_t actor) {
    if (line->owner == NS_NOBODY || !self->cached)
        return self->memory_ps[(uint64_t)ns_node_of(self, actor) * self->nodes + (uint64_t)line->home];
    return self->between_ps[(uint64_t)ns_place_of(self, actor) * self->workers + ns_place_of(self, line->owner)];
}

/* Return whether the line's home is on another node than `sleeper`, which sleeps until a word of the line changes. */
static inline bool ns_line_wakes_remotely(const ns_transfers *self, const ns_line *line, uint32_t sleeper) {
    return ns_node_of(self, sleeper) != line->home;
}

/* Move the line to `actor`, and count the move. Returns the time for this, in ps. */
static inline int64_t ns_line_move(const ns_transfers *self, ns_line *line, uint32_t actor) {
    const int64_t time_ps = ns_line_to_ps(self, line, actor);
    if (line->owner != NS_NOBODY && line->owner != actor) {
        const bool local = ns_node_of(self, line->owner) == ns_node_of(self, actor);
        line->local += local;
        line->remote += !local;
    }
    line->owner = actor;
    return time_ps;
}

/* ---- kinds of locks (model 5.2 and 5.3), defined in engine/reference/sync/lock_queues.py ------------------------- */

typedef struct {
    int64_t since_ps;
    uint32_t actor;
    uint32_t then; /* a number that the caller chooses, to know what the actor does with the lock */
} ns_waiter;

typedef struct {
    uint32_t place;   /* position of the chosen waiter among the waiters */
    int64_t delay_ps; /* time until the chosen waiter has the lock, at most 2^63 - 1 */
} ns_grant;

/* Return the time in which `actor` gets a lock that is free, in ps. */
int64_t ns_lock_free_ps(enum ns_lock_kind kind, const ns_transfers *transfers, const ns_line *line, uint32_t actor);

/* Choose the next holder of a lock that the owner of `line` releases at time `now`, in ps, among the `count` (at least
 * 1) waiters, which are in the order of their arrival. `*run`, for kind `cohort`, counts successive choices of waiters
 * of the same node. A lock of kind `barging` counts as a `mutex` here; its own rules are in `ns_server_let_barge`. */
ns_grant ns_lock_next(enum ns_lock_kind kind, const ns_lock_rules *rules, const ns_transfers *transfers,
                      const ns_line *line, const ns_waiter *waiters, uint32_t count, int64_t now, int64_t *run);

/* ---- the server of one lock or atomic word (model 5.2) ------------------------------------------------------------
 *
 * The server has no clock: the caller calls `ns_server_grant` at the time `due_ps` of a promise. */

typedef struct {
    ns_waiter *places;           /* [room] */
    uint32_t room, first, count; /* the waiters are places[first] to places[first + count - 1] */
    uint32_t holder;             /* NS_NOBODY: the lock has no holder */
    bool busy;                   /* the lock is promised or held */
    bool promised;               /* `next` gets the lock at `due_ps` */
    ns_waiter next;
    int64_t due_ps;
    bool wakes;        /* kind `barging`: `woken` is waking up, and will try to take the lock at `tries_ps` */
    bool awaits_woken; /* `next` is `woken`: until `tries_ps` any other actor can still take the lock */
    ns_waiter woken;
    int64_t tries_ps;
    int64_t run;                                        /* successive grants to actors of one node */
    int64_t granted_ps, acquisitions, wait_ps, hold_ps; /* time of the last grant; sums over all grants */
} ns_server;

/* Return the waiters in the order of their arrival; waiters of the same time are in the order of their ids. */
static inline ns_waiter *ns_server_waiters(const ns_server *self) { return self->places + self->first; }

/* Make room behind the last waiter. Returns false if there is no memory. */
bool ns_server_make_room(ns_server *self);

/* Return whether an actor that asks for the lock at `now_ps` need not wait for other actors. */
static inline bool ns_server_is_free(const ns_server *self, int64_t now_ps) {
    return !self->busy || (self->awaits_woken && now_ps <= self->tries_ps);
}

/* Put the woken waiter of a `barging` lock behind all other waiters, asleep: ns_server_settle does so only if this
 * waiter has tried before `now_ps`, and found the lock taken. Both functions return false if memory is short. */
bool ns_server_sleep_again(ns_server *self);
static inline bool ns_server_settle(ns_server *self, int64_t now_ps) {
    const bool has_failed = self->wakes && !self->awaits_woken && self->tries_ps < now_ps;
    return !has_failed || ns_server_sleep_again(self);
}

/* Add a waiter, at its place by time and id. Returns false if memory is short. */
static inline bool ns_server_enqueue(ns_server *self, ns_waiter waiter) {
    if (!ns_server_settle(self, waiter.since_ps)) return false;
    if (self->first + self->count == self->room && !ns_server_make_room(self)) return false;
    ns_waiter *waiters = ns_server_waiters(self);
    uint32_t at = self->count++;
    for (; at > 0; at--) {
        const ns_waiter *before = &waiters[at - 1];
        if (before->since_ps != waiter.since_ps || before->actor < waiter.actor) break;
        waiters[at] = *before;
    }
    waiters[at] = waiter;
    return true;
}

/* Promise the lock to the waiter that `grant` chooses. */
static inline void ns_server_promise(ns_server *self, ns_grant grant, int64_t now_ps) {
    ns_waiter *chosen = ns_server_waiters(self) + grant.place;
    self->next = *chosen;
    self->promised = self->busy = true;
    self->due_ps = ns_sum(now_ps, grant.delay_ps);
    self->count--;
    if (grant.place)
        memmove(chosen, chosen + 1, (self->count - grant.place) * sizeof *chosen);
    else
        self->first++;
}

/* Promise a free lock to the last waiter, which has just asked for it. */
static inline void ns_server_serve_last(ns_server *self, enum ns_lock_kind kind, const ns_transfers *transfers,
                                        const ns_line *line, int64_t now_ps) {
    const uint32_t place = self->count - 1;
    self->awaits_woken = false;
    const ns_grant last = {place, ns_lock_free_ps(kind, transfers, line, ns_server_waiters(self)[place].actor)};
    ns_server_promise(self, last, now_ps);
}

/* Promise a `barging` lock, which the owner of `line` releases, to the first waiter that spins, else to the waiter that
 * is waking up. Wakes the first sleeping waiter, unless a waiter is waking up already. If a waiter has waited for more
 * than NS_BARGED_PS, this waiter gets the lock instead. There is a waiter, or one that is waking up. */
void ns_server_let_barge(ns_server *self, const ns_lock_rules *rules, const ns_transfers *transfers,
                         const ns_line *line, int64_t now_ps);

/* Grant the lock as promised: `next` becomes the holder. */
static inline void ns_server_grant(ns_server *self, const ns_transfers *transfers, ns_line *line, int64_t now_ps) {
    self->promised = false;
    self->wakes &= !self->awaits_woken;
    self->awaits_woken = false;
    self->holder = self->next.actor;
    self->granted_ps = now_ps;
    self->acquisitions++;
    self->wait_ps += now_ps - self->next.since_ps;
    ns_line_move(transfers, line, self->next.actor);
}

static inline void ns_server_end_holding(ns_server *self, int64_t now_ps) {
    self->hold_ps += now_ps - self->granted_ps;
    self->holder = NS_NOBODY;
}

/* Promise the lock, which `actor` has released, to a waiter. Call `ns_server_settle` before. Returns false if there is
 * no waiter: then the lock is free. */
static inline bool ns_server_serve_next(ns_server *self, enum ns_lock_kind kind, const ns_lock_rules *rules,
                                        const ns_transfers *transfers, ns_line *line, uint32_t actor, int64_t now_ps) {
    ns_line_move(transfers, line, actor);
    if (kind == NS_LOCK_BARGING && (self->count || self->wakes)) {
        ns_server_let_barge(self, rules, transfers, line, now_ps);
        return true;
    }
    if (!self->count) {
        self->busy = false;
        self->run = 0;
        return false;
    }
    const ns_grant next =
        ns_lock_next(kind, rules, transfers, line, ns_server_waiters(self), self->count, now_ps, &self->run);
    ns_server_promise(self, next, now_ps);
    return true;
}

/* Forget all waiters and promises. The lock is free then. */
static inline void ns_server_clear(ns_server *self) {
    self->count = 0;
    self->promised = self->busy = self->wakes = self->awaits_woken = false;
    self->run = 0;
}
