#include "plan_tables.h"

#include <stdlib.h>

#include "numasim/runtime.h"

int ns_plan_tables_read(ns_plan_tables *self, const ns_fields *fields) {
    ns_plan_file *file = malloc(sizeof *file);
    *self = (ns_plan_tables){.file = file};
    if (!file) return NS_ERROR_MEMORY;
    const int error = ns_plan_file_read(file, fields);
    if (error) return error;
    if (!ns_plan_file_is_for_threads(file)) return NS_ERROR_FIELD;
    const ns_full_plan *plan = &file->plan;
    self->steal = plan->steal;
    self->thresholds = plan->thresholds;
    self->threshold_time = plan->threshold_time;
    self->backoff = plan->backoff;
    self->backoff_after_probe = plan->backoff_after_probe;
    self->backoff_counts_empty = plan->backoff_counts_empty;
    self->refill = plan->refill;
    self->join = plan->join;
    self->work_first = plan->work_first;
    self->inline_resume_ppm = plan->inline_resume_ppm;
    self->seed = file->seed;
    return NS_OK;
}

void ns_plan_tables_destroy(ns_plan_tables *self) {
    if (self->file) ns_plan_file_destroy(self->file);
    free(self->file);
    free(self->made);
    self->file = NULL;
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
                                       .data = NS_NONE8,
                                       .toggle = NS_NONE8};

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
