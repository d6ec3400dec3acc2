#include "api/report.h"

#include <stdbool.h>
#include <stdlib.h>

#include "numasim/runtime.h"

#define COUNTER_NAME(name, NAME) [NS_##NAME] = #name,
const char *const NS_COUNTER_NAME[NS_COUNTERS] = {NS_EACH_COUNTER(COUNTER_NAME)};
#undef COUNTER_NAME

int ns_report_create(ns_report *self, uint32_t workers, uint32_t nodes, uint32_t word_count) {
    const size_t pairs = (size_t)nodes * nodes;
    *self = (ns_report){.workers = workers, .nodes = nodes, .word_count = word_count};
    self->counters = calloc((size_t)workers * NS_COUNTERS + 1, sizeof *self->counters);
    self->node = calloc((size_t)workers + 1, sizeof *self->node);
    self->node_attempts = calloc(pairs + 1, sizeof *self->node_attempts);
    self->node_success = calloc(pairs + 1, sizeof *self->node_success);
    self->node_bytes = calloc(pairs + 1, sizeof *self->node_bytes);
    self->words = calloc((size_t)word_count * NS_SYNC_COUNTS + 1, sizeof *self->words);
    const bool all =
        self->counters && self->node && self->node_attempts && self->node_success && self->node_bytes && self->words;
    if (!all) ns_report_destroy(self);
    return all ? NS_OK : NS_ERROR_MEMORY;
}

void ns_report_destroy(ns_report *self) {
    free(self->counters);
    free(self->node);
    free(self->node_attempts);
    free(self->node_success);
    free(self->node_bytes);
    free(self->words);
    *self = (ns_report){0};
}
