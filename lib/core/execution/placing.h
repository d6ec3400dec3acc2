/* What happens to roots, spawned and released tasks: whether they are queued, under which lock, and at what cost
 * (model 3.1, 3.6, 4.1 and 4.5).
 */
#ifndef NUMASIM_EXECUTION_PLACING_H
#define NUMASIM_EXECUTION_PLACING_H

#include "execution/worker_state.h"
#include "policy/round.h"

/* How the roots of a phase are dealt. In a serial phase all go to worker 0, which works alone. */
static inline enum ns_deal ns_deal_of(const ns_phase *phase) { return phase->serial ? NS_DEAL_MASTER : phase->deal; }

/* Whether a dealt root goes past the queues, so that no worker steals it: an implicit body, or any root of a serial
 * phase. */
static inline bool ns_begins_root(bool serial, uint8_t kind) { return serial || kind == NS_ROW_IMPLICIT; }

/* Whether the worker begins a dealt root or item instead of putting it into queue `q`: the first one that would go into
 * its own queue without copies. */
static inline bool ns_keeps_dealt(const ns_worker_state *w, int32_t q, bool is_first, uint32_t copies) {
    return q == w->own && is_first && !copies;
}

/* The tier in force of a row's task; the unit for which the task is meant, or NS_UNKNOWN. */
static inline uint32_t ns_tier_of(const ns_control *control, uint32_t row) {
    return control->tier.count ? control->tier.at[row] : (uint32_t)NS_TIER_LOCAL;
}
static inline int32_t ns_label_of(const ns_control *control, uint32_t row) {
    return control->label.count ? control->label.at[row] : NS_UNKNOWN;
}

/* Whether a child is begun as it is spawned, and its parent is put into a queue. */
static inline bool ns_goes_first(const ns_full_plan *plan, const ns_control *control, uint32_t row) {
    const uint32_t first = plan->work_first_tiers;
    return first == NS_EVERY_TIER || (first && first & ns_tier_of(control, row));
}

/* Whether a worker itself begins a task whose last predecessor it has finished. `is_free`: the worker has no other task. */
static inline bool ns_begins_released(const ns_full_plan *plan, bool is_free) {
    return plan->begins_released && is_free;
}

/* If the spawn order adapts: whether the worker begins the child that it spawns now. Its task is `depth` calls deep on its
 * stack. */
static inline bool ns_adapts_to_child(const ns_full_plan *plan, const ns_actor *actor, ns_worker_state *w,
                                      int64_t depth) {
    const ns_adaptive *rule = &plan->adaptive;
    if (++w->spawns == rule->every) {
        w->goes_first = actor->robbed - w->robbed_before < rule->steals;
        w->robbed_before = actor->robbed;
        w->spawns = 0;
    }
    return w->goes_first && depth < rule->stack;
}

/* Overhead of having chosen queue `q`, or no queue, for a new task: for asking where its data is, and for moving the line
 * of a queue that is not the worker's own. */
static inline int64_t ns_dispatch_ps(const ns_full_plan *plan, const ns_worker_state *w, int32_t q, bool looked) {
    const int64_t line_ps = q != NS_UNKNOWN && q != w->own ? ns_queue_line_ps(plan, w, (uint32_t)q) : 0;
    return line_ps + (looked ? plan->costs.locate_ps : 0);
}

/* Overhead of moving the lines of the queues that get a copy of the task. */
static inline int64_t ns_copies_ps(const ns_full_plan *plan, const ns_worker_state *w, const uint32_t *copy,
                                   uint32_t copies) {
    int64_t line_ps = 0;
    for (uint32_t at = 0; at < copies; at++) {
        if ((int32_t)copy[at] != w->own) line_ps += ns_queue_line_ps(plan, w, copy[at]);
    }
    return line_ps;
}

/* The lock under which the worker puts a task into queue `q`. Its own queue, or no queue, needs none. */
static inline int32_t ns_put_lock(const ns_full_plan *plan, const ns_worker_state *w, int32_t q) {
    return q == w->own ? NS_NO_LOCK : ns_queue_lock(plan, q);
}

/* Overhead of ending a child that worker `spawner` has spawned. */
static inline int64_t ns_join_ps(const ns_full_plan *plan, const ns_worker_state *w, uint32_t spawner) {
    return plan->costs.join_ps + ns_line_ps(plan, w, spawner);
}

/* How long it takes the worker to wake `sleeper`. */
static inline int64_t ns_wake_ps(const ns_full_plan *plan, const ns_worker_state *w, const ns_worker_state *sleeper) {
    return sleeper->node != w->node ? plan->costs.wake_remote_ps : plan->costs.wake_ps;
}

#endif
