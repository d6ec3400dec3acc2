#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bitset.h"
#include "generated/plan_structs.h"
#include "policy/draws.h"

/* The interpreter of steal levels: which worker probes which queue, in which order, with which random numbers. Draws
 * the same random numbers as numasim/strategy/probe.py, and makes the same decisions.
 *
 * No function keeps state. An `ns_actor` is the memory of a worker, an `ns_round` the worker's place in a round, and an
 * `ns_view` the part of the run's state that the worker sees.
 *
 * An `ns_plan` is a compiled strategy (numasim/strategy/steal_plan.py). Steal levels come first in `level`, then
 * dispatch rules. The segments of an anchor are row[level.row + anchor] to row[level.row + anchor + 1] - 1. With
 * NS_FLAG_HEADS, one row for each worker comes before the rows of the anchors. A group is `level.segments` consecutive
 * segments. Segment s holds the queues queue[seg[s]] to queue[seg[s + 1] - 1]. */

#define NS_UNKNOWN (-1)

/* The part of the run's state that a worker sees at the instant of a decision. */
typedef struct {
    const int64_t *length;  /* [queues] tasks in each queue */
    const uint64_t *watch;  /* [watches][ns_set_words(queues)] sets of the queues whose watch bits are set */
    uint32_t iteration;     /* the iteration that is running, from zero */
    uint64_t switches;      /* a bit for each switch that is on */
    const int64_t *live;    /* [units] live subtrees of each unit; NULL if no level has a gate */
    const int64_t *awaited; /* [units] subtrees of the phase labelled for each unit that have not begun; or NULL */
} ns_view;

/* The memory of a worker, or of an extra producer (position == workers). */
typedef struct {
    int32_t position, own, last, parent, thief; /* workers or queues; NS_UNKNOWN: none */
    bool leapfrogs, leaps;                      /* `leapfrogs`: its joins do; `leaps`: it waits in a join now */
    int64_t robbed;                             /* tasks that other workers have taken from its own queue */
    int64_t polls, polled; /* tasks executed before the poll at hand (0: it makes rounds), and before the last one */
    int32_t taker;         /* in a leapfrogging join: the worker that it may steal from, or NS_UNKNOWN */
    int64_t fails;         /* in a leapfrogging join: its fruitless rounds in a row so far */
    ns_stream victims, dispatch;
    int64_t *cursor;     /* [levels] round-robin cursors */
    int32_t *chance_ppm; /* [chances] */
} ns_actor;

/* How far a walk has come through the segments (sets of queues) of one level. Opaque. */
typedef struct {
    uint32_t segment, end; /* the segments still to visit, of which the first may have been begun */
    /* in the segment begun, seen as a ring: probes left, present place, steps made, places per step */
    uint32_t left, place, step, stride;
    bool begun;
} ns_walk;

/* A worker's place in its round. Opaque. */
typedef struct {
    ns_walk walk;
    uint32_t level, next; /* the level being walked, and the level to enter next */
} ns_round;

/* Set up `self` at the start of a run. `cursor` [levels] and `chance_ppm` [chances] are memory of the caller. */
void ns_actor_init(ns_actor *self, const ns_plan *plan, int32_t position, uint64_t seed, int64_t *cursor,
                   int32_t *chance_ppm);

/* Draw one queue of `segment`, which is not empty, at random. */
static inline uint32_t ns_segment_draw(const ns_plan *plan, uint32_t segment, ns_stream *stream) {
    const uint32_t first = plan->seg[segment], size = plan->seg[segment + 1] - first;
    return plan->queue[first + ns_stream_below(stream, size)];
}

/* Whether a level with `every` is polled after `tasks` tasks, if the last poll was after `polled` tasks. */
static inline bool ns_is_due(uint32_t every, int64_t tasks, int64_t polled) {
    return every && tasks / every > polled / every;
}

/* Whether half of the queue leaves it if a worker puts a task into it while it is full. */
static inline bool ns_spills(const ns_queue *queue) {
    return queue->full == NS_FULL_SPILL_OLDEST || queue->full == NS_FULL_SPILL_NEWEST;
}

/* Whether a level or rule is in force in the iteration of `view`, with the switches of `view`. */
static inline bool ns_in_force(const ns_level *level, const ns_view *view) {
    if (view->iteration < level->first_iteration || view->iteration > level->last_iteration) return false;
    if (level->toggle == NS_NONE8) return true;
    const bool off = !(view->switches >> level->toggle & 1);
    return off == ((level->flags & NS_FLAG_UNLESS) != 0);
}

/* Whether a level or rule is always in force: in all iterations, for tasks of every tier, without switch and gate. */
static inline bool ns_is_unconditional(const ns_level *level) {
    return level->first_iteration == 0 && level->last_iteration == UINT32_MAX && level->toggle == NS_NONE8 &&
           !(level->flags & (NS_FLAG_GATED | NS_FLAG_TIERS));
}

/* Whether the gate of a steal level lets a worker pass: fewer than `live_most` subtrees of the worker's unit are live,
 * and with NS_FLAG_OWN_FIRST the unit awaits no subtree. A level without a gate lets every worker pass. */
static inline bool ns_passes_gate(const ns_plan *plan, const ns_level *level, int32_t worker, const ns_view *view) {
    if (!(level->flags & NS_FLAG_GATED)) return true;
    const int32_t unit = plan->gate[worker];
    return view->live[unit] < plan->live_most && !(level->flags & NS_FLAG_OWN_FIRST && view->awaited[unit]);
}

/* Begin a round. */
void ns_round_begin(ns_round *self);

/* Find the next probe of the round of `actor`, by the present `view`. Returns false if the round is over. */
bool ns_round_next(ns_round *self, const ns_plan *plan, ns_actor *actor, const ns_view *view, uint32_t *level,
                   uint32_t *queue);

/* Whether a level in force lets a worker take from queue `q` now, if its gate lets the worker pass. */
static inline bool ns_level_opens(const ns_plan *plan, const ns_level *level, const ns_view *view, uint32_t q) {
    if (view->length[q] <= level->leave) return false;
    if (level->watch == NS_NONE8) return true;
    const uint64_t *bits = view->watch + (uint64_t)level->watch * ns_set_words(plan->queue_count);
    return ns_set_has(bits, q) != ((level->flags & NS_FLAG_INVERT) != 0);
}

/* How many tasks `level` takes from a queue of `length`. */
int64_t ns_level_amount(const ns_level *self, int64_t length);

/* Record that a probe of `queue` by `level` brought `tasks` tasks (0: none) to actors[worker]. If `queue` is the own
 * queue of another worker, the other worker remembers its thief. */
void ns_actor_found(ns_actor *actors, const ns_plan *plan, int32_t worker, uint32_t level, uint32_t queue,
                    int64_t tasks);

/* Whether some steal level of the plan has this anchor. */
bool ns_plan_has_anchor(const ns_plan *plan, enum ns_anchor anchor);

/* Record that `self` ran a task that `spawner` spawned. */
void ns_actor_ran(ns_actor *self, int32_t spawner);

/* Call `visit` for each level and queue that some round of `actor` may probe while `view` does not change, until a call
 * returns true. Returns whether a call returned true. Levels that have chance zero until probes of other levels fail
 * come last, and only if other levels probe a queue. `actor` does not change. */
bool ns_any_within_reach(const ns_plan *plan, ns_actor *actor, const ns_view *view,
                         bool (*visit)(void *context, uint32_t level, uint32_t queue), void *context);

/* List the probes of a round while all queues are empty. Probe i draws one of the queues of segment `segments[i]` for
 * level `levels[i]`. Returns the number of probes; -1 if there are more than `most` probes, if a round has picks
 * other than random picks, if rounds of a leapfrogging worker differ by their number, or if a chance changes by
 * fruitless probes of other levels. */
int32_t ns_quiet_round(const ns_plan *plan, const ns_actor *actor, uint32_t *levels, uint32_t *segments, int32_t most);

/* ---- back-off and overflow --------------------------------------------------------------------------------------- */

#define NS_LONGEST_WAIT_PS (INT64_C(1) << 52)

/* The wait after `fails` fruitless rounds in a row. `probed`: the last round probed a queue (thesis 3.3.1; A-30). */
int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed);

/* Whether a worker executes spawned tasks at once: from the time at which its queue is full, until the queue's length
 * falls below `resume_ppm` millionths of its capacity. */
bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm);
