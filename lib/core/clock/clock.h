/* The pending events of a run, in the order (time, rank, actor): one for each slot, in a winner tree (model 1.2).
 *
 * A binary tree whose inner nodes hold the smaller key of their children: the next event is at the root, and a change
 * costs one comparison a level, without a branch that could be mispredicted.
 *
 * The tree holds keys of one machine word, which count time from the begin of a *window*, as long as 64 bits have room
 * for beside rank and actor: ten hours for thirty slots, a second for a million. Events behind its end are put away and
 * are all alike in the tree, later than all others; when none but such are left, the window begins with the first of
 * them. So the order is that of whole keys.
 */
#ifndef NUMASIM_CLOCK_CLOCK_H
#define NUMASIM_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NS_LATEST_PS (INT64_C(1) << 62) /* events are not later */
#define NS_TOO_LATE "the simulated time exceeds 2**62 ps, fifty-three days"

/* Kinds of events, in the order in which they happen within one instant. */
enum ns_rank {
    NS_RANK_SEG_END,
    NS_RANK_GRANT,
    NS_RANK_RELEASE,
    NS_RANK_WAKE,
    NS_RANK_PUT,
    NS_RANK_LOOK,
    NS_RANK_POLL,
    NS_RANK_ABORT, /* of records alone */
    NS_RANK_END_OF_INSTANT
};

__extension__ typedef unsigned __int128 ns_event_key; /* (time, rank, actor), compared as one number */

#define NS_NO_EVENT (~(ns_event_key)0)

static inline ns_event_key ns_event_key_of(int64_t time_ps, uint32_t rank, uint32_t actor) {
    return (ns_event_key)(uint64_t)time_ps << 64 | (uint64_t)rank << 32 | actor;
}

static inline int64_t ns_event_time(ns_event_key key) { return (int64_t)(key >> 64); }
static inline uint32_t ns_event_rank(ns_event_key key) { return (uint32_t)((uint64_t)key >> 32); }
static inline uint32_t ns_event_actor(ns_event_key key) { return (uint32_t)key; }

typedef struct {
    size_t slots;
    uint64_t *keys;      /* [2 * slots] the root is number 1, the slots are the last half */
    ns_event_key *later; /* [slots] where the key says NS_LATER_EVENT: the event that is put away */
    int64_t window_begin_ps;
    uint64_t window_ps;
    uint32_t actor_bits, time_shift;
} ns_clock;

enum { NS_RANK_BITS = 4 };
#define NS_NO_SHORT_KEY UINT64_MAX      /* no event is pending */
#define NS_LATER_EVENT (UINT64_MAX - 1) /* one that is behind the window */

/* A clock without pending events, whose actors are below `slots`: false where there is no memory. */
bool ns_clock_create(ns_clock *self, size_t slots);
void ns_clock_destroy(ns_clock *self);

/* What stands in the tree for an event of `slot` that is outside the window, or for none; the first one, where none is
 * in the window. Either may move that. */
uint64_t ns_clock_put_away(ns_clock *self, size_t slot, ns_event_key key);
uint64_t ns_clock_take_later(ns_clock *self);

static inline uint64_t ns_clock_shorten(const ns_clock *self, ns_event_key key) {
    const uint64_t ahead_ps = (uint64_t)ns_event_time(key) - (uint64_t)self->window_begin_ps;
    return ahead_ps << self->time_shift | (uint64_t)ns_event_rank(key) << self->actor_bits | ns_event_actor(key);
}

static inline ns_event_key ns_clock_lengthen(const ns_clock *self, uint64_t key) {
    const uint64_t rank_and_actor = key & ((UINT64_C(1) << self->time_shift) - 1);
    const uint32_t actor = (uint32_t)(key & ((UINT64_C(1) << self->actor_bits) - 1));
    const uint64_t time_ps = (uint64_t)self->window_begin_ps + (key >> self->time_shift);
    return ns_event_key_of((int64_t)time_ps, (uint32_t)(rank_and_actor >> self->actor_bits), actor);
}

static inline bool ns_clock_is_in_window(const ns_clock *self, ns_event_key key) {
    return (uint64_t)ns_event_time(key) - (uint64_t)self->window_begin_ps < self->window_ps;
}

/* The first event, which stays pending; NS_NO_EVENT where none is. */
NS_INLINE ns_event_key ns_clock_next(ns_clock *self) {
    uint64_t first = self->keys[1];
    if (first == NS_NO_SHORT_KEY) return NS_NO_EVENT;
    if (first == NS_LATER_EVENT) first = ns_clock_take_later(self);
    return ns_clock_lengthen(self, first);
}

NS_INLINE void ns_clock_put(ns_clock *self, size_t slot, uint64_t key) {
    uint64_t *const keys = self->keys;
    size_t at = self->slots + slot;
    keys[at] = key;
    while (at > 1) {
        const uint64_t other = keys[at ^ 1];
        key = other < key ? other : key;
        at >>= 1;
        keys[at] = key;
    }
}

NS_INLINE void ns_clock_set(ns_clock *self, size_t slot, ns_event_key key) {
    const bool in_window = ns_clock_is_in_window(self, key);
    ns_clock_put(self, slot, in_window ? ns_clock_shorten(self, key) : ns_clock_put_away(self, slot, key));
}

static inline void ns_clock_clear(ns_clock *self, size_t slot) { ns_clock_put(self, slot, NS_NO_SHORT_KEY); }

static inline bool ns_clock_is_set(const ns_clock *self, size_t slot) {
    return self->keys[self->slots + slot] != NS_NO_SHORT_KEY;
}

#ifdef __cplusplus
}
#endif

#endif
