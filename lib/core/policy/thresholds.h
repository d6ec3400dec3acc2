/* The thresholds S (`high`) and s (`low`) of a queue (thesis eq. 3.3, 3.4; engine/reference/task_queues.py), and the
 * watch bits that depend on them. */
#pragma once

#include "generated/plan_structs.h"

typedef struct {
    int64_t high, low;
} ns_thresholds;

/* What a worker has measured of its queue, and computes the thresholds from. */
typedef struct {
    int64_t capacity, pushes, span_ps, executed, busy_ps, peak_sum, queues;
} ns_measured;

/* The thresholds before the first measurement. The `capacity` of an unbounded queue is 2^62. */
ns_thresholds ns_thresholds_first(const ns_threshold_rules *rules, int64_t capacity);

/* Return the thresholds that follow from the measures `seen`, at most 2^63 - 1. */
ns_thresholds ns_thresholds_computed(const ns_threshold_rules *rules, int64_t push_ps, int64_t pop_ps,
                                     const ns_measured *seen);

/* Return the length that a bound of a watch stands for: the bound itself, or the threshold that a mark means. */
static inline int64_t ns_watch_length(int32_t bound, ns_thresholds thresholds) {
    switch (bound) {
        case NS_MIN_MARK: return thresholds.low;
        case NS_MAX_MARK: return thresholds.high;
        case NS_BELOW_MIN_MARK: return thresholds.low - 1;
        case NS_BELOW_MAX_MARK: return thresholds.high - 1;
        default: return bound;
    }
}

/* The new bit of a watch for a queue of this length. The watch has two bounds, and the bit was `bit` before. */
static inline bool ns_watch_bit(const int32_t *bound, bool bit, int64_t length, ns_thresholds thresholds) {
    if (length >= ns_watch_length(bound[0], thresholds)) return true;
    return length > ns_watch_length(bound[1], thresholds) && bit;
}

/* The steps at which the owner of a queue writes the bits of an owners' watch: the owner comes to take a task,
 * has executed a task, or begins to search. */
typedef enum { NS_OWNER_TAKES, NS_OWNER_EXECUTED, NS_OWNER_SEARCHES } ns_owner_step;

static inline bool ns_watch_is_owners(const int32_t *bound) {
    return bound[0] == NS_OWNER_MARK || bound[0] == NS_OWNER_EXACT_MARK;
}

/* Whether the bits of a watch follow from lengths: neither owners write them nor do they say which owners sleep. */
static inline bool ns_watch_follows_length(const int32_t *bound) { return bound[0] >= NS_BELOW_MAX_MARK; }

/* The new bit of an owners' watch after a step of the owner of a queue of this length. The bit was `bit` before. */
static inline bool ns_watch_owners_bit(const int32_t *bound, bool bit, ns_owner_step step, int64_t length,
                                       ns_thresholds thresholds) {
    const bool exact = bound[0] == NS_OWNER_EXACT_MARK;
    switch (step) {
        case NS_OWNER_TAKES: return bit || length == thresholds.high || (!exact && length > thresholds.high);
        case NS_OWNER_EXECUTED: return bit && length != thresholds.low && (exact || length > thresholds.low);
        default: return false;
    }
}

/* Update the watch bits of queue `q`, as in an `ns_view`, to `length`. Returns the change in the number of set bits. */
int32_t ns_watch_mark(const ns_plan *plan, uint64_t *bits, uint32_t q, int64_t length, ns_thresholds thresholds);

/* Update the watch bits of queue `q` that say whether its owner sleeps. Returns the change in the number of set bits.
 */
int32_t ns_watch_owner_sleeps(const ns_plan *plan, uint64_t *bits, uint32_t q, bool sleeps);

/* Update the owners' watch bits of queue `q` after the owner's step. Returns the change in the number of set bits. */
int32_t ns_watch_owner_steps(const ns_plan *plan, uint64_t *bits, uint32_t q, ns_owner_step step, int64_t length,
                             ns_thresholds thresholds);
