#ifndef NUMASIM_POLICY_ROUND_H
#define NUMASIM_POLICY_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/plan_structs.h"
#include "policy/draws.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who probes which queue, in which order, with which draws: the interpreter of steal levels.
 *
 * Equal, draw for draw, to numasim/strategy/probe.py. No function keeps state of its own: what a worker remembers is in
 * its `ns_actor`, its place in a round in its `ns_round`, and what it sees of the run in an `ns_view`.
 */

#define NS_UNKNOWN (-1)

/* What a worker sees of the run at the instant of a decision. */
typedef struct {
    const int64_t *length; /* [queues] tasks in each queue */
    const uint64_t *watch; /* [watches][ns_set_words(queues)] sets of the queues whose watch bits are set */
    uint32_t iteration;    /* the iteration that is running, from zero */
    uint64_t switches;     /* a bit for each that is on */
    const int64_t *live;   /* [units of gates] live subtrees; NULL where no level is gated */
    const int64_t
        *awaited; /* [units of gates] subtrees labelled for each that have not begun in this phase; likewise */
} ns_view;

/* What the interpreter remembers of a worker, or of an extra producer (position == workers). */
typedef struct {
    int32_t position, own, last, parent, thief; /* NS_UNKNOWN where there is none */
    bool leapfrogs, leaps;                      /* its joins leapfrog; it waits in one of them, */
    int64_t robbed;                             /* tasks that others have taken from its own queue */
    int32_t taker;                              /* for a child that this worker has begun, or NS_UNKNOWN */
    ns_stream victims, dispatch;
    int64_t *cursor;     /* [levels] round-robin cursors */
    int32_t *chance_ppm; /* [chances] */
} ns_actor;

/* A place in the segments of one level; opaque. */
typedef struct {
    uint32_t segment, end;      /* still to visit; the first of them may have been begun */
    uint32_t left, start, step; /* in the segment begun: probes left; where its ring starts, how far it has come */
    bool begun;
} ns_walk;

/* A worker's place in its round; opaque. */
typedef struct {
    ns_walk walk;
    uint32_t level, next; /* the level being walked, the level to enter after it */
} ns_round;

/* Set up `self` at the start of a run; `cursor` [levels] and `chance_ppm` [chances] are the caller's memory. */
void ns_actor_init(ns_actor *self, const ns_plan *plan, int32_t position, uint64_t seed, int64_t *cursor,
                   int32_t *chance_ppm);

/* Those of the first `count` positions, in one piece of memory for free(); NULL where there is none. */
ns_actor *ns_actors_create(const ns_plan *plan, uint32_t count, uint64_t seed);

/* One of the queues of a segment, of which there is one, by a draw. */
static inline uint32_t ns_segment_draw(const ns_plan *plan, uint32_t segment, ns_stream *stream) {
    const uint32_t first = plan->seg[segment], size = plan->seg[segment + 1] - first;
    return plan->queue[first + ns_stream_below(stream, size)];
}

/* Whether a level or rule is in force now, by the iteration and by its switch. */
static inline bool ns_in_force(const ns_level *level, const ns_view *view) {
    if (view->iteration < level->first_iteration || view->iteration > level->last_iteration) return false;
    if (level->toggle == NS_NONE8) return true;
    const bool off = !(view->switches >> level->toggle & 1);
    return off == ((level->flags & NS_FLAG_UNLESS) != 0);
}

/* Whether it is in force all the time, for tasks of any tier, whatever runs. */
static inline bool ns_is_unconditional(const ns_level *level) {
    return level->first_iteration == 0 && level->last_iteration == UINT32_MAX && level->toggle == NS_NONE8 &&
           !(level->flags & (NS_FLAG_GATED | NS_FLAG_TIERS));
}

/* Whether a steal level is open to a worker: not gated, or few enough subtrees of the worker's unit live, and where own
 * ones come first none of them awaited. */
static inline bool ns_passes_gate(const ns_plan *plan, const ns_level *level, int32_t worker, const ns_view *view) {
    if (!(level->flags & NS_FLAG_GATED)) return true;
    const int32_t unit = plan->gate[worker];
    return view->live[unit] < plan->live_most && !(level->flags & NS_FLAG_OWN_FIRST && view->awaited[unit]);
}

/* Begin a round. */
void ns_round_begin(ns_round *self);

/* The next probe of the round of `actor`: true with its level and queue, false where the round is over. The choice is
 * made from `view` as it is now. */
bool ns_round_next(ns_round *self, const ns_plan *plan, ns_actor *actor, const ns_view *view, uint32_t *level,
                   uint32_t *queue);

/* How many tasks `level` takes from a queue of `length`. */
int64_t ns_level_amount(const ns_level *self, int64_t length);

/* Record that a probe of `queue` by `level` brought `tasks` tasks (0: none) to actors[worker]. The worker whose own
 * queue this is, the queue's `owner` if anybody, remembers its thief. */
void ns_actor_found(ns_actor *actors, const ns_plan *plan, int32_t worker, uint32_t level, uint32_t queue,
                    int64_t tasks);

/* Whether some steal level is anchored so. */
bool ns_plan_has_anchor(const ns_plan *plan, enum ns_anchor anchor);

/* Record that `self` ran a task that `spawner` spawned. */
void ns_actor_ran(ns_actor *self, int32_t spawner);

/* Whether `visit` is true of some (level, queue) that some round of `actor` may probe while `view` stays as it is.
 * Levels whose chance is none until probes of others have failed come behind the others, if these probe any queue.
 * `actor` is left as it was. */
bool ns_any_within_reach(const ns_plan *plan, ns_actor *actor, const ns_view *view,
                         bool (*visit)(void *context, uint32_t level, uint32_t queue), void *context);

/* The probes of a fruitless round while all queues are empty, one victim draw each: probe i picks among the queues of
 * segment `segments[i]` for level `levels[i]`. Returns their number; -1 where rounds are not plain random picks or
 * where there are more than `most`. */
int32_t ns_quiet_round(const ns_plan *plan, const ns_actor *actor, uint32_t *levels, uint32_t *segments, int32_t most);

/* How long a worker waits after fruitless rounds (thesis section 3.3.1; A-30), and how full queues overflow. */

#define NS_LONGEST_WAIT_PS (INT64_C(1) << 52)

/* The wait after the `fails`-th fruitless round in a row; `probed`: whether the round probed any queue. */
int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed);

/* Whether spawns are executed at once: from a full queue on, until it has fallen below `resume_ppm` of its capacity. */
bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm);

#ifdef __cplusplus
}
#endif

#endif
