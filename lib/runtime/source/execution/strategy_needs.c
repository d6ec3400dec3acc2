#include "execution/strategy_needs.h"

#include "queues/task_queues.h"

bool ns_reads_watches(const ns_plan_tables *tables) { return tables->steal.watches > 0 || tables->refill < 0; }

bool ns_dispatches_to_own(const ns_plan *plan) {
    const ns_level *rule = &plan->level[plan->steal_levels];
    if (plan->levels == plan->steal_levels || rule->anchor != NS_ANCHOR_ME) return false;
    bool own = rule->watch == NS_NONE8 && rule->data == NS_NONE8 && ns_is_unconditional(rule);
    for (uint32_t worker = 0; own && worker < plan->workers; worker++) {
        const uint32_t first = plan->seg[plan->row[rule->row + worker]];
        const uint32_t end = plan->seg[plan->row[rule->row + worker + 1]];
        own = end - first == 1 && plan->queue[first] == plan->own[worker];
        if (own)
            own = !plan->queues[plan->own[worker]].capacity || plan->queues[plan->own[worker]].full == NS_FULL_INLINE;
    }
    return own;
}

bool ns_leaves_copies(const ns_plan *plan) {
    for (uint32_t at = plan->steal_levels; at < plan->levels; at++) {
        if (plan->level[at].flags & NS_FLAG_COPY) return true;
    }
    return false;
}

bool ns_picks_by_length(const ns_plan *plan) {
    for (uint32_t at = 0; at < plan->steal_levels; at++) {
        if (plan->level[at].pick == NS_PICK_LONGEST || plan->level[at].pick == NS_PICK_SHORTEST) return true;
    }
    return false;
}

bool ns_asks_for_parents(const ns_plan *plan) { return ns_plan_has_anchor(plan, NS_ANCHOR_PARENT); }

/* Whether the bit of a watch with two such bounds follows from the length that a queue has now, whatever it had before.
 * `adjacent`: S is s + 1. */
static bool forgets(const int32_t *bound, bool adjacent) {
    const int32_t set = bound[0], cleared = bound[1];
    if (set >= 0 && cleared >= 0) return set <= cleared + 1;
    if (set == NS_MAX_MARK) return cleared == NS_BELOW_MAX_MARK || (cleared == NS_MIN_MARK && adjacent);
    return set == NS_MIN_MARK && cleared == NS_BELOW_MIN_MARK;
}

bool ns_watches_follow_from_lengths(const ns_plan_tables *tables) {
    const ns_threshold_rules *rules = &tables->thresholds;
    const bool adjacent = rules->max_tasks < 0 && rules->rule == NS_RULE_AVAIL;
    bool known = rules->max_tasks >= 0 || adjacent; /* other rules count pushes, or the longest that queues have been */
    for (uint32_t at = 0; at < tables->steal.watches; at++) known &= forgets(&tables->steal.watch[2 * at], adjacent);
    return known;
}

/* Whether all queues can be lanes: a spawn is a push and a join begins with pops, and that is all. */
static bool fits_lanes(const ns_plan_tables *tables) {
    const ns_plan *plan = &tables->steal;
    if (!ns_dispatches_to_own(plan) || ns_leaves_copies(plan) || ns_asks_for_parents(plan)) return false;
    if (ns_reads_watches(tables) && !ns_watches_follow_from_lengths(tables)) return false;
    if (tables->refill || tables->work_first) return false;
    if (tables->join != NS_JOIN_HELP && tables->join != NS_JOIN_OWN) return false;
    for (uint32_t q = 0; q < plan->queue_count; q++) {
        if (!ns_task_queue_is_deque(tables, q) || plan->queues[q].capacity) return false;
    }
    return true;
}

const ns_thread_execution *ns_execution_of_strategy(const ns_plan_tables *tables, bool notes) {
    if (!notes && fits_lanes(tables)) return &ns_lane_execution;
    if (tables->join == NS_JOIN_CONTINUATION) return &ns_fiber_continuing_execution;
    if (tables->join == NS_JOIN_BLOCK)
        return tables->work_first ? &ns_fiber_blocking_execution : &ns_stack_blocking_execution;
    return tables->work_first ? &ns_fiber_execution : &ns_stack_execution;
}
