/* What a strategy decides for all tasks at once (numasim/strategy/control/task_control.py). */
#include "generated/plan_checks.h"

/* Whether a dispatch rule asks for the tier or the label of a task. */
static bool asks_tasks(const ns_plan *steal) {
    for (uint32_t at = steal->steal_levels; at < steal->levels; at++) {
        if (steal->level[at].anchor == NS_ANCHOR_LABEL || steal->level[at].flags & NS_FLAG_TIERS) return true;
    }
    return false;
}

static bool counts_live(const ns_plan *steal) {
    for (uint32_t at = 0; at < steal->steal_levels; at++) {
        if (steal->level[at].flags & NS_FLAG_GATED) return true;
    }
    return false;
}

bool ns_control_check(ns_plan_reader *reader, ns_full_plan *plan, ns_control *self) {
    const uint64_t rows = (uint64_t)plan->graph.rows;
    plan->rules_ask_tasks = asks_tasks(&plan->steal);
    plan->counts_live = counts_live(&plan->steal);
    const bool apart = self->tier.count || self->label.count;
    if (!ns_plan_require(reader, !self->tier.count || self->tier.count == rows, "task_tier does not have every row") ||
        !ns_plan_require(reader, !self->label.count || self->label.count == rows,
                         "task_label does not have every row") ||
        !ns_plan_require(reader, !apart || !plan->graph.folded, "tiers and labels are those of tasks, not of rows")) {
        return false;
    }
    if (!ns_plan_require(reader, !plan->counts_live || self->tier.count == rows,
                         "a level is gated, but tasks have no tiers")) {
        return false;
    }
    for (uint64_t row = 0; row < self->tier.count; row++) {
        const uint8_t tier = self->tier.at[row];
        const bool known = tier == NS_TIER_FREE || tier == NS_TIER_ROOT || tier == NS_TIER_LOCAL;
        if (!ns_plan_require(reader, known, "task_tier[%llu] is none", (unsigned long long)row)) return false;
    }
    return true;
}
