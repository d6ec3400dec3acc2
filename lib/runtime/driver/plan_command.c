/* The command `numasim-runtime plan FILE`: run the task graph of a plan (kernels/plan.c). In virtual time every program
 * of the simulator can thus be compared with the simulator's result. On threads the graph runs as well. */
#include "driver/driver.h"

/* Return whether the options contain an option that this kernel does not have. */
static bool asks_for_more(const ns_options *options) {
    return options->kernel != &NS_PLAN_KERNEL || options->list || options->help || options->repeats ||
           options->rehearse || options->warm_up || options->pool.record || options->pool.mode == NS_MODE_SERIAL;
}

int ns_plan_command(int argc, char **argv) {
    if (argc < 2 || *argv[1] == '-') {
        return ns_refuse("plan: expected one file, such as `numasim strategy compile` writes, and options behind it");
    }
    ns_options options = {.kernel = &NS_PLAN_KERNEL, .json = true, .verify = true};
    options.pool = (ns_pool_options){
        .mode = NS_MODE_VIRTUAL, .plan = argv[1], .costs = NS_COSTS_MODEL, .graph = NS_GRAPH_IS_PROGRAM};
    ns_outcome outcome;
    char problem[NS_PROBLEM_BYTES] = "";
    if (!ns_options_read(&options, argc - 2, argv + 2, problem)) return ns_refuse("plan: %s", problem);
    if (asks_for_more(&options)) {
        return ns_refuse(
            "plan: expected no options but --mode, which is not serial, --workers, --seed, --controls, --measures, "
            "--verify and --no-verify");
    }
    if (ns_run_kernel(&outcome, &options, options.pool.seed, problem)) return ns_refuse("plan: %s", problem);
    ns_output_outcomes(&options, &outcome, 1);
    const int status = outcome.correct ? NS_EXIT_OK : NS_EXIT_WRONG;
    ns_outcome_destroy(&outcome);
    return status;
}
