#include "policy/similarity.h"

#include "base/wide.h"

static const int64_t MILLION = 1000000;

static int64_t weight_of(const ns_data *data, const ns_objects *objects) {
    return data->weigh == NS_WEIGH_BYTES ? objects->bytes : objects->count;
}

/* What the objects that count add up to: their bytes, their weight. */
typedef struct {
    int64_t bytes, weight;
} ns_sums;

/* Fill the similarity of `task` to each node. */
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

static bool is_even(const ns_plan *plan, const ns_new_task *task) {
    for (uint32_t node = 1; node < plan->nodes; node++) {
        if (task->similarity[node] != task->similarity[0]) return false;
    }
    return true;
}

static bool is_bound(const ns_plan *plan, const ns_new_task *task) {
    for (uint32_t node = 0; node < plan->nodes; node++) {
        if (task->similarity[node]) return true;
    }
    return false;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* The latency from `node` to each unit of weight, summed. */
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

/* The node that the rule chooses, the first of several. */
static int32_t chosen(const ns_plan *plan, const ns_data *data, const ns_new_task *task) {
    if (!is_bound(plan, task)) return NS_NOWHERE;
    switch (data->rank) {
        case NS_RANK_MOST: return most_similar(plan, task);
        case NS_RANK_CHEAPEST: return cheapest(plan, task);
        default: return first_home(plan, task);
    }
}

/* ---- guards ------------------------------------------------------------------------------------------------------ */

static bool chooses(const ns_data *data, const ns_new_task *task, int32_t first, int32_t node) {
    return data->rank == NS_RANK_ANY ? task->similarity[node] != 0 : node == first;
}

static bool holds_share(const ns_data *data, const ns_new_task *task, int64_t weight, int32_t node) {
    if (!data->min_share_ppm) return true;
    if (node == NS_NOWHERE) return false;
    ns_uwide least = (ns_uwide)weight * (uint32_t)data->min_share_ppm;
    return (ns_uwide)task->similarity[node] * (uint64_t)MILLION >= least;
}

bool ns_data_holds(const ns_plan *plan, const ns_data *data, ns_new_task *task, int32_t here, int32_t *node) {
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
