/* The pending events of a run, in the order (time, rank, actor): one for each slot, in a winner tree (model 1.2).
 *
 * A complete binary tree whose inner nodes hold the smaller key of their children: the next event is at the root, and a
 * change costs one comparison a level, without a branch that could be mispredicted.
 */
#ifndef NUMASIM_CLOCK_CLOCK_H
#define NUMASIM_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    NS_RANK_EPOCH,
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
    size_t leaves, levels; /* a power of two, its logarithm + 1 */
    ns_event_key *keys;    /* [2 * leaves] the root is number 1, the slots are the last half */
} ns_clock;

/* A clock without pending events: false where there is no memory. */
bool ns_clock_create(ns_clock *self, size_t slots);
void ns_clock_destroy(ns_clock *self);

/* The first event, which stays pending; NS_NO_EVENT where none is. */
static inline ns_event_key ns_clock_next(const ns_clock *self) { return self->keys[1]; }

static inline void ns_clock_set(ns_clock *self, size_t slot, ns_event_key key) {
    ns_event_key *const keys = self->keys;
    size_t at = self->leaves + slot;
    keys[at] = key;
    while (at > 1) {
        const ns_event_key other = keys[at ^ 1];
        key = other < key ? other : key;
        at >>= 1;
        keys[at] = key;
    }
}

static inline void ns_clock_clear(ns_clock *self, size_t slot) { ns_clock_set(self, slot, NS_NO_EVENT); }

/* Whether an event is pending that is no probe and no poll. */
bool ns_clock_has_progress(const ns_clock *self);

#ifdef __cplusplus
}
#endif

#endif
