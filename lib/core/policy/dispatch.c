#include "policy/dispatch.h"

#include <stddef.h>

#include "base/wide.h"
#include "policy/pick.h"

static int64_t weight_of(const ns_data *data, const ns_objects *objects) {
    return data->weigh == NS_WEIGH_BYTES ? objects->bytes : objects->count;
}

/* Sums over the objects of a task that a rule counts (those that the task reads, writes, or both). */
typedef struct {
    int64_t bytes, weight;
} ns_sums;

/* Compute the similarity of `task` to each node (see dispatch.h). Returns the sums over the counted objects. */
static ns_sums weigh(const ns_plan *plan, const ns_data *data, ns_new_task *task) {
    ns_sums sums = {0, 0};
    for (uint32_t node = 0; node < plan->nodes; node++) task->similarity[node] = 0;
    for (uint32_t at = 0; at < task->object_groups; at++) {
        const ns_objects *some = &task->objects[at];
        if (!(some->mode & data->count)) continue;
        sums.bytes += some->bytes;
        sums.weight += weight_of(data, some);
        if (some->home != NS_NOWHERE) task->similarity[some->home] += weight_of(data, some);
    }
    return sums;
}

/* Whether the task is equally similar to all nodes. */
static bool is_even(const ns_plan *plan, const ns_new_task *task) {
    for (uint32_t node = 1; node < plan->nodes; node++) {
        if (task->similarity[node] != task->similarity[0]) return false;
    }
    return true;
}

/* Whether some node has counted objects of the task. */
static bool is_bound(const ns_plan *plan, const ns_new_task *task) {
    for (uint32_t node = 0; node < plan->nodes; node++) {
        if (task->similarity[node]) return true;
    }
    return false;
}

/* ---- which node suits a task best -------------------------------------------------------------------------------- */

/* Return the cost of the task's accesses from `node`: the sum, over all nodes, of the similarity to the node times the
 * latency from `node` to this node. */
static ns_uwide access_ps(const ns_plan *plan, const ns_new_task *task, int32_t node) {
    const int64_t *latency = plan->latency_ps + (uint64_t)(uint32_t)node * plan->nodes;
    ns_uwide sum = 0;
    for (uint32_t home = 0; home < plan->nodes; home++) {
        sum += (ns_uwide)task->similarity[home] * (uint64_t)latency[home];
    }
    return sum;
}

static int32_t cheapest(const ns_plan *plan, const ns_new_task *task) {
    int32_t best = plan->domains[0];
    ns_uwide least = access_ps(plan, task, best);
    for (uint32_t at = 1; at < plan->domain_count; at++) {
        ns_uwide cost = access_ps(plan, task, plan->domains[at]);
        if (cost >= least) continue;
        least = cost;
        best = plan->domains[at];
    }
    return best;
}

static int32_t most_similar(const ns_plan *plan, const ns_new_task *task) {
    int32_t best = NS_NOWHERE;
    int64_t most = 0;
    for (uint32_t at = 0; at < plan->domain_count; at++) {
        int32_t node = plan->domains[at];
        if (task->similarity[node] <= most) continue;
        most = task->similarity[node];
        best = node;
    }
    return best;
}

static int32_t first_home(const ns_plan *plan, const ns_new_task *task) {
    for (uint32_t at = 0; at < plan->domain_count; at++) {
        if (task->similarity[plan->domains[at]]) return plan->domains[at];
    }
    return NS_NOWHERE;
}

/* Return the node that the rule ranks best (the lowest of several): most similar, cheapest to access from, or any node
 * with objects. Returns NS_NOWHERE if no node has objects. */
static int32_t chosen(const ns_plan *plan, const ns_data *data, const ns_new_task *task) {
    if (!is_bound(plan, task)) return NS_NOWHERE;
    switch (data->rank) {
        case NS_RANK_MOST: return most_similar(plan, task);
        case NS_RANK_CHEAPEST: return cheapest(plan, task);
        default: return first_home(plan, task);
    }
}

/* ---- conditions of rules on the task and its objects ------------------------------------------------------------- */

/* Whether the rule counts `node` as a best node; `first` is the result of `chosen`. */
static bool chooses(const ns_data *data, const ns_new_task *task, int32_t first, int32_t node) {
    return data->rank == NS_RANK_ANY ? task->similarity[node] != 0 : node == first;
}

static bool holds_share(const ns_data *data, const ns_new_task *task, int64_t weight, int32_t node) {
    if (!data->min_share_ppm) return true;
    if (node == NS_NOWHERE) return false;
    ns_uwide least = (ns_uwide)weight * (uint32_t)data->min_share_ppm;
    return (ns_uwide)task->similarity[node] * NS_MILLION >= least;
}

/* Whether the conditions of the rule hold for a task that was spawned on node `here`. Sets `*node` to the best node if
 * the rule looks at objects, else to NS_NOWHERE. A look at objects also fills `task->similarity`. */
static bool data_holds(const ns_plan *plan, const ns_data *data, ns_new_task *task, int32_t here, int32_t *node) {
    *node = NS_NOWHERE;
    if (data->flags & NS_FLAG_SOURCE && !task->source) return false;
    if (!(data->flags & NS_FLAG_LOOKS)) return true;
    task->looked = true;
    ns_sums sums = weigh(plan, data, task);
    if (sums.bytes < data->min_bytes) return false;
    if (data->flags & NS_FLAG_UNEVEN && is_even(plan, task)) return false;
    *node = chosen(plan, data, task);
    if (data->flags & NS_FLAG_HERE && !chooses(data, task, *node, here)) return false;
    return holds_share(data, task, sums.weight, *node);
}

bool ns_looks_at_data(const ns_plan *plan) {
    for (uint32_t at = 0; at < plan->data_count; at++) {
        if (plan->data[at].flags & NS_FLAG_LOOKS) return true;
    }
    return false;
}

static bool has_room(const ns_plan *plan, const ns_view *view, const ns_new_task *task, uint32_t queue) {
    const ns_queue *asked = &plan->queues[queue];
    if (asked->full == NS_FULL_DISPLACE) return task->slots;
    if (!asked->capacity || view->length[queue] < asked->capacity) return true;
    return task->spills && ns_spills(asked);
}

/* ---- the segments (lists of queues: round.h) that a rule names --------------------------------------------------- */

static int64_t tasks_in(const ns_plan *plan, ns_row row, const ns_view *view) {
    int64_t tasks = 0;
    for (uint32_t at = plan->seg[row.first]; at < plan->seg[row.end]; at++) tasks += view->length[plan->queue[at]];
    return tasks;
}

static uint32_t anchors_of(const ns_plan *plan, const ns_level *rule) {
    bool last = rule + 1 == plan->level + plan->levels;
    return (last ? plan->rows - 1 : rule[1].row) - rule->row;
}

/* Return the segments of the node whose queues hold the fewest tasks; of several such nodes, the lowest. */
static ns_row lightest_row(const ns_plan *plan, const ns_level *rule, const ns_view *view) {
    ns_row lightest = {0, 0};
    int64_t fewest = INT64_MAX;
    uint32_t anchors = anchors_of(plan, rule);
    for (uint32_t node = 0; node < anchors; node++) {
        ns_row row = ns_row_at(plan, rule, (int32_t)node);
        if (row.first == row.end) continue;
        int64_t tasks = tasks_in(plan, row, view);
        if (tasks < fewest) {
            fewest = tasks;
            lightest = row;
        }
    }
    return lightest;
}

/* Return the segments of unit (set of workers) number `label`; no segments if there is no such unit. */
static ns_row label_row(const ns_plan *plan, const ns_level *rule, int32_t label) {
    if (label < 0 || (uint32_t)label >= anchors_of(plan, rule)) return (ns_row){0, 0};
    return ns_row_at(plan, rule, label);
}

static ns_row rule_row(const ns_turn *turn, const ns_new_task *task) {
    const ns_plan *plan = turn->plan;
    const ns_level *rule = turn->level;
    switch (rule->anchor) {
        case NS_ANCHOR_ME: return ns_row_at(plan, rule, turn->actor->position);
        case NS_ANCHOR_ALL: return ns_row_at(plan, rule, 0);
        case NS_ANCHOR_LABEL: return label_row(plan, rule, task->label);
        default: return lightest_row(plan, rule, turn->view);
    }
}

/* ---- placing ----------------------------------------------------------------------------------------------------- */

/* Return the one queue that the first rule names, if the rule always applies and needs no random number, else
 * NS_UNKNOWN. ns_place tries this queue before it interprets the rules. */
static int32_t usual_home(const ns_plan *plan, int32_t position) {
    const ns_level *rule = &plan->level[plan->steal_levels];
    bool plain = rule->anchor == NS_ANCHOR_ME && rule->pick == NS_PICK_IN_ORDER && rule->watch == NS_NONE8 &&
                 rule->data == NS_NONE8 && ns_is_unconditional(rule) && !(rule->flags & NS_FLAG_COPY);
    if (!plain) return NS_UNKNOWN;
    ns_row row = ns_row_at(plan, rule, position);
    uint32_t first = plan->seg[row.first];
    return plan->seg[row.end] - first == 1 ? (int32_t)plan->queue[first] : NS_UNKNOWN;
}

static int32_t first_with_room(const ns_turn *turn, const ns_new_task *task, ns_row row) {
    ns_walk walk;
    ns_walk_start(&walk, row);
    uint32_t queue;
    while (ns_walk_next(&walk, turn, &queue)) {
        if (has_room(turn->plan, turn->view, task, queue)) return (int32_t)queue;
    }
    return NS_UNKNOWN;
}

/* Return the shortest among the first queues with room of each node where objects of the task lie; of several shortest,
 * the lowest. */
static int32_t shortest_of_homes(const ns_turn *turn, const ns_new_task *task) {
    const ns_plan *plan = turn->plan;
    int32_t best = NS_UNKNOWN;
    for (uint32_t at = 0; at < plan->domain_count; at++) {
        int32_t home = plan->domains[at];
        if (!task->similarity[home]) continue;
        int32_t queue = first_with_room(turn, task, ns_row_at(plan, turn->level, home));
        if (queue == NS_UNKNOWN) continue;
        int64_t gain = best == NS_UNKNOWN ? 1 : turn->view->length[best] - turn->view->length[queue];
        if (gain > 0 || (gain == 0 && queue < best)) best = queue;
    }
    return best;
}

/* Return the queue with room that a rule with conditions on the task and its objects chooses, or NS_UNKNOWN. */
static int32_t place_by_data(const ns_turn *turn, const ns_data *data, ns_new_task *task) {
    const ns_plan *plan = turn->plan;
    int32_t node;
    if (!data_holds(plan, data, task, plan->node[turn->actor->position], &node)) return NS_UNKNOWN;
    if (turn->level->anchor != NS_ANCHOR_DATA) {
        return first_with_room(turn, task, rule_row(turn, task));
    }
    if (node == NS_NOWHERE) return NS_UNKNOWN;
    if (data->rank == NS_RANK_ANY) return shortest_of_homes(turn, task);
    return first_with_room(turn, task, ns_row_at(plan, turn->level, node));
}

/* Whether the rule applies to tasks of every tier, or to the tier of `task`. */
static bool asks_for(const ns_level *rule, const ns_new_task *task) {
    return !(rule->flags & NS_FLAG_TIERS) || rule->flags & (task->tier << NS_TIER_SHIFT);
}

/* Return the queue with room that the rule `turn->level` chooses, or NS_UNKNOWN. */
static int32_t place_by_rule(const ns_turn *turn, ns_new_task *task) {
    uint8_t data = turn->level->data;
    if (!ns_in_force(turn->level, turn->view) || !asks_for(turn->level, task)) return NS_UNKNOWN;
    if (data != NS_NONE8) return place_by_data(turn, &turn->plan->data[data], task);
    return first_with_room(turn, task, rule_row(turn, task));
}

/* Add `queue` to the queues that get a copy of the task, unless `queue` is in the list already. */
static void add_copy(ns_new_task *task, uint32_t queue) {
    for (uint32_t at = 0; at < task->copies; at++) {
        if (task->copy[at] == queue) return;
    }
    task->copy[task->copies++] = queue;
}

/* Take `queue`, which gets the task itself, out of the list of copies. If `queue` is NS_UNKNOWN, empty the list. */
static void leave_out(ns_new_task *task, int32_t queue) {
    uint32_t kept = 0;
    for (uint32_t at = 0; queue != NS_UNKNOWN && at < task->copies; at++) {
        if (task->copy[at] != (uint32_t)queue) task->copy[kept++] = task->copy[at];
    }
    task->copies = kept;
}

int32_t ns_place(const ns_plan *plan, ns_actor *actor, const ns_view *view, ns_new_task *task) {
    task->looked = false;
    task->copies = 0;
    task->rule = 0;
    if (plan->steal_levels == plan->levels) return NS_UNKNOWN;
    int32_t queue = task->first ? NS_UNKNOWN : usual_home(plan, actor->position);
    if (queue != NS_UNKNOWN && has_room(plan, view, task, (uint32_t)queue)) return queue;
    ns_turn turn = {plan, NULL, actor, &actor->dispatch, view, task->index, task->count};
    queue = NS_UNKNOWN;
    for (uint32_t rule = plan->steal_levels + task->first; queue == NS_UNKNOWN && rule < plan->levels; rule++) {
        turn.level = &plan->level[rule];
        task->rule = rule - plan->steal_levels;
        queue = place_by_rule(&turn, task);
        if (queue == NS_UNKNOWN || !(turn.level->flags & NS_FLAG_COPY)) continue;
        add_copy(task, (uint32_t)queue);
        queue = NS_UNKNOWN;
    }
    leave_out(task, queue);
    return queue;
}

/* ---- round robin over all queues --------------------------------------------------------------------------------- */

static bool holds_every_queue(const ns_plan *plan, ns_row row) {
    uint32_t first = plan->seg[row.first], size = plan->seg[row.end] - first;
    bool every = size == plan->queue_count;
    for (uint32_t at = 0; every && at < size; at++) every = plan->queue[first + at] == at;
    return every;
}

int32_t ns_dealing_rule(const ns_plan *plan, int32_t position) {
    for (uint32_t index = plan->steal_levels; index < plan->levels; index++) {
        const ns_level *rule = &plan->level[index];
        bool fixed = rule->anchor == NS_ANCHOR_ALL || rule->anchor == NS_ANCHOR_ME;
        if (!fixed || rule->data != NS_NONE8 || !ns_is_unconditional(rule)) return NS_UNKNOWN;
        if (rule->flags & NS_FLAG_COPY) return NS_UNKNOWN;
        ns_row row = ns_row_at(plan, rule, rule->anchor == NS_ANCHOR_ALL ? 0 : position);
        if (plan->seg[row.first] == plan->seg[row.end]) continue;
        bool deals = rule->pick == NS_PICK_ROUND_ROBIN && rule->watch == NS_NONE8;
        bool one_group = row.end - row.first == rule->segments;
        return deals && one_group && holds_every_queue(plan, row) ? (int32_t)index : NS_UNKNOWN;
    }
    return NS_UNKNOWN;
}
