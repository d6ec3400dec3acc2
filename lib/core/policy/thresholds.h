/* The thresholds S and s of a queue (thesis eq. 3.3, 3.4; engine/reference/task_queues.py), and the watch bits on them.
 */
#ifndef NUMASIM_POLICY_THRESHOLDS_H
#define NUMASIM_POLICY_THRESHOLDS_H

#include "policy/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t high, low;
} ns_thresholds;

/* What a worker knows of its queue when it computes the thresholds. */
typedef struct {
    int64_t capacity, pushes, span_ps, executed, busy_ps, peak_sum, queues;
} ns_measured;

/* Before anything is measured; `capacity` of a queue without bound is 2^62. */
ns_thresholds ns_thresholds_first(const ns_threshold_rules *rules, int64_t capacity);

/* From what a queue's worker has measured; beyond 2^63 - 1, that. */
ns_thresholds ns_thresholds_computed(const ns_threshold_rules *rules, int64_t push_ps, int64_t pop_ps,
                                     const ns_measured *seen);

/* The length that a bound of a watch stands for. */
static inline int64_t ns_watch_length(int32_t bound, ns_thresholds thresholds) {
    switch (bound) {
        case NS_MIN_MARK: return thresholds.low;
        case NS_MAX_MARK: return thresholds.high;
        case NS_BELOW_MIN_MARK: return thresholds.low - 1;
        case NS_BELOW_MAX_MARK: return thresholds.high - 1;
        default: return bound;
    }
}

/* The bit of a watch with two such bounds, which was `bit`, of a queue of this length. */
static inline bool ns_watch_bit(const int32_t *bound, bool bit, int64_t length, ns_thresholds thresholds) {
    if (length >= ns_watch_length(bound[0], thresholds)) return true;
    return length > ns_watch_length(bound[1], thresholds) && bit;
}

/* Whether the workers whose queues these are alone write the bits of a watch with two such bounds, as one of them comes
 * to take a task, has executed one, or begins to search.
 */
typedef enum { NS_OWNER_TAKES, NS_OWNER_EXECUTED, NS_OWNER_SEARCHES } ns_owner_step;

static inline bool ns_watch_is_owners(const int32_t *bound) {
    return bound[0] == NS_OWNER_MARK || bound[0] == NS_OWNER_EXACT_MARK;
}

/* The bit of such a watch, which was `bit`, after a step of the owner of a queue of this length. */
static inline bool ns_watch_owners_bit(const int32_t *bound, bool bit, ns_owner_step step, int64_t length,
                                       ns_thresholds thresholds) {
    const bool exact = bound[0] == NS_OWNER_EXACT_MARK;
    switch (step) {
        case NS_OWNER_TAKES: return bit || length == thresholds.high || (!exact && length > thresholds.high);
        case NS_OWNER_EXECUTED: return bit && length != thresholds.low && (exact || length > thresholds.low);
        default: return false;
    }
}

/* Bring the watch bits of queue `q`, as in an `ns_view`, up to date with its `length`; by how many there are more. */
int32_t ns_watch_mark(const ns_plan *plan, uint64_t *bits, uint32_t q, int64_t length, ns_thresholds thresholds);

/* The same for the bits that the owner of the queue writes. */
int32_t ns_watch_owner_steps(const ns_plan *plan, uint64_t *bits, uint32_t q, ns_owner_step step, int64_t length,
                             ns_thresholds thresholds);

#ifdef __cplusplus
}
#endif

#endif
