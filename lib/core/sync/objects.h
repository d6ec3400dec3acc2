/* The synchronisation objects of a run: locks, atomic words, conditions and barriers as servers of the clock (model 5).
 * Equal, event for event, to engine/reference/sync/sync_objects.py.
 *
 * Who waits is an actor: a worker, or the producer behind them. It waits for one object at a time and has no event of
 * its own meanwhile. Each object has a slot of the clock: for GRANT of a lock or an atomic word, for RELEASE of a
 * barrier. The engine takes these events off the clock and calls `ns_sync_grant` and `ns_sync_open`. Times that would
 * come after NS_LATEST_PS come out as that.
 */
#ifndef NUMASIM_SYNC_OBJECTS_H
#define NUMASIM_SYNC_OBJECTS_H

#include "clock/clock.h"
#include "plan/plan_reader.h"
#include "sync/barriers.h"
#include "sync/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine is told, with its `context`. */
typedef struct {
    void *context;
    /* `actor`, which waits, goes on at `due_ps` by an event of that rank; the time may lie after NS_LATEST_PS. May be
     * NULL. */
    void (*expected)(void *context, uint32_t actor, enum ns_rank rank, int64_t due_ps);
    /* `actor` had a lock or an atomic word from `start_ps` until now. May be NULL. */
    void (*held)(void *context, uint32_t object, uint32_t actor, int64_t start_ps);
    /* A barrier has opened: `actor` leaves it at `leave_ps`, not before now; the time may lie after NS_LATEST_PS. */
    void (*released)(void *context, uint32_t actor, int64_t leave_ps);
    /* `actor`, which slept for a condition, wakes `delay_ps` from now. */
    void (*woken)(void *context, uint32_t actor, int64_t delay_ps);
} ns_sync_listener;

/* What one object has counted: a row of the table of words. */
typedef struct {
    int64_t acquisitions, local, remote, wait_ps, hold_ps;
} ns_sync_counts;

typedef struct ns_sync ns_sync;

/* The objects of a plan, which lives as long; object i has slot `first_slot` + i of the clock. NULL where there
 * is no memory. */
ns_sync *ns_sync_create(const ns_full_plan *plan, ns_clock *clock, size_t first_slot, ns_sync_listener listener);
void ns_sync_destroy(ns_sync *self);

/* Ask for a lock or an atomic word; `then` comes back with the grant. False where there is no memory. */
bool ns_sync_request(ns_sync *self, uint32_t object, uint32_t actor, uint32_t then, int64_t now_ps);

/* Whether nobody has a lock or waits for it. */
bool ns_sync_is_free(const ns_sync *self, uint32_t object);

/* GRANT: the object is the waiter's that is returned. */
ns_waiter ns_sync_grant(ns_sync *self, uint32_t object, int64_t now_ps);

/* Let go of a lock or an atomic word: it goes to one of those that wait for it, if any. */
void ns_sync_release(ns_sync *self, uint32_t object, uint32_t actor, int64_t now_ps);

/* The server of a lock or an atomic word, and its line. Between `ns_sync_detach` and `ns_sync_attach` its grants are
 * not on the clock: whoever has asked for the server lets them happen, and nobody else may use the lock. */
ns_server *ns_sync_server(ns_sync *self, uint32_t object, ns_line **line);
void ns_sync_detach(ns_sync *self, uint32_t object);
void ns_sync_attach(ns_sync *self, uint32_t object);

/* The end of a phase: take the objects from `declared` on, those of the search, from whoever has them or waits for
 * them; `waited` is told of each waiter. */
void ns_sync_free_search(ns_sync *self, uint32_t declared, int64_t now_ps,
                         void (*waited)(void *context, uint32_t actor, int64_t since_ps));

/* Arrive at a barrier. */
void ns_sync_arrive(ns_sync *self, uint32_t object, uint32_t actor, int64_t now_ps);

/* RELEASE: the parties leave; how often the barrier has opened before. */
int64_t ns_sync_open(ns_sync *self, uint32_t object);

/* Whether `actor` need not wait for a condition; `*owed_ps` is what passing costs it. Otherwise it is a sleeper now. */
bool ns_sync_await(ns_sync *self, uint32_t object, uint32_t actor, int64_t *owed_ps);

/* Let `permits` waiters pass: those that sleep, in the order in which they came, then later ones. What that costs
 * `actor`. */
int64_t ns_sync_signal(ns_sync *self, uint32_t object, uint32_t actor, int64_t permits);

ns_sync_counts ns_sync_count(const ns_sync *self, uint32_t object);

#ifdef __cplusplus
}
#endif

#endif
