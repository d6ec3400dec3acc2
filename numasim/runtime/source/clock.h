/* The virtual clock: events in the order (time, rank, actor), as in the model (model 1.2).
 *
 * An actor has at most one pending event. What an event does is its `fire`, which runs while the clock shows `due`; it
 * may schedule and cancel events, its own among them, at times from now on.
 */
#ifndef NS_CLOCK_H
#define NS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum ns_rank {
    NS_RANK_SEG_END,
    NS_RANK_GRANT,
    NS_RANK_RELEASE,
    NS_RANK_WAKE,
    NS_RANK_PUT,
    NS_RANK_LOOK,
    NS_RANK_POLL,
    NS_RANK_EPOCH,
    NS_RANK_END_OF_INSTANT
};

typedef struct ns_event ns_event;
struct ns_event {
    int64_t due_ps;
    enum ns_rank rank;
    uint32_t actor;
    uint32_t place; /* in the heap, from 1; 0: not pending */
    void (*fire)(ns_event *self);
    void *context; /* the caller's */
};

typedef struct {
    int64_t now_ps;
    ns_event **heap; /* [capacity], from 1 */
    uint32_t count, capacity;
    uint64_t fired;
} ns_clock;

/* A clock that shows 0, with room for `events` pending events: 0 or NS_ERROR_MEMORY. */
int ns_clock_create(ns_clock *self, uint32_t events);
void ns_clock_destroy(ns_clock *self);

/* Let `event`, which is not pending, fire `delay_ps` from now as `rank`. Its actor is set already. */
void ns_clock_schedule(ns_clock *self, ns_event *event, enum ns_rank rank, int64_t delay_ps);

/* Let a pending event not fire; no other is touched. */
void ns_clock_cancel(ns_clock *self, ns_event *event);

/* Where `event` is the first, let its time come without firing it: whoever asks goes on instead. False where it is not.
 */
bool ns_clock_pass(ns_clock *self, ns_event *event);

/* Fire the first event; false where none is pending. */
bool ns_clock_turn(ns_clock *self);

#endif
