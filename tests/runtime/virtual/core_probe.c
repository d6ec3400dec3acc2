/* Functions for the tests: read a plan from a file, and use its pages. */
#include <stdlib.h>

#include "memory/pages.h"
#include "plan_file.h"

ns_plan_file *probe_read(const ns_fields *fields, int *error);
const char *probe_problem(const ns_plan_file *file);
void probe_destroy(ns_plan_file *file);

ns_pages *probe_pages(const ns_plan_file *file);
void probe_pages_destroy(ns_pages *self);
int64_t probe_faults(const ns_pages *self);
const int64_t *probe_node_bytes(const ns_pages *self);

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
