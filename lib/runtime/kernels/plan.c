/* The task graph of a plan, run as a program: each op of a task is a call of a function of numasim/runtime.h. So any
 * program of the simulator can run in virtual time, with the simulator's counts, and also on threads. On threads,
 * segments keep processors busy for their compute time. The command `numasim-runtime plan` runs this kernel, which is
 * not in the table of kernels. The kernel has no serial twin: a run is correct if every task has run as often as the
 * phase of the task. */
#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"
#include "execution/steps.h"
#include "kernels/kernel.h"

typedef struct {
    ns_state_memory memory;
    int64_t delay; /* `turns_per_ms` of `ns_delay_take` */
    ns_pool *pool;
    const ns_full_plan *plan;
    const ns_i64s *compute_ps; /* [segments] times on threads; NULL in virtual time, where the engine has them */
    int64_t *ran;              /* [rows] how often the task in each row (entry) of the graph has run */
} state;

/* The arguments of a task. */
typedef struct {
    state *of;
    uint32_t row;
} part;

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run_part(ns_task *self, void *arguments);

static void take_op(ns_task *self, state *of, enum ns_op code, uint32_t argument) {
    part next = {of, argument};
    switch (code) {
        case NS_OP_RUN:
            if (ns_runs_in_turns(of->pool))
                of->pool->tasks->work(self, of->compute_ps->at[argument]);
            else if (of->compute_ps)
                ns_delay_take(of->delay, of->compute_ps->at[argument]);
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
        default: of->pool->tasks->op(self, code, argument); break; /* occurs only in virtual time */
    }
}

static void run_row(ns_task *self, state *of, uint32_t row) {
    of->ran[row]++;
    const ns_graph *graph = &of->plan->graph;
    for (int64_t at = graph->op_ptr.at[row]; at < graph->op_ptr.at[row + 1]; at++) {
        take_op(self, of, (enum ns_op)graph->op_code.at[at], graph->op_arg.at[at]);
    }
}

static void run_part(ns_task *self, void *arguments) {
    const part *given = arguments;
    run_row(self, given->of, given->row);
}

/* Run a root. The pool deals roots by the plan, so the root asks the pool for its row. */
static void run_root(ns_task *self, void *arguments) {
    state *of = *(state **)arguments;
    run_row(self, of, of->pool->mode->row(self));
}

static int run(void *whole, ns_pool *pool) {
    const state *self = whole;
    ns_steps steps;
    int error = NS_OK;
    if (!ns_steps_create(&steps, self->plan)) {
        error = ns_pool_fail(pool, NS_ERROR_MEMORY, "there is no memory for the order of the plan's phases");
    }
    while (!error && ns_steps_run(&steps)) {
        error = ns_pool_team(pool, run_root, &self, sizeof self);
        ns_steps_next(&steps);
    }
    ns_pieces_release(&steps.memory);
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

/* Return whether every task has run as often as its phase. */
static bool matches(const void *whole) {
    const state *self = whole;
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

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    if (setting->waits) self->delay = ns_delay_calibrate();
    return NS_OK;
}

static int create_words(ns_pool *pool, const ns_plan_words *words) {
    for (uint32_t word = 0; word < words->declared; word++) {
        char name[32];
        snprintf(name, sizeof name, "word %u", word);
        const bool is_memory = words->role.at[word] == NS_SYNC_OBJECTS; /* runtime.h has no such words */
        const enum ns_word_role role = is_memory ? NS_WORD_LOCK : (enum ns_word_role)words->role.at[word];
        const int64_t made = ns_word_create(pool, name, role, 0, (uint32_t)words->parties.at[word]);
        if (made < 0) return (int)made;
    }
    return NS_OK;
}

static int attach(void *whole, ns_pool *pool) {
    state *self = whole;
    const ns_plan_file *file = pool->mode->plan(pool);
    self->pool = pool;
    self->plan = &file->plan;
    if (pool->options.mode != NS_MODE_VIRTUAL) self->compute_ps = &file->compute_ps;
    self->ran = calloc((size_t)self->plan->graph.rows + 1, sizeof *self->ran);
    const int error = self->ran ? create_words(pool, &self->plan->words) : NS_ERROR_MEMORY;
    return error ? ns_pool_fail(pool, error, "there is no memory for the program of the plan's graph") : NS_OK;
}

static void run_twin(void *whole) { (void)whole; }

static void release(void *whole) { free(((state *)whole)->ran); }

const ns_kernel NS_PLAN_KERNEL = {
    .name = "plan",
    .meaning = "the task graph of the plan",
    .state_bytes = sizeof(state),
    .run_twin = run_twin,
    .matches = matches,
    .create = create,
    .attach = attach,
    .run = run,
    .release = release,
};
