#include "graph_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"
#include "execution/steps.h"
#include "record/recorder.h"

struct ns_graph_program {
    ns_pool *pool;
    const ns_full_plan *plan;
    const ns_i64s *compute_ps; /* the times on threads; NULL in virtual time, where the plan has the times */
    ns_graph_delay delay;
    int64_t *ran; /* [rows] how often each task has run */
};

/* The arguments of a task. */
typedef struct {
    ns_graph_program *program;
    uint32_t row;
} part;

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run_part(ns_task *self, void *arguments);

static void take_op(ns_task *self, ns_graph_program *program, enum ns_op code, uint32_t argument) {
    part next = {program, argument};
    switch (code) {
        case NS_OP_RUN:
            if (ns_runs_in_turns(program->pool))
                program->pool->tasks->work(self, program->compute_ps->at[argument]);
            else if (program->compute_ps)
                program->delay.take(program->delay.context, program->compute_ps->at[argument]);
            break;
        case NS_OP_SPAWN: ns_spawn(self, run_part, &next, sizeof next); break;
        case NS_OP_CALL: ns_call(self, run_part, &next); break;
        case NS_OP_WAIT: ns_join(self); break;
        case NS_OP_LOCK: ns_word_lock(self, argument); break;
        case NS_OP_UNLOCK: ns_word_unlock(self, argument); break;
        case NS_OP_ATOMIC: ns_word_add(self, argument, 1); break;
        case NS_OP_BARRIER: ns_word_arrive(self, argument); break;
        case NS_OP_AWAIT: ns_word_await(self, argument); break;
        case NS_OP_SIGNAL: ns_word_signal(self, argument); break;
        case NS_OP_BROADCAST: ns_word_broadcast(self, argument); break;
        default: program->pool->tasks->op(self, code, argument); break; /* occurs only in virtual time */
    }
}

static void run_row(ns_task *self, ns_graph_program *program, uint32_t row) {
    program->ran[row]++;
    const ns_graph *graph = &program->plan->graph;
    for (int64_t at = graph->op_ptr.at[row]; at < graph->op_ptr.at[row + 1]; at++) {
        take_op(self, program, (enum ns_op)graph->op_code.at[at], graph->op_arg.at[at]);
    }
}

static void run_part(ns_task *self, void *arguments) {
    const part *given = arguments;
    run_row(self, given->program, given->row);
}

/* Run a root. The pool deals roots by the plan, so the root asks the pool for its row. */
static void run_root(ns_task *self, void *arguments) {
    ns_graph_program *const *program = arguments;
    run_row(self, *program, (*program)->pool->mode->row(self));
}

int ns_graph_program_run(ns_graph_program *self) {
    ns_steps steps;
    int error = NS_OK;
    if (!ns_steps_create(&steps, self->plan)) {
        error = ns_pool_fail(self->pool, NS_ERROR_MEMORY, "there is no memory for the order of the plan's phases");
    }
    while (!error && ns_steps_run(&steps)) {
        error = ns_pool_team(self->pool, run_root, &self, sizeof(ns_graph_program *));
        ns_steps_next(&steps);
    }
    ns_steps_destroy(&steps);
    return error;
}

/* Return how often a phase runs: its repeats times the repeats of the enclosing loops. */
static int64_t runs_of(const ns_full_plan *plan, int64_t phase) {
    int64_t runs = plan->phases.at[phase].repeat;
    for (uint64_t at = 0; at < plan->loops.count; at++) {
        const ns_loop *loop = &plan->loops.at[at];
        if (loop->first <= phase && phase < loop->end) runs *= loop->repeat;
    }
    return runs;
}

bool ns_graph_program_is_complete(const ns_graph_program *self) {
    const ns_graph *graph = &self->plan->graph;
    int64_t *missing = malloc(((size_t)graph->rows + 1) * sizeof *missing);
    if (!missing) return false;
    for (int64_t row = 0; row < graph->rows; row++) missing[row] = -self->ran[row];
    for (uint64_t number = 0; number < self->plan->phases.count; number++) {
        const ns_phase *one = &self->plan->phases.at[number];
        const int64_t runs = runs_of(self->plan, (int64_t)number);
        for (uint64_t at = 0; at < one->roots.count; at++) {
            const int64_t root = one->roots.at[at], end = root + graph->size.at[root];
            for (int64_t row = root; row < end; row++) missing[row] += runs;
        }
    }
    bool complete = true;
    for (int64_t row = 0; row < graph->rows; row++) complete = complete && !missing[row];
    free(missing);
    return complete;
}

/* ---- making a program from a plan -------------------------------------------------------------------------------- */

static int create_words(ns_pool *pool, const ns_plan_words *words) {
    for (uint32_t word = 0; word < words->declared; word++) {
        char name[32];
        snprintf(name, sizeof name, "word %u", word);
        const bool is_memory = words->role.at[word] == NS_SYNC_OBJECTS; /* a role without a word of runtime.h */
        const enum ns_word_role role = is_memory ? NS_WORD_LOCK : (enum ns_word_role)words->role.at[word];
        const int64_t made = ns_word_create(pool, name, role, 0, (uint32_t)words->parties.at[word]);
        if (made < 0) return (int)made;
    }
    return NS_OK;
}

int ns_graph_program_create(ns_graph_program **self, ns_pool *pool, ns_graph_delay delay) {
    if (pool->options.mode == NS_MODE_SERIAL || pool->options.graph != NS_GRAPH_IS_PROGRAM) return NS_ERROR_UNSUPPORTED;
    ns_graph_program *made = calloc(1, sizeof *made);
    if (!made) return ns_pool_fail(pool, NS_ERROR_MEMORY, "there is no memory for the program of the plan's graph");
    *made = (ns_graph_program){.pool = pool, .delay = delay};
    const ns_plan_file *file = pool->mode->plan(pool);
    if (pool->options.mode != NS_MODE_VIRTUAL) made->compute_ps = &file->compute_ps;
    made->plan = &file->plan;
    made->ran = calloc((size_t)made->plan->graph.rows + 1, sizeof *made->ran);
    const int error = made->ran ? create_words(pool, &made->plan->words) : NS_ERROR_MEMORY;
    if (error) {
        ns_graph_program_destroy(made);
        return ns_pool_fail(pool, error, "there is no memory for the program of the plan's graph");
    }
    *self = made;
    return NS_OK;
}

void ns_graph_program_destroy(ns_graph_program *self) {
    if (!self) return;
    free(self->ran);
    free(self);
}
