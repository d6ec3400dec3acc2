/* Who gets a lock next, and how long that takes, for every kind of lock (model 5.2 and 5.3); equal to
 * engine/reference/sync/lock_queues.py, which says what the kinds are.
 */
#ifndef NUMASIM_SYNC_LOCKS_H
#define NUMASIM_SYNC_LOCKS_H

#include "sync/lines.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t since_ps;
    uint32_t actor;
    uint32_t then; /* what it goes on with: the caller's own */
} ns_waiter;

typedef struct {
    uint32_t place;   /* among the waiters */
    int64_t delay_ps; /* until the lock is its, at most 2^63 - 1 */
} ns_grant;

/* Time until `actor` has a lock that it finds free, whose `line` is with its last holder or in memory. */
int64_t ns_lock_free_ps(enum ns_lock_kind kind, const ns_transfers *transfers, const ns_line *line, uint32_t actor);

/* The next holder of a lock whose `line` is with the actor that releases it at `now`; `count` waiters, at least one, in
 * the order of their arrival. `run` is the number of grants in a row within one node. */
ns_grant ns_lock_next(enum ns_lock_kind kind, const ns_lock_rules *rules, const ns_transfers *transfers,
                      const ns_line *line, const ns_waiter *waiters, uint32_t count, int64_t now, int64_t *run);

#ifdef __cplusplus
}
#endif

#endif
