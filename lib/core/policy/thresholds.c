#include "policy/thresholds.h"

#include "base/bitset.h"
#include "base/wide.h"

static ns_wide at_least(ns_wide least, ns_wide value) { return value > least ? value : least; }

/* part * times / whole, rounded up; 0 if `whole` is 0. */
static ns_wide ceil_product(int64_t part, int64_t times, int64_t whole) {
    return whole ? ((ns_wide)part * times + whole - 1) / whole : 0;
}

ns_thresholds ns_thresholds_first(const ns_threshold_rules *rules, int64_t capacity) {
    int64_t low = rules->min_tasks >= 0 ? rules->min_tasks : 1;
    if (rules->max_tasks >= 0) return (ns_thresholds){rules->max_tasks, low};
    if (rules->rule == NS_RULE_AVAIL) return (ns_thresholds){ns_saturate((ns_wide)low + 1), low};
    return (ns_thresholds){capacity > 2 ? capacity - 1 : 1, low};
}

/* Compute the threshold S by the strategy's rule. */
static ns_wide high_of(const ns_threshold_rules *rules, int64_t push_ps, ns_wide low, const ns_measured *seen) {
    switch (rules->rule) {
        case NS_RULE_AVAIL: return low + 1;
        case NS_RULE_FRACTION:
            return at_least(low + 1,
                            (ns_wide)seen->peak_sum * rules->fraction_ppm / ((ns_wide)seen->queues * NS_MILLION));
        default: return at_least(1, seen->capacity - ceil_product(seen->pushes, push_ps, seen->span_ps));
    }
}

ns_thresholds ns_thresholds_computed(const ns_threshold_rules *rules, int64_t push_ps, int64_t pop_ps,
                                     const ns_measured *seen) {
    ns_wide low = rules->min_tasks;
    if (low < 0) low = at_least(1, ceil_product(seen->executed, pop_ps, seen->busy_ps));
    ns_wide high = rules->max_tasks;
    if (high < 0) high = high_of(rules, push_ps, low, seen);
    return (ns_thresholds){ns_saturate(high), ns_saturate(low)};
}

/* Change the bit of queue `q` from `before` to `marked`. Returns 1 if the bit is now set, -1 if it is now cleared, 0 if
 * it has not changed. */
static int32_t put_bit(uint64_t *set, uint32_t q, bool before, bool marked) {
    if (marked == before) return 0;
    ns_set_put(set, q, marked);
    return marked ? 1 : -1;
}

int32_t ns_watch_mark(const ns_plan *plan, uint64_t *bits, uint32_t q, int64_t length, ns_thresholds thresholds) {
    const uint32_t words = ns_set_words(plan->queue_count);
    int32_t more = 0;
    for (uint32_t w = 0; w < plan->watches; w++) {
        const int32_t *bound = &plan->watch[2 * w];
        uint64_t *const set = bits + (uint64_t)w * words;
        const bool before = ns_set_has(set, q);
        if (ns_watch_follows_length(bound))
            more += put_bit(set, q, before, ns_watch_bit(bound, before, length, thresholds));
    }
    return more;
}

int32_t ns_watch_owner_sleeps(const ns_plan *plan, uint64_t *bits, uint32_t q, bool sleeps) {
    const uint32_t words = ns_set_words(plan->queue_count);
    int32_t more = 0;
    for (uint32_t w = 0; w < plan->watches; w++) {
        uint64_t *const set = bits + (uint64_t)w * words;
        if (plan->watch[2 * w] == NS_ASLEEP_MARK) more += put_bit(set, q, ns_set_has(set, q), sleeps);
    }
    return more;
}

int32_t ns_watch_owner_steps(const ns_plan *plan, uint64_t *bits, uint32_t q, ns_owner_step step, int64_t length,
                             ns_thresholds thresholds) {
    const uint32_t words = ns_set_words(plan->queue_count);
    int32_t more = 0;
    for (uint32_t w = 0; w < plan->watches; w++) {
        const int32_t *bound = &plan->watch[2 * w];
        uint64_t *const set = bits + (uint64_t)w * words;
        const bool before = ns_set_has(set, q);
        if (ns_watch_is_owners(bound))
            more += put_bit(set, q, before, ns_watch_owners_bit(bound, before, step, length, thresholds));
    }
    return more;
}
