/* The tables of a compiled strategy (numasim/strategy/steal_plan.py). */
#include "generated/plan_checks.h"
#include "policy/pick.h"

enum { MOST_SWITCHES = 64 };

/* How many rows a level needs for its anchors; of labels, as many as there are rows. */
static uint32_t anchors_of(const ns_plan *steal, const ns_level *level, bool steals) {
    switch (level->anchor) {
        case NS_ANCHOR_ALL: return 1;
        case NS_ANCHOR_LABEL: return 0;
        case NS_ANCHOR_LAST: return steal->queue_count;
        case NS_ANCHOR_LIGHTEST:
        case NS_ANCHOR_DATA: return steal->nodes;
        default: return steal->workers + (steals ? 0 : 1);
    }
}

static bool is_in_bounds(const ns_plan *steal, const ns_level *level, uint32_t end, bool steals) {
    const bool kinds = level->anchor <= NS_ANCHOR_LABEL && level->pick <= NS_PICK_BLOCK &&
                       level->visit <= NS_VISIT_WEIGHTED && level->amount_kind <= NS_AMOUNT_SHARE;
    const bool anchor = steals ? level->anchor < NS_ANCHOR_LIGHTEST
                               : level->anchor <= NS_ANCHOR_ALL || level->anchor >= NS_ANCHOR_LIGHTEST;
    const bool row = level->row <= end && end < steal->rows;
    const uint64_t heads = steals && level->flags & NS_FLAG_HEADS ? steal->workers : 0;
    return kinds && anchor && row && end - level->row >= heads + anchors_of(steal, level, steals) &&
           level->segments >= 1 && level->amount >= 1;
}

static bool has_references(ns_plan_reader *reader, const ns_plan *steal, uint32_t index) {
    const ns_level *level = &steal->level[index];
    const bool steals = index < steal->steal_levels, asks = level->data != NS_NONE8;
    if (!ns_plan_require(reader, !asks || (!steals && level->data < steal->data_count),
                         "level[%u] has data that is not there", index)) {
        return false;
    }
    const bool looks = asks && (steal->data[level->data].flags & NS_FLAG_LOOKS) != 0;
    return ns_plan_require(reader, level->anchor != NS_ANCHOR_DATA || looks,
                           "level[%u] has a rule that does not say which node", index) &&
           ns_plan_require(reader, level->watch == NS_NONE8 || level->watch < steal->watches,
                           "level[%u] has a watch that is not there", index) &&
           ns_plan_require(reader, level->chance == NS_NONE8 || level->chance < steal->chances,
                           "level[%u] has a chance that is not there", index) &&
           ns_plan_require(reader, level->toggle == NS_NONE8 || level->toggle < MOST_SWITCHES,
                           "level[%u] has a switch that is not there", index) &&
           ns_plan_require(reader, steals || !(level->flags & NS_FLAG_GATED), "level[%u] is a rule with a gate", index);
}

static bool is_cumulative(const uint64_t *weight, uint32_t first, uint32_t last) {
    for (uint32_t s = first; s < last; s++) {
        if (!weight[s] || (s > first && weight[s] < weight[s - 1])) return false;
    }
    return true;
}

static bool check_level(ns_plan_reader *reader, const ns_plan *steal, uint32_t index) {
    const ns_level *level = &steal->level[index];
    const uint32_t end = index + 1 < steal->levels ? level[1].row : steal->rows - 1;
    const bool fits = is_in_bounds(steal, level, end, index < steal->steal_levels);
    if (!ns_plan_require(reader, fits, "level[%u] is out of bounds", index)) return false;
    if (!has_references(reader, steal, index)) return false;
    for (uint32_t r = level->row; r < end; r++) {
        const uint32_t first = steal->row[r], last = steal->row[r + 1];
        const bool ascends = level->visit != NS_VISIT_WEIGHTED || is_cumulative(steal->weight, first, last);
        if (!ns_plan_require(reader, (last - first) % level->segments == 0, "level[%u] has a row of broken groups",
                             index) ||
            !ns_plan_require(reader, ascends, "weight is not cumulative in a row of level[%u]", index)) {
            return false;
        }
    }
    return true;
}

static bool check_queues(ns_plan_reader *reader, const ns_plan *steal) {
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        const ns_queue *queue = &steal->queues[q];
        const bool fits = queue->home >= -1 && queue->home < (int64_t)steal->nodes && queue->owner >= 0 &&
                          (uint32_t)queue->owner < steal->workers && queue->capacity >= 0 &&
                          queue->own_end <= NS_END_BACK && queue->steal_end <= NS_END_BACK &&
                          queue->full <= NS_FULL_BLOCK;
        if (!ns_plan_require(reader, fits, "queues[%u] is out of bounds", q)) return false;
    }
    return true;
}

static bool check_data(ns_plan_reader *reader, const ns_plan *steal) {
    for (uint32_t at = 0; at < steal->data_count; at++) {
        const ns_data *data = &steal->data[at];
        const bool fits = data->min_bytes >= 0 && data->min_share_ppm >= 0 && data->rank <= NS_RANK_ANY &&
                          NS_COUNT_READS <= data->count && data->count <= NS_COUNT_BOTH &&
                          data->weigh <= NS_WEIGH_OBJECTS;
        if (!ns_plan_require(reader, fits, "data[%u] is out of bounds", at)) return false;
    }
    bool ascends = steal->domain_count > 0;
    for (uint32_t at = 1; ascends && at < steal->domain_count; at++) {
        ascends = steal->domains[at - 1] <= steal->domains[at];
    }
    return ns_plan_require(reader, ascends, "domains does not ascend");
}

static bool keeps_more_than_one(const ns_plan *steal) {
    for (uint32_t at = 0; at < steal->steal_levels; at++) {
        if (steal->level[at].amount_kind == NS_AMOUNT_SHARE || steal->level[at].amount > 1) return true;
    }
    return false;
}

static bool check_own(ns_plan_reader *reader, const ns_plan *steal, int64_t refill) {
    const bool needed = refill != 0 || keeps_more_than_one(steal);
    for (uint32_t worker = 0; worker < steal->workers; worker++) {
        const uint32_t own = steal->own[worker];
        const bool theirs = own >= steal->queue_count || steal->queues[own].owner == (int32_t)worker;
        if (!ns_plan_require(reader, own < steal->queue_count || own == NS_NO_QUEUE,
                             "own[%u] is a queue that is not there", worker) ||
            !ns_plan_require(reader, !needed || own != NS_NO_QUEUE,
                             "own[%u] has no queue for the tasks that the worker steals", worker) ||
            !ns_plan_require(reader, theirs, "own[%u] is a queue that names another owner", worker)) {
            return false;
        }
    }
    return true;
}

static bool add_masks(ns_plan_reader *reader, ns_plan *steal) {
    if (!ns_masks_serve(steal)) return true;
    uint64_t *mask =
        ns_plan_reader_take(reader, (uint64_t)steal->row[steal->rows - 1] * ns_mask_words(steal), sizeof *mask);
    if (!mask) return false;
    ns_masks_fill(steal, mask);
    steal->mask = mask;
    return true;
}

static bool has_sizes(const ns_plan *steal) {
    return steal->levels && steal->levels < NS_NONE8 && steal->rows && steal->queue_count &&
           steal->queue_count < NS_NO_QUEUE && steal->data_count < NS_NONE8 && steal->chances < NS_NONE8 &&
           steal->watches < NS_NONE8;
}

bool ns_plan_check(ns_plan_reader *reader, ns_full_plan *plan, ns_plan *self) {
    self->workers = plan->workers;
    self->nodes = plan->nodes;
    if (!ns_plan_require(reader, has_sizes(self),
                         "level, row, queues, chance, data or watch has a wrong number of entries")) {
        return false;
    }
    for (uint32_t at = 0; at < self->seg[self->row[self->rows - 1]]; at++) {
        const bool there = self->queue[at] < self->queue_count;
        if (!ns_plan_require(reader, there, "queue has a queue that is not there")) return false;
    }
    if (!check_data(reader, self)) return false;
    for (uint32_t at = 0; at < self->levels; at++) {
        if (!check_level(reader, self, at)) return false;
    }
    return check_queues(reader, self) && check_own(reader, self, plan->refill) && add_masks(reader, self);
}
