#include "record/recorder.h"

#include <stdlib.h>

#include "base/wide.h"

/* Add an entry of `size` bytes. Return NULL if memory is short now or was short earlier. */
static void *next_entry(ns_recorder *self, ns_growing *array, size_t size) {
    void *entry = self->error ? NULL : ns_growing_add(array, size);
    if (!entry) self->error = self->error ? self->error : NS_ERROR_MEMORY;
    return entry;
}

void ns_recorder_destroy(ns_recorder *self) {
    free(self->ops.entries);
    free(self->segments.entries);
    free(self->accesses.entries);
    free(self->phases.entries);
    free(self->depends.entries);
}

uint32_t ns_recorder_task(ns_recorder *self) {
    if (self->rows == UINT32_MAX) self->error = NS_ERROR_MEMORY; /* rows have 32 bits */
    return self->error ? 0 : self->rows++;
}

uint32_t ns_recorder_phase(ns_recorder *self, uint32_t roots, bool team) {
    ns_recorded_phase *phase = next_entry(self, &self->phases, sizeof *phase);
    const uint32_t first = self->rows;
    if (phase) *phase = (ns_recorded_phase){first, roots, team};
    for (uint32_t root = 0; root < roots; root++) ns_recorder_task(self);
    return first;
}

void ns_recorder_op(ns_recorder *self, uint32_t row, enum ns_op code, uint32_t argument) {
    ns_recorded_op *op = next_entry(self, &self->ops, sizeof *op);
    if (op) *op = (ns_recorded_op){row, argument, code};
}

void ns_recorder_dependence(ns_recorder *self, uint32_t row, uint32_t before) {
    ns_recorded_dependence *made = next_entry(self, &self->depends, sizeof *made);
    if (made) *made = (ns_recorded_dependence){row, before};
}

void ns_recorder_note_access(ns_recorder *self, const ns_access *access) {
    ns_access *made = next_entry(self, &self->accesses, sizeof *made);
    if (made) *made = *access;
}

void ns_recorder_segment(ns_recorder *self, uint32_t row, int64_t compute_ps) {
    const uint64_t first = self->open_access, accesses = self->accesses.count - first;
    ns_recorder_op(self, row, NS_OP_RUN, (uint32_t)self->segments.count);
    ns_recorded_segment *segment = next_entry(self, &self->segments, sizeof *segment);
    if (segment) *segment = (ns_recorded_segment){compute_ps, first, (uint32_t)accesses};
    self->open_access = self->accesses.count;
}

bool ns_recorder_has_access(const ns_recorder *self) { return self->accesses.count > self->open_access; }
