/* What a strategy needs: the state of queues that it reads, and the way of executing tasks (execution.h). A watch bit
 * of a queue is set when the queue's length reaches one bound, and cleared when it falls to another. */
#include "execution/execution.h"

/* Return whether every new task of a worker goes to the worker's own queue. */
static bool dispatches_to_own(const ns_plan *plan) {
    const ns_level *rule = &plan->level[plan->steal_levels];
    if (plan->levels == plan->steal_levels || rule->anchor != NS_ANCHOR_ME) return false;
    bool own = rule->watch == NS_NONE8 && rule->data == NS_NONE8 && ns_is_unconditional(rule);
    for (uint32_t worker = 0; own && worker < plan->workers; worker++) {
        const uint32_t first = plan->seg[plan->row[rule->row + worker]];
        const uint32_t end = plan->seg[plan->row[rule->row + worker + 1]];
        const ns_queue *queue = &plan->queues[plan->own[worker]];
        own = end - first == 1 && plan->queue[first] == plan->own[worker] &&
              (!queue->capacity || queue->full == NS_FULL_INLINE);
    }
    return own;
}

/* Return whether a watch bit with these bounds (set at bound[0], cleared at bound[1]) depends only on the queue's
 * present length, not on earlier lengths. `adjacent`: the threshold S is s + 1. */
static bool forgets(const int32_t *bound, bool adjacent) {
    const int32_t set = bound[0], cleared = bound[1];
    if (set >= 0 && cleared >= 0) return set <= cleared + 1;
    if (set == NS_MAX_MARK) return cleared == NS_BELOW_MAX_MARK || (cleared == NS_MIN_MARK && adjacent);
    return set == NS_MIN_MARK && cleared == NS_BELOW_MIN_MARK;
}

/* Return whether all watch bits depend only on present lengths: then changes of queues need not be noted. */
static bool watches_follow_from_lengths(const ns_full_plan *plan) {
    const ns_threshold_rules *rules = &plan->thresholds;
    const bool adjacent = rules->max_tasks < 0 && rules->rule == NS_RULE_AVAIL;
    bool known = rules->max_tasks >= 0 || adjacent; /* other rules depend on numbers of pushes or on peak lengths */
    for (uint32_t at = 0; at < plan->steal.watches; at++) known &= forgets(&plan->steal.watch[2 * at], adjacent);
    return known;
}

/* Return whether all queues can be lanes: spawns push to the own queue, and joins begin with pops from it. */
static bool fits_lanes(const ns_thread_pool *pool) {
    const ns_full_plan *plan = &pool->file.plan;
    if (pool->sleeps) return false; /* a push into a lane wakes nobody */
    if (pool->notes || !pool->own_dispatch || pool->copies || pool->asks_parents) return false;
    if (pool->watches && !watches_follow_from_lengths(plan)) return false;
    if (plan->refill || plan->work_first) return false;
    if (plan->join != NS_JOIN_HELP && plan->join != NS_JOIN_OWN) return false;
    for (uint32_t q = 0; q < plan->steal.queue_count; q++) {
        if (!ns_task_queue_is_deque(plan, q) || plan->steal.queues[q].capacity) return false;
    }
    return true;
}

/* Return the way of executing tasks: in lanes if possible; on fibers only if a task may resume on another worker. */
static const ns_thread_execution *execution_for(const ns_thread_pool *pool) {
    const ns_full_plan *plan = &pool->file.plan;
    if (fits_lanes(pool)) return &ns_lane_execution;
    if (plan->join == NS_JOIN_CONTINUATION) return &ns_fiber_continuing_execution;
    if (plan->join == NS_JOIN_BLOCK)
        return plan->work_first ? &ns_fiber_blocking_execution : &ns_stack_blocking_execution;
    return plan->work_first ? &ns_fiber_execution : &ns_stack_execution;
}

static ns_body *const BODIES[] = {ns_thread_run_long, ns_thread_run_dependent, ns_lane_run_dependent, ns_lane_run_kept,
                                  NULL};

void ns_thread_find_needs(ns_thread_pool *pool) {
    const ns_full_plan *plan = &pool->file.plan;
    pool->bodies = BODIES;
    pool->adapts = plan->adaptive.stack;
    pool->notes = pool->graph.knows_rows || pool->adapts || plan->join == NS_JOIN_LEAPFROG;
    pool->sleeps = plan->idle.given && plan->idle.sleeps;
    pool->watches = plan->steal.watches > 0 || plan->refill < 0;
    pool->asks_sleepers = false;
    for (uint32_t at = 0; at < plan->steal.watches; at++)
        pool->asks_sleepers |= plan->steal.watch[2 * at] == NS_ASLEEP_MARK;
    pool->own_dispatch = dispatches_to_own(&plan->steal);
    pool->sees_lengths = !pool->own_dispatch;
    for (uint32_t at = 0; at < plan->steal.levels; at++) {
        const ns_level *level = &plan->steal.level[at];
        const bool steals = at < plan->steal.steal_levels;
        pool->copies |= !steals && level->flags & NS_FLAG_COPY;
        pool->sees_lengths |= steals && (level->pick == NS_PICK_LONGEST || level->pick == NS_PICK_SHORTEST);
    }
    pool->asks_parents = ns_plan_has_anchor(&plan->steal, NS_ANCHOR_PARENT);
    pool->execution = execution_for(pool);
    pool->base.tasks = pool->graph.boundary.controlled ? &ns_thread_measured_calls : &pool->execution->calls;
    /* In lanes, pushes and pops update no watch bits. A pool of lanes is never quiescent (tasks left that no worker may
     * take): a task that joins finds its children in its own lane, or other workers execute them. */
    pool->notes_watches = pool->watches && !pool->execution->in_lanes;
    pool->can_be_quiescent = !pool->execution->in_lanes;
}
