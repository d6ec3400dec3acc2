/* The server of one lock or atomic word: who has it, who waits for it, whose it is next (model 5.2). It knows no clock:
 * whoever asks lets the grant that is promised happen when it is due.
 */
#ifndef NUMASIM_SYNC_SERVER_H
#define NUMASIM_SYNC_SERVER_H

#include <string.h>

#include "base/wide.h"
#include "sync/locks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    ns_waiter *places;           /* [room] */
    uint32_t room, first, count; /* `count` waiters from place `first` on, see below */
    uint32_t holder;             /* NS_NOBODY: none */
    bool busy;                   /* promised or held */
    bool promised;               /* to `next`, whose it is at `due_ps` */
    ns_waiter next;
    int64_t due_ps;
    int64_t run; /* grants in a row within one node */
    int64_t granted_ps, acquisitions, wait_ps, hold_ps;
} ns_server;

/* Those who wait, in the order of their arrival; those of one instant in the order of their ids. */
static inline ns_waiter *ns_server_waiters(const ns_server *self) { return self->places + self->first; }

/* Room behind the last waiter; false where there is no memory. */
bool ns_server_make_room(ns_server *self);

/* Let a waiter in behind all that came before it; false where there is no memory. */
static inline bool ns_server_enqueue(ns_server *self, ns_waiter waiter) {
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

/* Promise it to the chosen waiter. */
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

/* Nobody has it: promise it to the first who has come. */
static inline void ns_server_serve_first(ns_server *self, enum ns_lock_kind kind, const ns_transfers *transfers,
                                         const ns_line *line, int64_t now_ps) {
    const ns_grant first = {0, ns_lock_free_ps(kind, transfers, line, ns_server_waiters(self)->actor)};
    ns_server_promise(self, first, now_ps);
}

/* What is promised is granted. */
static inline void ns_server_grant(ns_server *self, const ns_transfers *transfers, ns_line *line, int64_t now_ps) {
    self->promised = false;
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

/* `actor` has let go of it: promise it to one of those who wait; false where nobody does. */
static inline bool ns_server_serve_next(ns_server *self, enum ns_lock_kind kind, const ns_lock_rules *rules,
                                        const ns_transfers *transfers, ns_line *line, uint32_t actor, int64_t now_ps) {
    ns_line_move(transfers, line, actor);
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

/* Take it from whoever has it or waits for it. */
static inline void ns_server_clear(ns_server *self) {
    self->count = 0;
    self->promised = self->busy = false;
    self->run = 0;
}

#ifdef __cplusplus
}
#endif

#endif
