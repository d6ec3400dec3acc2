/* Task graphs, executed op by op (an op is one step of a task): several random fork-join graphs one after the other, or
 * one recorded graph. Every task counts its runs, which shows lost and repeated tasks.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "kernels/delay.h"
#include "kernels/graph/program.h"
#include "kernels/kernel.h"

typedef struct {
    ns_program program;
    ns_delay delay;
    uint32_t *word;        /* [words] ids of the words in the pool */
    _Atomic uint32_t *ran; /* [rows] how often each task has run */
} graph;

typedef struct {
    ns_state_memory memory;
    ns_random_program random;
    int64_t graphs;
    const char *file;
    graph *graph; /* [graphs] */
} state;

static const ns_parameter PARAMETERS[] = {
    {"depth", NS_INTEGER, "8", 0, 200, NULL, "how deep a random graph is", NS_AT(random.depth)},
    {"width", NS_INTEGER, "4", 1, 1000, NULL, "how many children a task of it has at most", NS_AT(random.width)},
    {"graph_seed", NS_INTEGER, "0", 0, INT64_MAX, NULL, "of its draws", NS_AT(random.seed)},
    {"graphs", NS_INTEGER, "1", 1, 1000000, NULL, "so many random graphs, of graph_seed and the seeds after it",
     NS_AT(graphs)},
    {"low_ns", NS_TIME, "100", 0, 1000000000000, NULL, "the least time of its segments", NS_AT(random.low_ps)},
    {"high_ns", NS_TIME, "1000", 0, 1000000000000, NULL, "the most time of its segments", NS_AT(random.high_ps)},
    {"file", NS_PATH, "", 0, 0, NULL, "a recorded task graph to be executed instead", NS_AT(file)},
    {.name = NULL},
};

typedef struct {
    graph *of;
    uint32_t row;
} task;

static void run_row(ns_task *self, graph *of, uint32_t row);

static void run_task(ns_task *self, void *arguments) {
    const task *t = arguments;
    run_row(self, t->of, t->row);
}

static void use_word(ns_task *self, enum ns_op code, uint32_t word) {
    switch (code) {
        case NS_OP_LOCK: ns_word_lock(self, word); break;
        case NS_OP_UNLOCK: ns_word_unlock(self, word); break;
        case NS_OP_ATOMIC: ns_word_add(self, word, 1); break;
        case NS_OP_BARRIER: ns_word_arrive(self, word); break;
        case NS_OP_AWAIT: ns_word_await(self, word); break;
        case NS_OP_SIGNAL: ns_word_signal(self, word); break;
        default: ns_word_broadcast(self, word); break;
    }
}

static void run_op(ns_task *self, graph *of, enum ns_op code, uint32_t argument) {
    switch (code) {
        case NS_OP_RUN:
            ns_delay_take(&of->delay, of->program.segment_ps[argument]);
            ns_work(self, of->program.segment_ps[argument]);
            break;
        case NS_OP_SPAWN: ns_spawn(self, run_task, &(task){of, argument}, sizeof(task)); break;
        case NS_OP_CALL: ns_call(self, run_task, &(task){of, argument}); break;
        case NS_OP_WAIT: ns_join(self); break;
        default: use_word(self, code, of->word[argument]); break;
    }
}

static void run_row(ns_task *self, graph *of, uint32_t row) {
    const ns_program *program = &of->program;
    /* relaxed: the counts are read after all tasks have ended */
    atomic_fetch_add_explicit(&of->ran[row], 1, memory_order_relaxed);
    for (uint64_t at = program->first[row]; at < program->first[row + 1]; at++) {
        run_op(self, of, program->code[at], program->argument[at]);
    }
}

/* ---- making graphs ----------------------------------------------------------------------------------------------- */

static int create_program(ns_program *self, const state *of, int64_t number, ns_setting *setting) {
    ns_random_program random = of->random;
    if (*of->file) return ns_program_read(self, of->file, setting);
    random.seed = (int64_t)(((uint64_t)random.seed + (uint64_t)number) & INT64_MAX);
    return ns_program_draw(self, &random, setting);
}

/* Check that each team of the graph has as many parts as there are workers. */
static int check_team(const ns_program *self, ns_setting *setting) {
    for (uint32_t at = 0; at < self->phases; at++) {
        const ns_program_phase *phase = &self->phase[at];
        if (phase->team && phase->roots != setting->workers) {
            return ns_setting_refuse(setting, "the graph has a team of %u parts; run it with --workers %u",
                                     phase->roots, phase->roots);
        }
    }
    return NS_OK;
}

static int create_graph(graph *self, const state *of, int64_t number, ns_setting *setting) {
    int error = create_program(&self->program, of, number, setting);
    if (!error) error = check_team(&self->program, setting);
    if (error) return error;
    self->ran = calloc((size_t)self->program.rows + 1, sizeof *self->ran);
    self->word = calloc((size_t)self->program.words + 1, sizeof *self->word);
    return self->ran && self->word ? NS_OK : NS_ERROR_MEMORY;
}

static int check_values(const state *self, ns_setting *setting) {
    if (self->random.low_ps > self->random.high_ps) {
        return ns_setting_refuse(setting, "low_ns is above high_ns; swap them");
    }
    if (*self->file && self->graphs > 1) {
        return ns_setting_refuse(setting, "graphs is %lld, and a file holds one graph; leave one of them away",
                                 (long long)self->graphs);
    }
    return NS_OK;
}

static void release(void *whole) {
    state *self = whole;
    for (int64_t at = 0; self->graph && at < self->graphs; at++) {
        ns_program_destroy(&self->graph[at].program);
        free(self->graph[at].word);
        free((void *)self->graph[at].ran);
    }
    free(self->graph);
}

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    int error = check_values(self, setting);
    if (error) return error;
    const ns_delay delay = setting->waits ? ns_delay_calibrate() : (ns_delay){0};
    self->graph = calloc((size_t)self->graphs, sizeof *self->graph);
    if (!self->graph) return NS_ERROR_MEMORY;
    for (int64_t at = 0; at < self->graphs && !error; at++) {
        self->graph[at].delay = delay;
        error = create_graph(&self->graph[at], self, at, setting);
    }
    return error;
}

/* Create the words (synchronisation objects) of a recorded graph. A random graph has no words. */
static int attach(void *whole, ns_pool *pool) {
    graph *self = ((state *)whole)->graph;
    for (uint32_t at = 0; at < self->program.words; at++) {
        const ns_program_word *word = &self->program.word[at];
        const int error = ns_word_attach(pool, word->name, word->role, word->owner, word->parties, &self->word[at]);
        if (error) return error;
    }
    return NS_OK;
}

/* ---- running graphs ---------------------------------------------------------------------------------------------- */

typedef struct {
    graph *of;
    const uint32_t *root; /* [workers] the row of each worker's root */
} team;

static void run_part(ns_task *self, void *arguments) {
    const team *t = arguments;
    run_row(self, t->of, t->root[ns_task_worker(self)]);
}

static int run_graph(graph *self, ns_pool *pool) {
    int error = NS_OK;
    for (uint32_t at = 0; at < self->program.phases && !error; at++) {
        const ns_program_phase *phase = &self->program.phase[at];
        const uint32_t *root = &self->program.root[phase->first_root];
        if (phase->team) {
            error = ns_pool_team(pool, run_part, &(team){self, root}, sizeof(team));
        } else {
            error = ns_pool_run(pool, run_task, &(task){self, *root}, sizeof(task));
        }
    }
    return error;
}

static int run(void *whole, ns_pool *pool) {
    state *self = whole;
    int error = NS_OK;
    for (int64_t at = 0; at < self->graphs && !error; at++) error = run_graph(&self->graph[at], pool);
    return error;
}

static void run_twin(void *whole) {
    const state *self = whole;
    for (const graph *of = self->graph; of < self->graph + self->graphs; of++) {
        for (uint64_t at = 0; at < of->program.first[of->program.rows]; at++) {
            if (of->program.code[at] == NS_OP_RUN)
                ns_delay_take(&of->delay, of->program.segment_ps[of->program.argument[at]]);
        }
    }
}

static bool matches(const void *whole) {
    const state *self = whole;
    for (const graph *of = self->graph; of < self->graph + self->graphs; of++) {
        for (uint32_t row = 0; row < of->program.rows; row++) {
            if (atomic_load_explicit(&of->ran[row], memory_order_relaxed) != 1) return false;
        }
    }
    return true;
}

const ns_kernel ns_graph_kernel = {
    .name = "graph",
    .meaning = "random fork-join graphs, or a recorded one, of which every task runs exactly once",
    .parameters = PARAMETERS,
    .state_bytes = sizeof(state),
    .create = create,
    .attach = attach,
    .run = run,
    .run_twin = run_twin,
    .matches = matches,
    .release = release,
};
