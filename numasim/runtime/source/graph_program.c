#include "graph_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "field_reader.h"
#include "operations.h"
#include "recorder.h"
#include "virtual/virtual.h"

typedef struct {
    const int64_t *roots;
    uint64_t root_count;
    int64_t repeat;
} phase;

struct ns_graph_program {
    ns_pool *pool;
    uint32_t rows, phase_count;
    const int64_t *op_ptr, *subtree_end; /* [rows + 1], [rows] */
    const uint8_t *op_code;
    const uint32_t *op_arg;
    phase *phases;
    int64_t *ran; /* [rows] how often */
};

/* What a task is given. */
typedef struct {
    ns_graph_program *program;
    uint32_t row;
} part;

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run_part(ns_task *self, void *arguments);

static void take_op(ns_task *self, ns_graph_program *program, enum ns_op code, uint32_t argument) {
    part next = {program, argument};
    switch (code) {
        case NS_OP_RUN: break; /* the plan knows what it takes */
        case NS_OP_SPAWN: ns_spawn(self, run_part, &next, sizeof next); break;
        case NS_OP_CALL: ns_call(self, run_part, &next); break;
        case NS_OP_WAIT: ns_join(self); break;
        case NS_OP_LOCK: ns_word_lock(self, argument); break;
        case NS_OP_UNLOCK: ns_word_unlock(self, argument); break;
        case NS_OP_ATOMIC: ns_word_add(self, argument, 1); break;
        case NS_OP_BARRIER: ns_word_arrive(self, argument); break;
        case NS_OP_AWAIT: ns_word_await(self, argument); break;
        case NS_OP_SIGNAL: ns_word_signal(self, argument); break;
        default: ns_word_broadcast(self, argument); break;
    }
}

static void run_row(ns_task *self, ns_graph_program *program, uint32_t row) {
    program->ran[row]++;
    for (int64_t at = program->op_ptr[row]; at < program->op_ptr[row + 1]; at++) {
        take_op(self, program, (enum ns_op)program->op_code[at], program->op_arg[at]);
    }
}

static void run_part(ns_task *self, void *arguments) {
    const part *given = arguments;
    run_row(self, given->program, given->row);
}

/* Roots are dealt as the plan says: which one it is, a task has to ask. */
static void run_root(ns_task *self, void *arguments) {
    ns_graph_program *const *program = arguments;
    run_row(self, *program, ns_virtual_row(self));
}

int ns_graph_program_run(ns_graph_program *self) {
    for (uint32_t number = 0; number < self->phase_count; number++) {
        for (int64_t repeat = 0; repeat < self->phases[number].repeat; repeat++) {
            const int error = ns_pool_team(self->pool, run_root, &self, sizeof(ns_graph_program *));
            if (error) return error;
        }
    }
    return NS_OK;
}

bool ns_graph_program_is_complete(const ns_graph_program *self) {
    int64_t *missing = malloc((self->rows + (size_t)1) * sizeof *missing);
    if (!missing) return false;
    for (uint32_t row = 0; row < self->rows; row++) missing[row] = -self->ran[row];
    for (uint32_t number = 0; number < self->phase_count; number++) {
        const phase *one = &self->phases[number];
        for (uint64_t at = 0; at < one->root_count; at++) {
            const int64_t end = self->subtree_end[one->roots[at]];
            for (int64_t row = one->roots[at]; row < end; row++) missing[row] += one->repeat;
        }
    }
    bool complete = true;
    for (uint32_t row = 0; row < self->rows; row++) complete = complete && !missing[row];
    free(missing);
    return complete;
}

/* ---- out of a plan ----------------------------------------------------------------------------------------------- */

static void read_phase(ns_graph_program *self, ns_field_reader *plan, uint32_t number) {
    char roots[48], repeat[48];
    phase *one = &self->phases[number];
    snprintf(roots, sizeof roots, "phases.%u.roots", number);
    snprintf(repeat, sizeof repeat, "phases.%u.repeat", number);
    one->roots = ns_field_reader_i64(plan, roots, NS_ANY_COUNT, 0, (int64_t)self->rows - 1, &one->root_count);
    one->repeat = ns_field_reader_integer(plan, repeat, 1, INT64_MAX);
}

/* The pool has checked that ops and rows are in bounds. */
static int read_plan(ns_graph_program *self, ns_field_reader *plan) {
    uint64_t ops = 0;
    self->rows = (uint32_t)ns_field_reader_integer(plan, "rows", 0, UINT32_MAX - 1);
    self->phase_count = (uint32_t)ns_field_reader_integer(plan, "phases.count", 0, UINT32_MAX - 1);
    self->op_code = ns_field_reader_array(plan, "op_code", NS_FIELD_U8, NS_ANY_COUNT, &ops);
    self->op_arg = ns_field_reader_array(plan, "op_arg", NS_FIELD_U32, ops, NULL);
    self->op_ptr = ns_field_reader_offsets(plan, "op_ptr", (uint64_t)self->rows + 1, ops);
    self->subtree_end = ns_field_reader_i64(plan, "subtree_end", self->rows, 0, (int64_t)self->rows, NULL);
    if (plan->error) return plan->error;
    self->phases = calloc((size_t)self->phase_count + 1, sizeof *self->phases);
    self->ran = calloc((size_t)self->rows + 1, sizeof *self->ran);
    if (!self->phases || !self->ran) return NS_ERROR_MEMORY;
    for (uint32_t number = 0; number < self->phase_count; number++) read_phase(self, plan, number);
    return plan->error;
}

static int create_words(ns_pool *pool, ns_field_reader *plan) {
    uint64_t count = 0;
    const uint8_t *role = ns_field_reader_array(plan, "word_role", NS_FIELD_U8, NS_ANY_COUNT, &count);
    const int64_t *parties = ns_field_reader_i64(plan, "word_parties", count, 1, NS_MOST_WORKERS, NULL);
    const int64_t declared = ns_field_reader_integer(plan, "words_declared", 0, (int64_t)count);
    for (int64_t word = 0; !plan->error && word < declared; word++) {
        char name[32];
        snprintf(name, sizeof name, "word %u", (unsigned)word);
        const int64_t made = ns_word_create(pool, name, (enum ns_word_role)role[word], 0, (uint32_t)parties[word]);
        if (made < 0) return (int)made;
    }
    return plan->error;
}

int ns_graph_program_create(ns_graph_program **self, ns_pool *pool) {
    if (pool->options.mode != NS_MODE_VIRTUAL) return NS_ERROR_UNSUPPORTED;
    ns_graph_program *made = calloc(1, sizeof *made);
    if (!made) return NS_ERROR_MEMORY;
    made->pool = pool;
    ns_field_reader plan = ns_field_reader_of(ns_virtual_plan(pool));
    int error = read_plan(made, &plan);
    if (!error) error = create_words(pool, &plan);
    if (error) {
        if (plan.error) ns_pool_fail(pool, error, "%s", plan.problem);
        ns_graph_program_destroy(made);
        return error;
    }
    *self = made;
    return NS_OK;
}

void ns_graph_program_destroy(ns_graph_program *self) {
    if (!self) return;
    free(self->phases);
    free(self->ran);
    free(self);
}
