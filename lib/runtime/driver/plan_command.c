/* The command `numasim-runtime plan FILE`: run the task graph of a plan as a program of the runtime. In virtual time
 * every program of the simulator can thus be compared with the simulator's result. On threads the graph runs as well.
 */
#include <stdio.h>

#include "driver/driver.h"
#include "graph_program.h"

/* The program of the plan's graph as a kernel. It has no serial twin: the run is correct if every task has run. */
typedef struct {
    ns_state_memory memory;
    ns_graph_program *program;
    ns_delay delay;
} state;

static const ns_parameter PARAMETERS[] = {{.name = NULL}};

static int create(void *whole, ns_setting *setting) {
    state *self = whole;
    if (setting->waits) self->delay = ns_delay_calibrate();
    return NS_OK;
}

static void take(const void *delay, int64_t picoseconds) { ns_delay_take(delay, picoseconds); }

static int attach(void *whole, ns_pool *pool) {
    state *self = whole;
    return ns_graph_program_create(&self->program, pool, (ns_graph_delay){take, &self->delay});
}

static int run(void *whole, ns_pool *pool) {
    const state *self = whole;
    (void)pool;
    return ns_graph_program_run(self->program);
}

static void run_twin(void *whole) { (void)whole; }

static bool matches(const void *whole) {
    const state *self = whole;
    return ns_graph_program_is_complete(self->program);
}

static void release(void *whole) {
    state *self = whole;
    ns_graph_program_destroy(self->program);
}

static const ns_kernel PLAN = {
    .name = "plan",
    .meaning = "the task graph of the plan",
    .parameters = PARAMETERS,
    .state_bytes = sizeof(state),
    .create = create,
    .attach = attach,
    .run = run,
    .run_twin = run_twin,
    .matches = matches,
    .release = release,
};

static int refuse(const char *problem) {
    fprintf(stderr, "numasim-runtime: plan: %s\n", problem);
    return NS_EXIT_BAD_INPUT;
}

/* Return whether the options contain one that only other kernels have. */
static bool asks_for_more(const ns_options *options) {
    return options->kernel != &PLAN || options->list || options->help || options->repeats || options->rehearse ||
           options->warm_up || options->pool.record || options->pool.mode == NS_MODE_SERIAL;
}

int ns_plan_command(int argc, char **argv) {
    if (argc < 2 || *argv[1] == '-') {
        return refuse("expected one file, such as `numasim strategy compile` writes, and options behind it");
    }
    ns_options options = {.kernel = &PLAN, .json = true, .verify = true};
    options.pool = (ns_pool_options){
        .mode = NS_MODE_VIRTUAL, .plan = argv[1], .costs = NS_COSTS_MODEL, .graph = NS_GRAPH_IS_PROGRAM};
    ns_outcome outcome;
    char problem[NS_PROBLEM_BYTES] = "";
    if (!ns_options_read(&options, argc - 2, argv + 2, problem)) return refuse(problem);
    if (asks_for_more(&options)) {
        return refuse(
            "expected no options but --mode, which is not serial, --workers, --seed, --controls, --measures, "
            "--verify and --no-verify");
    }
    if (ns_run_kernel(&outcome, &options, options.pool.seed, problem)) return refuse(problem);
    ns_output_outcomes(&options, &outcome, 1);
    const int status = outcome.correct ? NS_EXIT_OK : NS_EXIT_WRONG;
    ns_outcome_destroy(&outcome);
    return status;
}
