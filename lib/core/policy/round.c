#include "policy/round.h"

#include "base/wide.h"
#include "policy/pick.h"

/* The words level, anchor, row, segment, group, watch, gate, poll and leapfrogging are explained in round.h. A chance
 * is the probability with which a level is entered. */

static const ns_row NO_ROW = {0, 0};

/* ---- what a worker remembers ------------------------------------------------------------------------------------ */

void ns_actor_init(ns_actor *self, const ns_plan *plan, int32_t position, uint64_t seed, int64_t *cursor,
                   int32_t *chance_ppm) {
    bool has_own = (uint32_t)position < plan->workers && plan->own[position] != NS_NO_QUEUE;
    uint64_t ident = (uint32_t)position;
    *self = (ns_actor){
        .position = position,
        .own = has_own ? (int32_t)plan->own[position] : NS_UNKNOWN,
        .last = NS_UNKNOWN,
        .parent = NS_UNKNOWN,
        .thief = NS_UNKNOWN,
        .taker = NS_UNKNOWN,
        .victims = {ns_base(seed, NS_DRAW_VICTIM, ident), 0},
        .dispatch = {ns_base(seed, NS_DRAW_DISPATCH, ident), 0},
        .cursor = cursor,
        .chance_ppm = chance_ppm,
    };
    for (uint32_t level = 0; level < plan->levels; level++) cursor[level] = 0;
    for (uint32_t at = 0; at < plan->chances; at++) chance_ppm[at] = plan->chance[at].first_ppm;
}

static int32_t clamped(int64_t value, int32_t least, int32_t most) {
    int64_t raised = value > least ? value : least;
    return raised < most ? (int32_t)raised : most;
}

static void learn(const ns_chance *chance, int32_t *ppm, uint32_t level, bool hit) {
    bool here = (uint32_t)chance->level == level;
    int32_t on_hit = here ? chance->hit_ppm : chance->elsewhere_hit_ppm;
    int32_t on_miss = here ? chance->miss_ppm : chance->elsewhere_miss_ppm;
    *ppm = clamped((int64_t)*ppm + (hit ? on_hit : on_miss), chance->first_ppm, chance->most_ppm);
}

void ns_actor_found(ns_actor *actors, const ns_plan *plan, int32_t worker, uint32_t level, uint32_t queue,
                    int64_t tasks) {
    ns_actor *self = &actors[worker];
    for (uint32_t at = 0; at < plan->chances; at++) learn(&plan->chance[at], &self->chance_ppm[at], level, tasks > 0);
    if (tasks <= 0) {
        if (plan->level[level].flags & NS_FLAG_FORGET) self->last = NS_UNKNOWN;
        return;
    }
    self->last = (int32_t)queue;
    int32_t robbed = plan->queues[queue].owner;
    if (plan->own[robbed] == queue && robbed != worker) {
        actors[robbed].thief = worker;
        actors[robbed].robbed += tasks;
    }
}

void ns_actor_ran(ns_actor *self, int32_t spawner) { self->parent = spawner == self->position ? NS_UNKNOWN : spawner; }

/* ---- levels ------------------------------------------------------------------------------------------------------ */

int64_t ns_level_amount(const ns_level *self, int64_t length) {
    if (length <= self->leave) return 0;
    bool shared = self->amount_kind == NS_AMOUNT_SHARE;
    const bool rounds_up = !(self->flags & NS_FLAG_ABOVE);
    int64_t wanted = shared ? (length - rounds_up) / self->amount + 1 : self->amount;
    if (self->most && wanted > self->most) wanted = self->most;
    int64_t there = length - self->leave;
    return wanted < there ? wanted : there;
}

/* Whether the worker skips the level. A round skips levels for polls; a poll skips levels that are not due. In a
 * leapfrogging join a worker skips all levels but those with the anchor thief; a level with a `leap_after` joins
 * in when the number of rounds without a task is a multiple of `leap_after`. */
static bool is_idle(const ns_level *level, const ns_actor *actor) {
    const bool due = actor->polls ? ns_is_due(level->every, actor->polls, actor->polled) : !level->every;
    if (!due || !actor->leaps || level->anchor == NS_ANCHOR_THIEF) return !due;
    return !level->leap_after || !actor->fails || actor->fails % level->leap_after;
}

bool ns_plan_has_anchor(const ns_plan *plan, enum ns_anchor anchor) {
    for (uint32_t at = 0; at < plan->steal_levels; at++) {
        if (plan->level[at].anchor == anchor) return true;
    }
    return false;
}

static bool is_in_force(const ns_plan *plan, const ns_level *level, const ns_actor *actor, const ns_view *view) {
    return ns_in_force(level, view) && ns_passes_gate(plan, level, actor->position, view);
}

static bool is_open(const ns_plan *plan, const ns_level *level, const ns_actor *actor, const ns_view *view) {
    return !is_idle(level, actor) && is_in_force(plan, level, actor, view);
}

static int32_t anchor_of(const ns_level *level, const ns_actor *actor) {
    switch (level->anchor) {
        case NS_ANCHOR_ME: return actor->position;
        case NS_ANCHOR_PARENT: return actor->parent;
        case NS_ANCHOR_THIEF: return actor->leapfrogs ? actor->taker : actor->thief;
        case NS_ANCHOR_LAST: return actor->last;
        default: return NS_UNKNOWN;
    }
}

static ns_row row_of(const ns_plan *plan, const ns_level *level, const ns_actor *actor) {
    const int32_t anchor = anchor_of(level, actor);
    if (anchor == NS_UNKNOWN) return NO_ROW;
    if (!(level->flags & NS_FLAG_HEADS)) return ns_row_at(plan, level, anchor);
    const ns_row head = ns_row_at(plan, level, actor->position);
    return head.first == head.end ? NO_ROW : ns_row_at(plan, level, (int32_t)plan->workers + anchor);
}

/* Draw one of the `groups` groups of segments of `row`, with probabilities by weight (`plan->weight` has running sums).
 * Returns the number of the group. */
static uint32_t weighted_group(const ns_plan *plan, ns_row row, uint32_t segments, uint32_t groups, ns_stream *stream) {
    const uint64_t *weight = plan->weight + row.first + segments - 1; /* group g is at [g * segments] */
    uint64_t drawn = ns_stream_below(stream, weight[(groups - 1) * segments]);
    uint32_t low = 0, high = groups;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (drawn < weight[middle * segments]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Return the segments of `row` that the round visits: all, or the segments of one group drawn at random. */
static ns_row entered(const ns_plan *plan, const ns_level *level, ns_row row, ns_stream *stream) {
    if (level->visit == NS_VISIT_NEAREST) return row;
    uint32_t segments = level->segments, groups = (row.end - row.first) / segments;
    uint32_t chosen = level->visit == NS_VISIT_RANDOM ? (uint32_t)ns_stream_below(stream, groups)
                                                      : weighted_group(plan, row, segments, groups, stream);
    uint32_t first = row.first + chosen * segments;
    return (ns_row){first, chosen < groups ? first + segments : first};
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

void ns_round_begin(ns_round *self) {
    ns_walk_start(&self->walk, NO_ROW);
    self->level = self->next = 0;
}

/* Start the walk over the segments of level `self->level`, unless the level has no segments for this worker, or has a
 * chance and the random number is against it. If a level with a chance is entered, it is the last of the round. */
static void enter_level(ns_round *self, const ns_plan *plan, ns_actor *actor) {
    const ns_level *level = &plan->level[self->level];
    ns_row row = row_of(plan, level, actor);
    if (row.first == row.end) return;
    if (level->chance != NS_NONE8) {
        if ((int64_t)ns_stream_below(&actor->victims, NS_MILLION) >= actor->chance_ppm[level->chance]) return;
        self->next = plan->steal_levels;
    }
    ns_walk_start(&self->walk, entered(plan, level, row, &actor->victims));
}

/* `ns_walk_next` for the most frequent kind of level: one random pick among all queues of each segment. */
static bool next_drawn(ns_walk *walk, const ns_plan *plan, ns_stream *stream, uint32_t *queue) {
    while (walk->segment < walk->end) {
        const uint32_t segment = walk->segment++;
        if (plan->seg[segment] == plan->seg[segment + 1]) continue;
        *queue = ns_segment_draw(plan, segment, stream);
        return true;
    }
    return false;
}

/* Find the next queue to probe in the present level. Returns false if the level has no more. */
static bool next_here(ns_round *self, const ns_plan *plan, ns_actor *actor, const ns_view *view, uint32_t *queue) {
    const ns_level *level = &plan->level[self->level];
    if (level->pick == NS_PICK_RANDOM && level->tries == 1 && level->watch == NS_NONE8) {
        return next_drawn(&self->walk, plan, &actor->victims, queue);
    }
    ns_turn turn = {plan, level, actor, &actor->victims, view, 0, 1};
    return ns_walk_next(&self->walk, &turn, queue);
}

bool ns_round_next(ns_round *self, const ns_plan *plan, ns_actor *actor, const ns_view *view, uint32_t *level,
                   uint32_t *queue) {
    bool found = self->walk.segment < self->walk.end && next_here(self, plan, actor, view, queue);
    while (!found && self->next < plan->steal_levels) {
        self->level = self->next++;
        if (!is_open(plan, &plan->level[self->level], actor, view)) continue;
        enter_level(self, plan, actor);
        found = next_here(self, plan, actor, view, queue);
    }
    *level = self->level;
    return found;
}

/* ---- which queues rounds may probe ------------------------------------------------------------------------------- */

typedef struct {
    bool (*call)(void *context, uint32_t level, uint32_t queue);
    void *context;
} visitor;

/* The chance of a level while all probes fail: always 0; 0 now, but rising; in between, or no chance (the level is
 * entered in every round, and others follow); always 1 (no later level is ever entered). */
enum outlook { CHANCE_NONE, CHANCE_RISES, CHANCE_OPEN, CHANCE_CERTAIN };

static enum outlook outlook_of(const ns_plan *plan, const ns_level *level, const ns_actor *actor) {
    ns_row row = row_of(plan, level, actor);
    if (level->chance == NS_NONE8 || row.first == row.end) return CHANCE_OPEN;
    const ns_chance *chance = &plan->chance[level->chance];
    int32_t present = actor->chance_ppm[level->chance];
    if (!present) return chance->most_ppm && chance->elsewhere_miss_ppm > 0 ? CHANCE_RISES : CHANCE_NONE;
    bool falls = chance->first_ppm < NS_MILLION && (chance->miss_ppm < 0 || chance->elsewhere_miss_ppm < 0);
    return present >= NS_MILLION && !falls && !(level->flags & NS_FLAG_FORGET) ? CHANCE_CERTAIN : CHANCE_OPEN;
}

/* Whether picks in many rounds reach all queues of a segment that pass the watch, by chance or in turn, while the view
 * does not change. */
static bool comes_to_all(const ns_level *level, const ns_candidates *some) {
    switch (level->pick) {
        case NS_PICK_RANDOM:
        case NS_PICK_ROTATE:
        case NS_PICK_PERMUTATION:
        case NS_PICK_ROUND_ROBIN: return true;
        case NS_PICK_LONGEST:
        case NS_PICK_SHORTEST: return ns_level_samples(level, ns_candidates_count(some));
        default: return false;
    }
}

static bool any_candidate(const ns_candidates *some, uint32_t index, visitor visit) {
    for (uint32_t at = 0; at < some->size; at++) {
        if (ns_candidates_has(some, at) && visit.call(visit.context, index, some->queue[at])) return true;
    }
    return false;
}

static bool any_picked(const ns_turn *turn, ns_row row, visitor visit) {
    ns_walk walk;
    uint32_t queue;
    ns_walk_start(&walk, row);
    while (ns_walk_next(&walk, turn, &queue)) {
        if (visit.call(visit.context, (uint32_t)(turn->level - turn->plan->level), queue)) return true;
    }
    return false;
}

/* Visit the queues that rounds pick from several segments with one round-robin cursor. Makes one round more than the
 * `longest` segment has queues: then the picks repeat. The cursor is restored. */
static bool any_in_turn(const ns_turn *turn, ns_row row, uint32_t longest, visitor visit) {
    int64_t *cursor = &turn->actor->cursor[turn->level - turn->plan->level];
    const int64_t before = *cursor;
    bool stopped = false;
    for (uint32_t round = 0; round <= longest && !stopped; round++) stopped = any_picked(turn, row, visit);
    *cursor = before;
    return stopped;
}

static bool any_in_row(const ns_turn *turn, ns_row row, visitor visit) {
    const ns_plan *plan = turn->plan;
    uint32_t longest = 0, filled = 0;
    for (uint32_t segment = row.first; segment < row.end; segment++) {
        const uint32_t size = plan->seg[segment + 1] - plan->seg[segment];
        longest = size > longest ? size : longest;
        filled += size != 0;
    }
    const bool in_turn = turn->level->pick == NS_PICK_ROUND_ROBIN && turn->level->visit == NS_VISIT_NEAREST;
    if (in_turn && filled > 1) return any_in_turn(turn, row, longest, visit);
    for (uint32_t segment = row.first; segment < row.end; segment++) {
        ns_candidates some = ns_candidates_of(plan, turn->level, segment, turn->view);
        const bool found = comes_to_all(turn->level, &some)
                               ? any_candidate(&some, (uint32_t)(turn->level - plan->level), visit)
                               : any_picked(turn, (ns_row){segment, segment + 1}, visit);
        if (found) return true;
    }
    return false;
}

static bool any_of_level(const ns_plan *plan, const ns_level *level, ns_actor *actor, const ns_view *view,
                         visitor visit) {
    const ns_turn turn = {plan, level, actor, &actor->victims, view, 0, 1};
    return any_in_row(&turn, row_of(plan, level, actor), visit);
}

/* A visitor that calls `visit`, and remembers in `called` whether there was a call. */
typedef struct {
    visitor visit;
    bool called;
} noted_visit;

static bool note_visit(void *context, uint32_t level, uint32_t queue) {
    noted_visit *self = context;
    self->called = true;
    return self->visit.call(self->visit.context, level, queue);
}

static bool any_in_rounds(const ns_plan *plan, ns_actor *actor, const ns_view *view, visitor visit) {
    noted_visit noted = {visit, false};
    const visitor noting = {note_visit, &noted};
    uint64_t rising = 0;
    for (uint32_t index = 0; index < plan->steal_levels; index++) {
        const ns_level *level = &plan->level[index];
        if (level->every || (is_idle(level, actor) && !level->leap_after)) continue;
        if (!is_in_force(plan, level, actor, view)) continue;
        const enum outlook chance = outlook_of(plan, level, actor);
        if (chance == CHANCE_RISES) rising |= UINT64_C(1) << index;
        const bool probed = chance == CHANCE_OPEN || chance == CHANCE_CERTAIN;
        if (probed && any_of_level(plan, level, actor, view, noting)) return true;
        if (chance == CHANCE_CERTAIN) break;
    }
    for (uint32_t index = 0; index < plan->steal_levels && noted.called; index++) {
        if (!(rising >> index & 1)) continue;
        if (any_of_level(plan, &plan->level[index], actor, view, noting)) return true;
    }
    return false;
}

bool ns_any_within_reach(const ns_plan *plan, ns_actor *actor, const ns_view *view,
                         bool (*visit)(void *context, uint32_t level, uint32_t queue), void *context) {
    const int64_t polls = actor->polls;
    actor->polls = 0; /* a poll is no part of a round */
    const bool stopped = any_in_rounds(plan, actor, view, (visitor){visit, context});
    actor->polls = polls;
    return stopped;
}

/* Whether the level makes the same random picks in every round, with one random number for each probe. */
static bool is_steady(const ns_level *level) {
    bool plain = level->visit == NS_VISIT_NEAREST && level->pick == NS_PICK_RANDOM;
    return plain && level->chance == NS_NONE8 && !(level->flags & NS_FLAG_INVERT);
}

/* The list of probes that ns_quiet_round fills. */
typedef struct {
    uint32_t *levels, *segments;
    int32_t count, most;
} quiet_list;

/* Append the probes of one level. Returns false if the list has no room for them. */
static bool append_quiet(quiet_list *list, const ns_plan *plan, uint32_t index, ns_row row) {
    for (uint32_t segment = row.first; segment < row.end; segment++) {
        uint32_t size = plan->seg[segment + 1] - plan->seg[segment];
        for (uint32_t probe = 0; probe < size && probe < plan->level[index].tries; probe++) {
            if (list->count == list->most) return false;
            list->levels[list->count] = index;
            list->segments[list->count++] = segment;
        }
    }
    return true;
}

uint64_t ns_open_levels(const ns_plan *plan, const ns_actor *actor, const ns_view *view) {
    uint64_t open = 0;
    for (uint32_t index = 0; index < plan->steal_levels; index++)
        open |= (uint64_t)is_open(plan, &plan->level[index], actor, view) << index;
    return open;
}

bool ns_meets_gate(const ns_plan *plan, const ns_actor *actor) {
    for (uint32_t index = 0; index < plan->steal_levels; index++) {
        const ns_row row = row_of(plan, &plan->level[index], actor);
        if (plan->level[index].flags & NS_FLAG_GATED && row.first != row.end) return true;
    }
    return false;
}

int32_t ns_quiet_round(const ns_plan *plan, const ns_actor *actor, uint64_t open, uint32_t *levels, uint32_t *segments,
                       int32_t most) {
    quiet_list list = {levels, segments, 0, most};
    for (uint32_t at = 0; at < plan->chances; at++) {
        if (plan->chance[at].elsewhere_miss_ppm) return -1; /* failed probes change the chance of a level */
    }
    for (uint32_t index = 0; index < plan->steal_levels; index++) {
        const ns_level *level = &plan->level[index];
        if (actor->leaps && level->leap_after) return -1;
        if (!(open >> index & 1)) continue;
        ns_row row = row_of(plan, level, actor);
        if (row.first == row.end) continue;
        if (!is_steady(level)) return -1;
        bool has_candidates = level->watch == NS_NONE8; /* an empty queue does not pass a watch */
        if (has_candidates && !append_quiet(&list, plan, index, row)) return -1;
    }
    return list.count;
}

enum { LAST_EXPONENT = 62 };

/* The lesser of `base` to the power of `exponent` and 2^63 - 1. */
static int64_t power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = ns_multiply(result, base);
        base = ns_multiply(base, base);
    }
    return result;
}

int64_t ns_backoff_wait_ps(const ns_backoff *self, int64_t fails, bool probed) {
    int64_t exponent = fails - 1 < LAST_EXPONENT ? fails - 1 : LAST_EXPONENT;
    int64_t most = self->max_ps < 0 ? NS_LONGEST_WAIT_PS : self->max_ps;
    int64_t wait = self->first_ps ? ns_multiply(self->first_ps, power(self->factor, exponent)) : 0;
    if (!wait) wait = self->poll_ps;
    if (wait > most) wait = most;
    return probed || wait > self->scan_ps ? wait : self->scan_ps;
}

bool ns_overflows(bool overflowed, int64_t length, int64_t capacity, int64_t resume_ppm) {
    if (length >= capacity) return true;
    return overflowed && (ns_wide)length * NS_MILLION >= (ns_wide)capacity * resume_ppm;
}
