/* The task graph of a serial run, as it is being found out: tasks with their op programs, segments with what they take
 * and access, phases (model 3.1). graph_file.c writes it as numasim's JSON.
 *
 * Rows are numbered as tasks appear; the file numbers them depth first. Running out of memory is remembered in `error`
 * and makes everything after it a no-op, so that it need be asked for only once.
 */
#ifndef NS_RECORDER_H
#define NS_RECORDER_H

#include <stdbool.h>

#include "api/operations.h"
#include "generated/enumerations.h"
#include "record/growing.h"

typedef struct {
    uint32_t row; /* whose program it is a part of */
    uint32_t argument;
    enum ns_op code;
} ns_recorded_op;

typedef struct {
    int64_t compute_ps;
    uint64_t first_access;
    uint32_t accesses;
} ns_recorded_segment;

typedef struct {
    uint32_t row, before; /* waits for the row before it */
} ns_recorded_dependence;

typedef struct {
    uint32_t first_root, roots; /* rows */
    bool team;                  /* bodies dealt to the workers in turn, instead of one task of the first */
} ns_recorded_phase;

typedef struct {
    ns_growing ops;      /* ns_recorded_op */
    ns_growing segments; /* ns_recorded_segment */
    ns_growing accesses; /* ns_access */
    ns_growing phases;   /* ns_recorded_phase */
    ns_growing depends;  /* ns_recorded_dependence */
    uint32_t rows;
    uint64_t open_access; /* the first access that belongs to no segment yet */
    int error;
} ns_recorder;

void ns_recorder_create(ns_recorder *self);
void ns_recorder_destroy(ns_recorder *self);

/* A new task; its row. */
uint32_t ns_recorder_task(ns_recorder *self);

/* A phase begins, with new rows as its roots; the first of them. */
uint32_t ns_recorder_phase(ns_recorder *self, uint32_t roots, bool team);

/* The next op of `row`. */
void ns_recorder_op(ns_recorder *self, uint32_t row, enum ns_op code, uint32_t argument);

/* `row` waits for the row `before`, which was spawned earlier by the same one. */
void ns_recorder_dependence(ns_recorder *self, uint32_t row, uint32_t before);

/* The segment under way, of whichever task, accesses this. */
void ns_recorder_note_access(ns_recorder *self, const ns_access *access);

/* The segment under way ends, and is the next op of `row`. */
void ns_recorder_segment(ns_recorder *self, uint32_t row, int64_t compute_ps);

/* Whether the segment under way has accesses. */
bool ns_recorder_has_access(const ns_recorder *self);

/* Write the graph to `path`, whole or not at all: 0 or a negative error code. Objects and words are those of `pool`,
 * where the problem is noted. */
int ns_recorder_write(const ns_recorder *self, ns_pool *pool, const char *path);

#endif
