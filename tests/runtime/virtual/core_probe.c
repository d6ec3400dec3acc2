/* Functions that the tests can call: the inline clock of lib/core, a plan from a file, and its pages. */
#include <stdlib.h>

#include "clock/clock.h"
#include "memory/pages.h"
#include "plan_file.h"

ns_plan_file *probe_read(const ns_fields *fields, int *error);
const char *probe_problem(const ns_plan_file *file);
void probe_destroy(ns_plan_file *file);

ns_pages *probe_pages(const ns_plan_file *file);
void probe_pages_destroy(ns_pages *self);
int64_t probe_faults(const ns_pages *self);
const int64_t *probe_node_bytes(const ns_pages *self);

bool probe_next(ns_clock *self, int64_t *time_ps, uint32_t *rank, uint32_t *actor);
void probe_set(ns_clock *self, size_t slot, int64_t time_ps, uint32_t rank, uint32_t actor);
void probe_clear(ns_clock *self, size_t slot);

bool probe_next(ns_clock *self, int64_t *time_ps, uint32_t *rank, uint32_t *actor) {
    const ns_event_key next = ns_clock_next(self);
    *time_ps = ns_event_time(next);
    *rank = ns_event_rank(next);
    *actor = ns_event_actor(next);
    return next != NS_NO_EVENT;
}

void probe_set(ns_clock *self, size_t slot, int64_t time_ps, uint32_t rank, uint32_t actor) {
    ns_clock_set(self, slot, ns_event_key_of(time_ps, rank, actor));
}

void probe_clear(ns_clock *self, size_t slot) { ns_clock_clear(self, slot); }

ns_plan_file *probe_read(const ns_fields *fields, int *error) {
    ns_plan_file *made = malloc(sizeof *made);
    *error = ns_plan_file_read(made, fields);
    return made;
}

const char *probe_problem(const ns_plan_file *file) { return file->reader.problem; }

void probe_destroy(ns_plan_file *file) {
    ns_plan_file_destroy(file);
    free(file);
}

ns_pages *probe_pages(const ns_plan_file *file) {
    ns_pages *made = malloc(sizeof *made);
    return made && ns_pages_create(made, &file->plan) ? made : NULL;
}

void probe_pages_destroy(ns_pages *self) {
    ns_pages_destroy(self);
    free(self);
}

int64_t probe_faults(const ns_pages *self) { return self->placed; }

const int64_t *probe_node_bytes(const ns_pages *self) { return self->node_bytes; }
