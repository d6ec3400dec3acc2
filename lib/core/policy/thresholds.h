/* The thresholds S (`high`) and s (`low`) of a queue, in tasks (thesis eq. 3.3, 3.4; engine/reference/task_queues.py),
 * and watches. A watch has one bit for each queue, with hysteresis: the bit is set if the queue's length reaches the
 * upper bound (bound[0]), and cleared if the length falls to the lower bound (bound[1]). A bound is a length in tasks,
 * or a negative mark that stands for a threshold. Two kinds of watches differ: the bits of an owners' watch change only
 * at steps of the queue's owner; the bits of a watch with NS_ASLEEP_MARK say whether the queue's owner sleeps. */
#pragma once

#include "generated/plan_structs.h"

typedef struct {
    int64_t high, low;
} ns_thresholds;

/* The measurements from which a worker computes the thresholds of its queue. */
typedef struct {
    int64_t capacity, pushes, span_ps; /* the queue's bound in tasks; tasks pushed into it in the time `span_ps` */
    int64_t executed, busy_ps;         /* tasks that the worker has executed; time without searches */
    int64_t peak_sum, queues;          /* sum of the greatest lengths of all queues; number of queues */
} ns_measured;

/* Return the thresholds before the first measurement. The `capacity` of an unbounded queue is 2^62. */
ns_thresholds ns_thresholds_first(const ns_threshold_rules *rules, int64_t capacity);

/* Compute the thresholds from the measurements `seen` and the costs of a push and a pop. Returns thresholds of at most
 * 2^63 - 1. */
ns_thresholds ns_thresholds_computed(const ns_threshold_rules *rules, int64_t push_ps, int64_t pop_ps,
                                     const ns_measured *seen);

/* Return the length, in tasks, that a bound stands for: the bound itself, or the threshold that a mark means. */
static inline int64_t ns_watch_length(int32_t bound, ns_thresholds thresholds) {
    switch (bound) {
        case NS_MIN_MARK: return thresholds.low;
        case NS_MAX_MARK: return thresholds.high;
        case NS_BELOW_MIN_MARK: return thresholds.low - 1;
        case NS_BELOW_MAX_MARK: return thresholds.high - 1;
        default: return bound;
    }
}

/* Return the new bit of a queue of this length, in a watch with these two bounds. The bit was `bit` before. */
static inline bool ns_watch_bit(const int32_t *bound, bool bit, int64_t length, ns_thresholds thresholds) {
    if (length >= ns_watch_length(bound[0], thresholds)) return true;
    return length > ns_watch_length(bound[1], thresholds) && bit;
}

/* The steps of a queue's owner that change the queue's bit in an owners' watch: the owner is about to take a
 * task from the queue, has executed a task, or begins to search for tasks elsewhere. */
typedef enum { NS_OWNER_TAKES, NS_OWNER_EXECUTED, NS_OWNER_SEARCHES } ns_owner_step;

static inline bool ns_watch_is_owners(const int32_t *bound) {
    return bound[0] == NS_OWNER_MARK || bound[0] == NS_OWNER_EXACT_MARK;
}

/* Whether the bits of a watch depend on lengths alone, unlike owners' watches and watches with NS_ASLEEP_MARK. */
static inline bool ns_watch_follows_length(const int32_t *bound) { return bound[0] >= NS_BELOW_MAX_MARK; }

/* Return the new bit of a queue of this length, in an owners' watch, after `step`. The bit was `bit` before. */
static inline bool ns_watch_owners_bit(const int32_t *bound, bool bit, ns_owner_step step, int64_t length,
                                       ns_thresholds thresholds) {
    const bool exact = bound[0] == NS_OWNER_EXACT_MARK;
    switch (step) {
        case NS_OWNER_TAKES: return bit || length == thresholds.high || (!exact && length > thresholds.high);
        case NS_OWNER_EXECUTED: return bit && length != thresholds.low && (exact || length > thresholds.low);
        default: return false;
    }
}

/* Update the bits of queue `q` that depend on its length. `bits` [watches][words] has a set of queues for each watch.
 * This and the next two functions return how many more bits are set then (negative: fewer). */
int32_t ns_watch_mark(const ns_plan *plan, uint64_t *bits, uint32_t q, int64_t length, ns_thresholds thresholds);

/* Update the bits of queue `q` in watches with NS_ASLEEP_MARK: its owner falls asleep, or wakes up. */
int32_t ns_watch_owner_sleeps(const ns_plan *plan, uint64_t *bits, uint32_t q, bool sleeps);

/* Update the bits of queue `q` in owners' watches after a step of its owner. */
int32_t ns_watch_owner_steps(const ns_plan *plan, uint64_t *bits, uint32_t q, ns_owner_step step, int64_t length,
                             ns_thresholds thresholds);
