/* The choice of the queue that a searching worker probes next; same decisions and random numbers as
 * numasim/strategy/probe.py. A round is one pass through the steal levels of the strategy (a level: a set of queues and
 * an order of picks), a probe is a look into one queue, and a poll is a round by the levels that are due after every
 * `every` tasks. A level may depend on a switch, on a gate (a limit on live subtrees: ns_passes_gate) and on a watch (a
 * bit for each queue: policy/thresholds.h). No function keeps state: all state is in the arguments. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bitset.h"
#include "generated/plan_structs.h"
#include "policy/draws.h"

/* An `ns_plan` is a compiled strategy (numasim/strategy/steal_plan.py). Steal levels come first in `level`, then
 * dispatch rules. A segment is a list of queues: segment s has queue[seg[s]] to queue[seg[s + 1] - 1]. A group is
 * `level.segments` consecutive segments. A level has a row of segments for each anchor (the worker, queue or node from
 * which the level looks): row[level.row + anchor] to row[level.row + anchor + 1] - 1. With NS_FLAG_HEADS, one row for
 * each worker comes before the rows of the anchors. */

#define NS_UNKNOWN (-1)

/* The part of the run's state that a worker sees at the instant of a decision. */
typedef struct {
    const int64_t *length;  /* [queues] tasks in each queue */
    const uint64_t *watch;  /* [watches][ns_set_words(queues)] for each watch the set of the queues whose bit is set */
    uint32_t iteration;     /* number of the program's present iteration, from zero */
    uint64_t switches;      /* a bit for each switch that is on */
    const int64_t *live;    /* [units] live subtrees of each unit (set of workers); NULL if no level has a gate */
    const int64_t *awaited; /* [units] subtrees meant for each unit that have not begun in this phase; or NULL */
} ns_view;

/* What a worker, or an extra producer of tasks (position == workers), remembers between probes. In a leapfrogging join,
 * a waiting worker steals only from the worker that has begun an awaited task. */
typedef struct {
    int32_t position, own; /* the worker's number; its own queue */
    int32_t last;          /* the queue of its last successful probe; here and below NS_UNKNOWN: none */
    int32_t parent, thief; /* the worker that spawned its last task; the worker that last stole from its own queue */
    bool leapfrogs, leaps; /* whether its joins are leapfrogging; whether it waits in such a join now */
    int64_t robbed;        /* tasks that other workers have taken from its own queue */
    int64_t polls, polled; /* tasks executed before the present poll (0: no poll), and before the last poll */
    int32_t taker;         /* in a leapfrogging join: the worker from which it may steal */
    int64_t fails;         /* in a leapfrogging join: its rounds in a row without a task so far */
    ns_stream victims, dispatch; /* random numbers for probes, and for placing new tasks */
    int64_t *cursor;             /* [levels] where the next round-robin pick of each level begins in its segment */
    int32_t *chance_ppm;         /* [chances] present probability that a level with a chance is entered */
} ns_actor;

/* A walk through the segments of one level, with the state of the walk. Internal to policy/. */
typedef struct {
    uint32_t segment, end; /* the segments from `segment` to `end` - 1 are left to visit */
    /* in `segment`, seen as a ring of queues: probes left, present position, steps made, positions per step */
    uint32_t left, place, step, stride;
    bool begun; /* whether the walk has begun `segment` */
} ns_walk;

/* How far a worker has come in its round. Internal to policy/. */
typedef struct {
    ns_walk walk;
    uint32_t level, next; /* the present level, and the level to enter next */
} ns_round;

/* Initialise `self` for a new run. `cursor` [levels] and `chance_ppm` [chances] are memory of the caller. */
void ns_actor_init(ns_actor *self, const ns_plan *plan, int32_t position, uint64_t seed, int64_t *cursor,
                   int32_t *chance_ppm);

/* Draw one queue of `segment`, which is not empty, at random. */
static inline uint32_t ns_segment_draw(const ns_plan *plan, uint32_t segment, ns_stream *stream) {
    const uint32_t first = plan->seg[segment], size = plan->seg[segment + 1] - first;
    return plan->queue[first + ns_stream_below(stream, size)];
}

/* Return whether a level with this `every` (0: never polled) is due: a multiple of `every` is above `polled` and at
 * most `tasks`, the numbers of tasks that the worker had executed at its last poll, and has executed now. */
static inline bool ns_is_due(uint32_t every, int64_t tasks, int64_t polled) {
    return every && tasks / every > polled / every;
}

/* Return whether a push into the full queue moves half of its tasks to another queue. */
static inline bool ns_spills(const ns_queue *queue) {
    return queue->full == NS_FULL_SPILL_OLDEST || queue->full == NS_FULL_SPILL_NEWEST;
}

/* Return whether a level or rule is in force now, by the iteration and the switches of `view`. */
static inline bool ns_in_force(const ns_level *level, const ns_view *view) {
    if (view->iteration < level->first_iteration || view->iteration > level->last_iteration) return false;
    if (level->toggle == NS_NONE8) return true;
    const bool off = !(view->switches >> level->toggle & 1);
    return off == ((level->flags & NS_FLAG_UNLESS) != 0);
}

/* Return whether a level or rule is always in force: in all iterations, without a switch, a gate, or a restriction to
 * tasks of some tiers (kinds of tasks, enum ns_tier). */
static inline bool ns_is_unconditional(const ns_level *level) {
    return level->first_iteration == 0 && level->last_iteration == UINT32_MAX && level->toggle == NS_NONE8 &&
           !(level->flags & (NS_FLAG_GATED | NS_FLAG_TIERS));
}

/* Return whether the gate of a steal level lets a worker pass: fewer than `live_most` subtrees of the worker's unit are
 * live, and with NS_FLAG_OWN_FIRST the unit awaits no subtree (execution/live_subtrees.h). A level without a gate lets
 * every worker pass. */
static inline bool ns_passes_gate(const ns_plan *plan, const ns_level *level, int32_t worker, const ns_view *view) {
    if (!(level->flags & NS_FLAG_GATED)) return true;
    const int32_t unit = plan->gate[worker];
    return view->live[unit] < plan->live_most && !(level->flags & NS_FLAG_OWN_FIRST && view->awaited[unit]);
}

/* Begin a round. */
void ns_round_begin(ns_round *self);

/* Find the next probe of the worker's round in the present `view`. Sets `*level` and `*queue`. Returns false if the
 * round is over. */
bool ns_round_next(ns_round *self, const ns_plan *plan, ns_actor *actor, const ns_view *view, uint32_t *level,
                   uint32_t *queue);

/* Return whether a worker that passes the level's gate can take from queue `q` now: the queue has more tasks than the
 * level leaves there, and passes the level's watch. */
static inline bool ns_level_opens(const ns_plan *plan, const ns_level *level, const ns_view *view, uint32_t q) {
    if (view->length[q] <= level->leave) return false;
    if (level->watch == NS_NONE8) return true;
    const uint64_t *bits = view->watch + (uint64_t)level->watch * ns_set_words(plan->queue_count);
    return ns_set_has(bits, q) != ((level->flags & NS_FLAG_INVERT) != 0);
}

/* Return how many tasks the level takes from a queue of `length` tasks. */
int64_t ns_level_amount(const ns_level *self, int64_t length);

/* Record that a probe of `queue` by `level` gave `tasks` tasks (0: none) to actors[worker], and update the worker's
 * chances. If tasks came from the own queue of another worker, set the other worker's `thief` and `robbed`. */
void ns_actor_found(ns_actor *actors, const ns_plan *plan, int32_t worker, uint32_t level, uint32_t queue,
                    int64_t tasks);

/* Return whether some steal level of the plan has this anchor. */
bool ns_plan_has_anchor(const ns_plan *plan, enum ns_anchor anchor);

/* Record that `self` runs a task that worker `spawner` spawned (the `parent`: none if both are the same). */
void ns_actor_ran(ns_actor *self, int32_t spawner);

/* Call `visit` for each level and queue that a round of `actor` may probe while `view` does not change, until a call
 * returns true. Returns whether a call returned true. A level whose chance is zero now, and rises if probes of other
 * levels fail, comes last, and only if some other level probes a queue. After the call `actor` is as before. */
bool ns_any_within_reach(const ns_plan *plan, ns_actor *actor, const ns_view *view,
                         bool (*visit)(void *context, uint32_t level, uint32_t queue), void *context);

/* The steal levels that a round of `actor` enters, a bit each: those that are in force and whose gate lets it pass. */
uint64_t ns_open_levels(const ns_plan *plan, const ns_actor *actor, const ns_view *view);

/* Whether some level with a gate has queues for `actor`. */
bool ns_meets_gate(const ns_plan *plan, const ns_actor *actor);

/* List the probes of a round while all queues are empty and `open` is the set of open levels. Probe i draws one of the
 * queues of segment `segments[i]` for level `levels[i]`. Returns the number of probes. Returns -1 if such rounds are
 * not all alike or not this simple: more than `most` probes; a level that does not pick at random or is entered by
 * chance; a worker in a leapfrogging join with a level that joins in only after some rounds; or a chance that failed
 * probes change. */
int32_t ns_quiet_round(const ns_plan *plan, const ns_actor *actor, uint64_t open, uint32_t *levels, uint32_t *segments,
                       int32_t most);

/* ---- back-off and overflow --------------------------------------------------------------------------------------- */

#define NS_LONGEST_WAIT_PS (INT64_C(1) << 52)

/* Return the wait, in ps, after `fails` rounds in a row without a task. `probed` says whether the last round probed a
 * queue: after a round without a probe the wait is at least `scan_ps` (thesis 3.3.1; A-30). */
int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed);

/* Return whether a worker executes its spawned tasks at once: from when its queue is full, until the queue's length
 * falls below `resume_ppm` millionths of its capacity. `overflowed` is the result of the last call. */
bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm);
