#include "plan_file.h"

#include <stdio.h>

#include "numasim/runtime.h"

_Static_assert((int)NS_TYPE_U8 == NS_FIELD_U8 && (int)NS_TYPE_I32 == NS_FIELD_I32 && (int)NS_TYPE_U32 == NS_FIELD_U32 &&
                   (int)NS_TYPE_I64 == NS_FIELD_I64 && (int)NS_TYPE_U64 == NS_FIELD_U64,
               "the types of a plan are kinds of fields");

static bool array(void *fields, const char *name, enum ns_field_type type, const void **values, uint64_t *count) {
    *values = ns_fields_array(fields, name, (enum ns_field_kind)type, count);
    return *values != NULL;
}

static bool integer(void *fields, const char *name, int64_t *value) {
    uint64_t count;
    const int64_t *found = ns_fields_array(fields, name, NS_FIELD_I64, &count);
    if (!found || count != 1) return false;
    *value = *found;
    return true;
}

static const char *text(void *fields, const char *name) { return ns_fields_text(fields, name); }

static bool entries(void *fields, const char *name, uint64_t *count) {
    char full[160];
    int64_t found;
    snprintf(full, sizeof full, "%s.count", name);
    if (!integer(fields, full, &found) || found < 0) return false;
    *count = (uint64_t)found;
    return true;
}

static bool read_waits(ns_plan_file *self, const char *name, ns_i64s *waits_ps) {
    const int64_t size = (int64_t)self->plan.nodes * self->plan.times.segments;
    return ns_read_i64s(&self->reader, name, size, waits_ps) &&
           ns_require_i64s(&self->reader, name, *waits_ps, 0, NS_LONGEST_PS);
}

/* Read the seed. The file has a seed of 2^63 or more as NS_FIELD_U64, any other seed as NS_FIELD_I64. */
static bool read_seed(ns_plan_file *self, const ns_fields *fields) {
    uint64_t count;
    const uint64_t *found = ns_fields_array(fields, "seed", NS_FIELD_U64, &count);
    if (!found || count != 1) found = ns_fields_array(fields, "seed", NS_FIELD_I64, &count);
    if (!found || count != 1) return ns_plan_refuse(&self->reader, "seed is not there as one integer of 64 bits");
    self->seed = *found;
    return true;
}

static bool read_all(ns_plan_file *self, const ns_fields *fields) {
    ns_plan_reader *reader = &self->reader;
    uint64_t count;
    if (!ns_full_plan_read(reader, &self->plan) || !read_seed(self, fields) ||
        !ns_read_i64s(reader, "compute_ps", self->plan.times.segments, &self->compute_ps) ||
        !ns_require_i64s(reader, "compute_ps", self->compute_ps, 0, NS_LONGEST_PS)) {
        return false;
    }
    if (!ns_fields_array(fields, "settled_ps", NS_FIELD_I64, &count)) return true;
    return read_waits(self, "settled_ps", &self->settled_ps) && read_waits(self, "local_wait_ps", &self->local_wait_ps);
}

int ns_plan_file_read(ns_plan_file *self, const ns_fields *fields) {
    *self = (ns_plan_file){.reader.source = {(void *)(uintptr_t)fields, array, integer, text, entries}};
    if (read_all(self, fields)) return NS_OK;
    return self->reader.mistake == NS_PLAN_NO_MEMORY ? NS_ERROR_MEMORY : NS_ERROR_FIELD;
}

bool ns_plan_file_is_for_threads(ns_plan_file *self) {
    const ns_u8s role = self->plan.words.role, helped = self->plan.effects.helpers.has;
    for (uint64_t word = 0; word < role.count; word++) {
        if (role.at[word] == NS_SYNC_OBJECTS)
            return ns_plan_refuse(&self->reader, "the program has transactions, which threads do not execute");
    }
    for (uint64_t worker = 0; worker < helped.count; worker++) {
        if (helped.at[worker])
            return ns_plan_refuse(&self->reader, "the strategy has helpers, which threads do not start");
    }
    const ns_plan *steal = &self->plan.steal;
    for (uint32_t q = 0; q < steal->queue_count; q++) {
        if (steal->queues[q].full == NS_FULL_DISPLACE || ns_spills(&steal->queues[q]))
            return ns_plan_refuse(&self->reader, "tasks leave a full queue for another, which threads do not do");
    }
    for (uint32_t level = 0; level < steal->steal_levels; level++) {
        if (steal->level[level].every)
            return ns_plan_refuse(&self->reader, "workers poll a level between tasks, which threads do not do");
    }
    if (self->plan.inline_above >= 0)
        return ns_plan_refuse(&self->reader, "inline_above is set, but threads do not count unfinished tasks");
    return true;
}

void ns_plan_file_destroy(ns_plan_file *self) { ns_pieces_release(&self->reader.memory); }

static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

ns_segment_time ns_plan_file_start(const ns_plan_file *self, ns_pages *pages, uint32_t segment, ns_toucher toucher,
                                   int64_t measured_ps) {
    const int64_t compute_ps = measured_ps < 0 ? self->compute_ps.at[segment] : measured_ps;
    if (!self->settled_ps.count) return (ns_segment_time){compute_ps, compute_ps, 0};
    const uint64_t at = (uint64_t)toucher.node * (uint64_t)self->plan.times.segments + segment;
    int64_t wait_ps = self->settled_ps.at[at], owed_ps = 0;
    ns_pages_count_settled(pages, segment, toucher.node);
    if (ns_pages_are_open(&self->plan, segment)) {
        wait_ps = ns_pages_wait_ps(pages, segment, toucher, wait_ps, &owed_ps);
    }
    return (ns_segment_time){greater(compute_ps, wait_ps), greater(compute_ps, self->local_wait_ps.at[at]), owed_ps};
}

/* ---- the default plan -------------------------------------------------------------------------------------------- */

static const ns_level DEFAULT_LEVEL = {.amount = 1,
                                       .last_iteration = UINT32_MAX,
                                       .tries = 1,
                                       .sample = NS_ALL16,
                                       .segments = 1,
                                       .watch = NS_NONE8,
                                       .chance = NS_NONE8,
                                       .data = NS_NONE8,
                                       .toggle = NS_NONE8};

/* Fill in a steal level (a thief probes one random queue of another worker in each round) and a dispatch rule (a worker
 * spawns into its own queue), as the tables of numasim/strategy/steal_plan.py. */
static void fill_levels(uint32_t workers, ns_level *level, uint32_t *row, uint32_t *seg, uint32_t *queue) {
    uint32_t entries = 0;
    level[0] = level[1] = DEFAULT_LEVEL;
    level[0].flags = NS_FLAG_ATTEMPT;
    level[1].row = workers;
    level[1].pick = NS_PICK_IN_ORDER;
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

int ns_plan_file_default(ns_plan_file *self, uint32_t workers, uint32_t nodes, const int32_t *node) {
    *self = (ns_plan_file){.seed = 1};
    ns_plan_reader *reader = &self->reader;
    ns_level *level = ns_plan_reader_take(reader, 2, sizeof *level);
    uint32_t *row = ns_plan_reader_take(reader, 2 * (uint64_t)workers + 2, sizeof *row);
    uint32_t *seg = ns_plan_reader_take(reader, 2 * (uint64_t)workers + 2, sizeof *seg);
    uint32_t *queue = ns_plan_reader_take(reader, (uint64_t)workers * workers, sizeof *queue);
    ns_queue *queues = ns_plan_reader_take(reader, workers, sizeof *queues);
    uint32_t *own = ns_plan_reader_take(reader, workers, sizeof *own);
    int32_t *domains = ns_plan_reader_take(reader, nodes, sizeof *domains);
    if (!level || !row || !seg || !queue || !queues || !own || !domains) return NS_ERROR_MEMORY;
    fill_levels(workers, level, row, seg, queue);
    for (uint32_t worker = 0; worker < workers; worker++) {
        queues[worker] = (ns_queue){.home = node[worker], .owner = (int32_t)worker, .own_end = 1};
        own[worker] = worker;
    }
    for (uint32_t at = 0; at < nodes; at++) domains[at] = (int32_t)at;
    self->plan.workers = workers;
    self->plan.nodes = nodes;
    self->plan.backoff = (ns_backoff){.factor = 1, .max_ps = -1, .scan_ps = 1};
    self->plan.thresholds = (ns_threshold_rules){.max_tasks = -1, .min_tasks = -1};
    self->plan.steal = (ns_plan){.level = level,
                                 .row = row,
                                 .seg = seg,
                                 .queue = queue,
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
                                 .domain_count = nodes};
    return NS_OK;
}
