#include "control/iteration_boundary.h"

#include <string.h>

enum { TIERS = 1, LABELS = 2, SWITCHES = 4, POLICY = 8 };

static size_t rows_of(const ns_iteration_boundary *self) { return (size_t)self->plan->graph.rows; }

size_t ns_boundary_measures(const ns_iteration_boundary *self) {
    const size_t rows = rows_of(self), nodes = self->plan->nodes;
    return 1 + rows + rows * nodes + nodes * nodes + self->plan->workers;
}

/* ---- making a boundary ------------------------------------------------------------------------------------------- */

static int cannot_write(ns_pool *pool) {
    return ns_pool_fail(pool, NS_ERROR_FILE, "%s cannot be written", pool->options.measures);
}

static int open_files(ns_iteration_boundary *self, ns_pool *pool) {
    const ns_pool_options *options = &pool->options;
    if (options->controls) {
        self->controls = fopen(options->controls, "rb");
        if (!self->controls) return ns_pool_fail(pool, NS_ERROR_FILE, "%s cannot be read", options->controls);
        setvbuf(self->controls, NULL, _IONBF, 0); /* unbuffered: the next run reopens the pipe, and reads on */
    }
    const bool fails = options->measures && ns_output_file_open(&self->measures, options->measures);
    return fails ? cannot_write(pool) : NS_OK;
}

static int check(const ns_iteration_boundary *self, ns_pool *pool) {
    if (self->controlled && !pool->options.controls) {
        return ns_pool_fail(pool, NS_ERROR_OPTION,
                            "the strategy has a controller, but the option `controls` is not set: "
                            "numasim.runtime.controlled_run asks the controller, and writes its decisions to a file");
    }
    if (!self->controlled && (pool->options.controls || pool->options.measures)) {
        return ns_pool_fail(pool, NS_ERROR_OPTION,
                            "the options `controls` and `measures` need a plan whose strategy has a controller");
    }
    return NS_OK;
}

static int allocate(ns_iteration_boundary *self, ns_pool *pool) {
    const size_t rows = rows_of(self), nodes = self->plan->nodes;
    self->tier = ns_pieces_take(&pool->memory, rows, sizeof *self->tier);
    self->label = ns_pieces_take(&pool->memory, rows, sizeof *self->label);
    self->measured = ns_pieces_take(&pool->memory, ns_boundary_measures(self), sizeof *self->measured);
    if (pool->memory.is_short) return NS_ERROR_MEMORY;
    self->task_ps = self->measured + 1;
    self->task_bytes = self->task_ps + rows;
    self->node_bytes = self->task_bytes + rows * nodes;
    self->busy_ps = self->node_bytes + nodes * nodes;
    return NS_OK;
}

int ns_boundary_create(ns_iteration_boundary *self, ns_pool *pool, const ns_fields *fields, const ns_full_plan *plan) {
    *self = (ns_iteration_boundary){.plan = plan,
                                    .controlled = ns_fields_integer(fields, "controlled", 0) != 0,
                                    .in_force = plan->control,
                                    .policy = NS_NO_POLICY};
    int error = check(self, pool);
    if (error || !self->controlled) return error;
    error = allocate(self, pool);
    return error ? error : open_files(self, pool);
}

void ns_boundary_destroy(ns_iteration_boundary *self) {
    if (self->controls) fclose(self->controls);
    if (self->measures.file) ns_output_file_close(&self->measures);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t has;
    uint64_t switches;
    int64_t policy, profile_ps;
} decision;

static bool read_exactly(const ns_iteration_boundary *self, void *values, size_t bytes) {
    return fread(values, 1, bytes, self->controls) == bytes;
}

static bool are_tiers(const uint8_t *tier, size_t rows) {
    bool known = true;
    for (size_t row = 0; row < rows; row++)
        known &= tier[row] == NS_TIER_FREE || tier[row] == NS_TIER_ROOT || tier[row] == NS_TIER_LOCAL;
    return known;
}

/* Read the next record of decisions. Return false if the file ends too soon, or the record is malformed. */
static bool follow(ns_iteration_boundary *self) {
    const size_t rows = rows_of(self);
    decision next;
    if (!read_exactly(self, &next, sizeof next) || next.has & ~(TIERS | LABELS | SWITCHES | POLICY)) return false;
    if (next.has & TIERS) {
        if (!read_exactly(self, self->tier, rows) || !are_tiers(self->tier, rows)) return false;
        self->in_force.tier = (ns_u8s){self->tier, rows};
    }
    if (next.has & LABELS) {
        if (!read_exactly(self, self->label, rows * sizeof *self->label)) return false;
        self->in_force.label = (ns_i32s){self->label, rows};
    }
    if (next.has & SWITCHES) self->in_force.switches = next.switches;
    self->policy = next.has & POLICY ? next.policy : NS_NO_POLICY;
    self->profile_ps = next.profile_ps;
    return next.profile_ps >= 0 && (!(next.has & POLICY) || next.policy >= 0);
}

static int take_over(ns_iteration_boundary *self, ns_pool *pool) {
    if (follow(self)) return NS_OK;
    return ns_pool_fail(pool, NS_ERROR_FORMAT, "%s has no controls of this plan for the iteration that comes next",
                        pool->options.controls);
}

bool ns_boundary_begin(ns_iteration_boundary *self, ns_pool *pool, int *error) {
    *error = NS_OK;
    if (!self->controlled || self->begun) return false;
    self->begun = true;
    *error = take_over(self, pool);
    return true;
}

int ns_boundary_cross(ns_iteration_boundary *self, ns_pool *pool) {
    const size_t count = ns_boundary_measures(self);
    FILE *file = self->measures.file;
    if (file && (fwrite(self->measured, sizeof *self->measured, count, file) != count || fflush(file)))
        return cannot_write(pool);
    memset(self->task_ps, 0, (size_t)(self->node_bytes - self->task_ps) * sizeof *self->task_ps);
    return take_over(self, pool);
}
