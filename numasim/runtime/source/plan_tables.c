#include "plan_tables.h"

#include <stdlib.h>
#include <string.h>

#include "policy/masks.h"
#include "numasim/runtime.h"
#include "policy/similarity.h"

enum { MILLION = 1000000 };

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* How many anchors a level needs rows for. */
static uint32_t anchors_of(const ns_plan *steal, const ns_level *level, bool steals) {
    switch (level->anchor) {
        case NS_ANCHOR_ALL: return 1;
        case NS_ANCHOR_LAST: return 0;
        case NS_ANCHOR_LIGHTEST:
        case NS_ANCHOR_DATA: return steal->nodes;
        default: return steal->workers + (steals ? 0 : 1);
    }
}

static bool is_in_bounds(const ns_plan *steal, const ns_level *level, uint32_t end, bool steals) {
    const bool kinds = level->anchor <= NS_ANCHOR_DATA && level->pick <= NS_PICK_BLOCK &&
                       level->visit <= NS_VISIT_WEIGHTED && level->amount_kind <= NS_AMOUNT_SHARE;
    const bool anchor = steals ? level->anchor < NS_ANCHOR_LIGHTEST
                               : level->anchor <= NS_ANCHOR_ALL || level->anchor >= NS_ANCHOR_LIGHTEST;
    const bool row = level->row <= end && end < steal->rows;
    return kinds && anchor && row && end - level->row >= anchors_of(steal, level, steals) && level->segments >= 1 &&
           level->amount >= 1;
}

static void check_references(ns_field_reader *reader, const ns_plan *steal, uint32_t index) {
    const ns_level *level = &steal->level[index];
    const bool steals = index < steal->steal_levels, asks = level->data != NS_NONE8;
    ns_field_reader_require(reader, !asks || (!steals && level->data < steal->data_count),
                            "level[%u] has data that is not there", index);
    if (reader->error) return;
    const bool looks = asks && (steal->data[level->data].flags & NS_FLAG_LOOKS) != 0;
    ns_field_reader_require(reader, level->anchor != NS_ANCHOR_DATA || looks,
                            "level[%u] has a rule that does not say which node", index);
    ns_field_reader_require(reader, level->watch == NS_NONE8 || level->watch < steal->watches,
                            "level[%u] has a watch that is not there", index);
    ns_field_reader_require(reader, level->chance == NS_NONE8 || level->chance < steal->chances,
                            "level[%u] has a chance that is not there", index);
}

static bool is_cumulative(const uint64_t *weight, uint32_t first, uint32_t last) {
    for (uint32_t s = first; s < last; s++) {
        if (!weight[s] || (s > first && weight[s] < weight[s - 1])) return false;
    }
    return true;
}

static void check_level(ns_field_reader *reader, const ns_plan *steal, uint32_t index) {
    const ns_level *level = &steal->level[index];
    const uint32_t end = index + 1 < steal->levels ? level[1].row : steal->rows - 1;
    const bool fits = is_in_bounds(steal, level, end, index < steal->steal_levels);
    if (!ns_field_reader_require(reader, fits, "level[%u] is out of bounds", index)) return;
    check_references(reader, steal, index);
    for (uint32_t r = level->row; r < end && !reader->error; r++) {
        const uint32_t first = steal->row[r], last = steal->row[r + 1];
        ns_field_reader_require(reader, (last - first) % level->segments == 0, "level[%u] has a row of broken groups",
                                index);
        const bool ascends = level->visit != NS_VISIT_WEIGHTED || is_cumulative(steal->weight, first, last);
        ns_field_reader_require(reader, ascends, "weight is not cumulative in a row of level[%u]", index);
    }
}

static void check_queues(ns_field_reader *reader, const ns_plan *steal) {
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        const ns_queue *queue = &steal->queues[q];
        const bool fits = queue->home >= -1 && queue->home < (int64_t)steal->nodes && queue->owner >= 0 &&
                          (uint32_t)queue->owner < steal->workers && queue->capacity >= 0 && queue->own_end <= 1 &&
                          queue->steal_end <= 1 && queue->full <= NS_FULL_BLOCK;
        ns_field_reader_require(reader, fits, "queues[%u] is out of bounds", q);
    }
}

static void check_data(ns_field_reader *reader, const ns_plan *steal) {
    for (uint32_t at = 0; at < steal->data_count; at++) {
        const ns_data *data = &steal->data[at];
        const bool fits = data->min_bytes >= 0 && data->min_share_ppm >= 0 && data->rank <= NS_RANK_ANY &&
                          NS_COUNT_READS <= data->count && data->count <= NS_COUNT_BOTH &&
                          data->weigh <= NS_WEIGH_OBJECTS;
        ns_field_reader_require(reader, fits, "data[%u] is out of bounds", at);
    }
    bool ascends = steal->domain_count > 0;
    for (uint32_t at = 1; ascends && at < steal->domain_count; at++) {
        ascends = steal->domains[at - 1] <= steal->domains[at];
    }
    ns_field_reader_require(reader, ascends, "domains does not ascend");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void read_arrays(ns_plan *steal, ns_field_reader *reader) {
    uint64_t levels, rows, segs, queue_entries, watch_entries, chances, queues, data, domains;
    const uint64_t nodes = steal->nodes;
    steal->level = ns_field_reader_records(reader, "level", sizeof *steal->level, &levels);
    steal->row = ns_field_reader_array(reader, "row", NS_FIELD_U32, NS_ANY_COUNT, &rows);
    steal->seg = ns_field_reader_array(reader, "seg", NS_FIELD_U32, NS_ANY_COUNT, &segs);
    steal->queue = ns_field_reader_array(reader, "queue", NS_FIELD_U32, NS_ANY_COUNT, &queue_entries);
    steal->watch = ns_field_reader_array(reader, "watch", NS_FIELD_I32, NS_ANY_COUNT, &watch_entries);
    steal->chance = ns_field_reader_records(reader, "chance", sizeof *steal->chance, &chances);
    steal->queues = ns_field_reader_records(reader, "queues", sizeof *steal->queues, &queues);
    steal->data = ns_field_reader_records(reader, "data", sizeof *steal->data, &data);
    steal->own = ns_field_reader_array(reader, "own", NS_FIELD_U32, steal->workers, NULL);
    const bool counts = levels && levels < NS_NONE8 && rows && segs && queues && queues < NS_NO_QUEUE &&
                        rows <= UINT32_MAX && segs <= UINT32_MAX && queue_entries <= UINT32_MAX && data < NS_NONE8 &&
                        chances < NS_NONE8 && watch_entries % 2 == 0 && watch_entries / 2 < NS_NONE8;
    ns_field_reader_require(reader, counts,
                            "level, row, seg, queues, chance, data or watch has a wrong number of entries");
    if (reader->error) return;
    steal->weight = ns_field_reader_array(reader, "weight", NS_FIELD_U64, segs - 1, NULL);
    steal->node = ns_field_reader_i32(reader, "position_node", steal->workers + UINT64_C(1), 0, steal->nodes - 1, NULL);
    steal->domains = ns_field_reader_i32(reader, "domains", NS_ANY_COUNT, 0, steal->nodes - 1, &domains);
    steal->latency_ps = ns_field_reader_i64(reader, "latency_ps", nodes * nodes, 0, NS_MOST_COST_PS, NULL);
    steal->levels = (uint32_t)levels;
    steal->rows = (uint32_t)rows;
    steal->watches = (uint32_t)watch_entries / 2;
    steal->chances = (uint32_t)chances;
    steal->queue_count = (uint32_t)queues;
    steal->data_count = (uint32_t)data;
    steal->domain_count = (uint32_t)domains;
    ns_field_reader_pointer(reader, "row", steal->row, rows, segs - 1);
    ns_field_reader_pointer(reader, "seg", steal->seg, segs, queue_entries);
    for (uint64_t at = 0; at < queue_entries; at++) {
        ns_field_reader_require(reader, steal->queue[at] < queues, "queue has a queue that is not there");
    }
}

static bool keeps_more_than_one(const ns_plan *steal) {
    for (uint32_t at = 0; at < steal->steal_levels; at++) {
        if (steal->level[at].amount_kind == NS_AMOUNT_SHARE || steal->level[at].amount > 1) return true;
    }
    return false;
}

static void check_own(ns_field_reader *reader, const ns_plan *steal, int64_t refill) {
    const bool needed = refill != 0 || keeps_more_than_one(steal);
    for (uint32_t worker = 0; worker < steal->workers; worker++) {
        const uint32_t own = steal->own[worker];
        ns_field_reader_require(reader, own < steal->queue_count || own == NS_NO_QUEUE,
                                "own[%u] is a queue that is not there", worker);
        ns_field_reader_require(reader, !needed || own != NS_NO_QUEUE,
                                "own[%u] has no queue for the tasks that the worker steals", worker);
        const bool theirs = own >= steal->queue_count || steal->queues[own].owner == (int32_t)worker;
        ns_field_reader_require(reader, theirs, "own[%u] is a queue that names another owner", worker);
    }
}

static void read_steal(ns_plan_tables *self, ns_field_reader *reader) {
    ns_plan *steal = &self->steal;
    steal->workers = (uint32_t)ns_field_reader_integer(reader, "workers", 1, NS_MOST_WORKERS);
    steal->nodes = (uint32_t)ns_field_reader_integer(reader, "nodes", 1, NS_MOST_NODES);
    read_arrays(steal, reader);
    if (reader->error) return;
    steal->steal_levels = (uint32_t)ns_field_reader_integer(reader, "steal_levels", 0, steal->levels);
    check_data(reader, steal);
    for (uint32_t at = 0; at < steal->levels && !reader->error; at++) check_level(reader, steal, at);
    check_queues(reader, steal);
    check_own(reader, steal, self->refill);
}

static void read_waiting(ns_plan_tables *self, ns_field_reader *reader) {
    static const char *const RULE[] = {"literal", "avail", "fraction"};
    static const char *const TIME[] = {"first-drain", "phase", "fixed"};
    self->thresholds = (ns_threshold_rules){
        .max_tasks = ns_field_reader_integer(reader, "max_tasks", -1, NS_LONGEST_PS),
        .min_tasks = ns_field_reader_integer(reader, "min_tasks", -1, NS_LONGEST_PS),
        .fraction_ppm = ns_field_reader_integer(reader, "fraction_ppm", 0, INT64_C(1000) * MILLION),
        .rule = (enum ns_threshold_rule)ns_field_reader_choice(reader, "threshold_rule", RULE, 3),
    };
    self->threshold_time = (enum ns_threshold_time)ns_field_reader_choice(reader, "threshold_time", TIME, 3);
    self->backoff = (ns_backoff){
        .first_ps = ns_field_reader_integer(reader, "backoff_first_ps", 0, NS_LONGEST_PS),
        .factor = ns_field_reader_integer(reader, "backoff_factor", 1, INT64_C(1) << 31),
        .max_ps = ns_field_reader_integer(reader, "backoff_max_ps", -1, NS_LONGEST_PS),
        .poll_ps = ns_field_reader_integer(reader, "poll_ps", 0, NS_MOST_COST_PS),
        .scan_ps = ns_field_reader_integer(reader, "scan_ps", 1, NS_MOST_COST_PS),
    };
    self->backoff_after_probe = ns_field_reader_flag(reader, "backoff_after_probe");
    self->backoff_counts_empty = ns_field_reader_flag(reader, "backoff_counts_empty");
}

/* Seeds are whole words: those from 2^63 on travel as unsigned. */
static uint64_t seed_of(ns_field_reader *reader) {
    uint64_t count;
    const uint64_t *word = ns_fields_array(reader->fields, "seed", NS_FIELD_U64, &count);
    if (word && count == 1) return *word;
    return (uint64_t)ns_field_reader_integer(reader, "seed", INT64_MIN, INT64_MAX);
}

static int add_masks(ns_plan_tables *self) {
    ns_plan *steal = &self->steal;
    if (!ns_masks_serve(steal)) return NS_OK;
    uint64_t *mask = calloc((size_t)steal->row[steal->rows - 1] * ns_mask_words(steal) + 1, sizeof *mask);
    if (!mask) return NS_ERROR_MEMORY;
    ns_masks_fill(steal, mask);
    steal->mask = self->made = mask;
    return NS_OK;
}

int ns_plan_tables_read(ns_plan_tables *self, ns_field_reader *reader) {
    static const char *const JOIN[] = {"help", "own", "strict", "continuation", "block"};
    *self = (ns_plan_tables){0};
    self->refill = ns_field_reader_integer(reader, "refill", -1, NS_LONGEST_PS);
    self->join = (enum ns_join_kind)ns_field_reader_choice(reader, "join", JOIN, 5);
    self->work_first = ns_field_reader_flag(reader, "work_first");
    self->inline_resume_ppm = ns_field_reader_integer(reader, "inline_resume_ppm", 0, MILLION);
    self->seed = seed_of(reader);
    read_waiting(self, reader);
    if (!reader->error) read_steal(self, reader);
    return reader->error ? reader->error : add_masks(self);
}

void ns_plan_tables_destroy(ns_plan_tables *self) {
    free(self->made);
    self->made = NULL;
}

/* ---- without a plan ---------------------------------------------------------------------------------------------- */

/* The tables of the default strategy, in one piece of memory with `row`, `seg` and `queue` behind them. */
typedef struct {
    ns_level level[2];
    uint32_t array[];
} default_tables;

static const ns_level DEFAULT_LEVEL = {.amount = 1,
                                       .last_iteration = UINT32_MAX,
                                       .tries = 1,
                                       .sample = NS_ALL16,
                                       .segments = 1,
                                       .watch = NS_NONE8,
                                       .chance = NS_NONE8,
                                       .data = NS_NONE8};

static void fill_default(default_tables *made, uint32_t workers) {
    uint32_t *row = made->array, *seg = row + 2 * workers + 2, *queue = seg + 2 * workers + 2, entries = 0;
    made->level[0] = made->level[1] = DEFAULT_LEVEL;
    made->level[0].flags = NS_FLAG_ATTEMPT;
    made->level[1].row = workers;
    made->level[1].pick = NS_PICK_IN_ORDER;
    for (uint32_t at = 0; at < 2 * workers + 2; at++) row[at] = at;
    for (uint32_t thief = 0; thief < workers; thief++) {
        seg[thief] = entries;
        for (uint32_t victim = 0; victim < workers; victim++) {
            if (victim != thief) queue[entries++] = victim;
        }
    }
    for (uint32_t worker = 0; worker < workers; worker++) {
        seg[workers + worker] = entries;
        queue[entries++] = worker;
    }
    seg[2 * workers] = seg[2 * workers + 1] = entries;
}

static size_t after(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

int ns_plan_tables_default(ns_plan_tables *self, uint32_t workers, uint32_t nodes, const int32_t *node) {
    const size_t indices = (size_t)4 * workers + 4 + (size_t)workers * workers, alignment = _Alignof(int64_t);
    const size_t head = after(sizeof(default_tables) + indices * sizeof(uint32_t), alignment);
    char *memory = calloc(1, head + workers * (sizeof(ns_queue) + sizeof(uint32_t)) + nodes * sizeof(int32_t));
    if (!memory) return NS_ERROR_MEMORY;
    default_tables *made = (default_tables *)(void *)memory;
    ns_queue *queues = (ns_queue *)(void *)(memory + head);
    uint32_t *own = (uint32_t *)(void *)(queues + workers);
    int32_t *domains = (int32_t *)(void *)(own + workers);
    fill_default(made, workers);
    for (uint32_t worker = 0; worker < workers; worker++) {
        queues[worker] = (ns_queue){.home = node[worker], .owner = (int32_t)worker, .own_end = 1};
        own[worker] = worker;
    }
    for (uint32_t at = 0; at < nodes; at++) domains[at] = (int32_t)at;
    *self = (ns_plan_tables){
        .steal = {.level = made->level,
                  .row = made->array,
                  .seg = made->array + 2 * workers + 2,
                  .queue = made->array + 4 * (size_t)workers + 4,
                  .queues = queues,
                  .own = own,
                  .workers = workers,
                  .steal_levels = 1,
                  .levels = 2,
                  .rows = 2 * workers + 2,
                  .queue_count = workers,
                  .node = node,
                  .domains = domains,
                  .nodes = nodes,
                  .domain_count = nodes},
        .backoff = {.factor = 1, .max_ps = -1, .scan_ps = 1},
        .thresholds = {.max_tasks = -1, .min_tasks = -1},
        .seed = 1,
        .made = memory,
    };
    return NS_OK;
}
