/* The ops of all tasks of a task graph (model 3.1). The graph is random or recorded. */
#ifndef NS_PROGRAM_H
#define NS_PROGRAM_H

#include "kernels/kernel.h"
#include "record/recorder.h"

typedef struct {
    uint32_t first_root, roots; /* a range of indices in `root` */
    bool team;                  /* whether the phase has a root for each worker, and not a single task */
} ns_program_phase;

typedef struct {
    char name[32];
    uint8_t role; /* enum ns_word_role */
    uint32_t owner, parties;
} ns_program_word;

typedef struct {
    uint32_t rows, segments, phases, words;
    uint64_t *first;    /* [rows + 1] index of the first op of each row (task) */
    uint8_t *code;      /* [ops] enum ns_op; each row except a root is spawned or called once */
    uint32_t *argument; /* [ops] */
    int64_t *segment_ps;
    uint32_t *root;
    ns_program_phase *phase;
    ns_program_word *word;
} ns_program;

void ns_program_destroy(ns_program *self);

/* A random fork-join graph. A task at a depth below `depth` has up to `width` children. The task waits for its children
 * between its spawns, at its end, or both. The time of a segment is between `low_ps` and `high_ps`. */
typedef struct {
    int64_t depth, width, seed, low_ps, high_ps;
} ns_random_program;
int ns_program_draw(ns_program *self, const ns_random_program *random, ns_setting *setting);

/* Read a task graph in JSON, the format that a run with --record writes. */
int ns_program_read(ns_program *self, const char *path, ns_setting *setting);

#endif
