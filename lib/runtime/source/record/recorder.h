/* The recorder of the task graph of a serial run (model 3.1). A row is a task; rows are numbered in the order in which
 * tasks appear. An op is an operation of a task, such as a spawn or a wait. A segment is the work of a task between two
 * ops. A phase is one run of the pool. If memory runs out, `error` is set, and all later calls do nothing: so callers
 * need to check `error` only once. graph_file.c writes the graph as numasim's JSON. */
#pragma once

#include <stdbool.h>

#include "api/operations.h"
#include "generated/enumerations.h"
#include "record/growing.h"

typedef struct {
    uint32_t row;      /* the task whose op this is */
    uint32_t argument; /* the spawned or called row, the segment, or the synchronisation object; else 0 */
    enum ns_op code;
} ns_recorded_op;

typedef struct {
    int64_t compute_ps;
    uint64_t first_access; /* index in `accesses` of the recorder */
    uint32_t accesses;     /* number of accesses */
} ns_recorded_segment;

typedef struct {
    uint32_t row, before; /* `row` waits for `before` */
} ns_recorded_dependence;

typedef struct {
    uint32_t first_root, roots; /* rows */
    bool team;                  /* one root for each worker (ns_pool_team); else one root, of worker 0 */
} ns_recorded_phase;

/* A recorder of zero bytes has recorded nothing. */
typedef struct {
    ns_growing ops;      /* ns_recorded_op */
    ns_growing segments; /* ns_recorded_segment */
    ns_growing accesses; /* ns_access */
    ns_growing phases;   /* ns_recorded_phase */
    ns_growing depends;  /* ns_recorded_dependence */
    uint32_t rows;
    uint64_t open_access; /* index of the first access that belongs to no finished segment */
    int error;
} ns_recorder;

void ns_recorder_destroy(ns_recorder *self);

/* Add a task. Return its row. */
uint32_t ns_recorder_task(ns_recorder *self);

/* Begin a phase whose roots are new rows. Return the first root. */
uint32_t ns_recorder_phase(ns_recorder *self, uint32_t roots, bool team);

/* Add the next op of `row`. */
void ns_recorder_op(ns_recorder *self, uint32_t row, enum ns_op code, uint32_t argument);

/* Note that `row` waits for the row `before`, an earlier child of the same parent. */
void ns_recorder_dependence(ns_recorder *self, uint32_t row, uint32_t before);

/* Note an access of the running segment. */
void ns_recorder_note_access(ns_recorder *self, const ns_access *access);

/* End the running segment: it becomes the next op of `row`. */
void ns_recorder_segment(ns_recorder *self, uint32_t row, int64_t compute_ps);

/* Return whether the running segment has accesses. */
bool ns_recorder_has_access(const ns_recorder *self);

/* Write the graph, with the objects and words (synchronisation objects) of `pool`, to `path`. The file is written
 * completely or not at all. Return 0, or an error whose sentence the pool has. */
int ns_recorder_write(const ns_recorder *self, ns_pool *pool, const char *path);
