#include "driver/run.h"

#include <stdio.h>

#include "api/operations.h"
#include "driver/first_thread.h"
#include "driver/ring.h"
#include "platform/ticks.h"

static void verify(ns_outcome *outcome, const ns_kernel *kernel, void *state) {
    const int64_t begin_ps = ns_cpu_ps();
    kernel->run_twin(state);
    outcome->serial_ps = ns_cpu_ps() - begin_ps;
    outcome->verified = true;
    outcome->correct = kernel->matches(state);
}

static int run_state(ns_outcome *outcome, const ns_kernel *kernel, void *state, ns_pool *pool) {
    int error = kernel->attach ? kernel->attach(state, pool) : NS_OK;
    if (!error) error = kernel->run(state, pool);
    if (!error) error = pool->mode->report(pool, &outcome->report);
    return error;
}

static bool has_threads(const ns_pool_options *options) {
    return options->mode == NS_MODE_NATIVE || options->mode == NS_MODE_EMULATED;
}

/* Serial parts of runs on threads are done where worker 0 is: its data is then near it, and it is awake. */
static void go_where_serial(const ns_pool_options *options, cpu_set_t *before) {
    if (has_threads(options)) ns_first_thread_stay(before);
}

static void return_from_serial(const ns_pool_options *options, const cpu_set_t *before) {
    if (has_threads(options)) ns_first_thread_leave(before);
}

/* Where delays are declared, they need not be waited for. */
static bool delays_take_time(const ns_pool_options *options) {
    return has_threads(options) || options->costs == NS_COSTS_MEASURED;
}

/* Of workers where those of the run are, in a pool of their own, since a run's pool counts the run alone. */
static int measure_ring(int64_t *hop_ps, const ns_pool_options *options) {
    ns_pool *pool;
    ns_pool_options same = *options;
    same.graph = NS_GRAPH_IGNORED;
    int error = ns_pool_create(&pool, &same);
    if (!error) error = ns_ring_measure(hop_ps, pool);
    ns_pool_destroy(pool);
    return error;
}

static int run_between_rings(ns_outcome *outcome, const ns_options *options, void *state, ns_pool *pool) {
    const bool native = options->pool.mode == NS_MODE_NATIVE;
    int error = native ? measure_ring(&outcome->hop_ps[1], &options->pool) : NS_OK;
    if (!error) error = run_state(outcome, options->kernel, state, pool);
    return error || !native ? error : measure_ring(&outcome->hop_ps[2], &options->pool);
}

static int run_in(ns_pool *pool, ns_outcome *outcome, const ns_options *options, char *problem, size_t bytes) {
    ns_setting setting = {
        .values = options->values, .workers = pool->workers, .waits = delays_take_time(&options->pool)};
    void *state = NULL;
    cpu_set_t anywhere;
    go_where_serial(&options->pool, &anywhere);
    int error = options->kernel->create(&state, &setting);
    return_from_serial(&options->pool, &anywhere);
    if (error) {
        snprintf(problem, bytes, "%s: %s", options->kernel->name,
                 *setting.problem ? setting.problem : ns_error_sentence(error));
        return error;
    }
    error = run_between_rings(outcome, options, state, pool);
    if (error) {
        const char *why = ns_pool_problem(pool);
        snprintf(problem, bytes, "%s%s%s", ns_error_sentence(error), *why ? ": " : "", why);
    } else if (options->verify) {
        go_where_serial(&options->pool, &anywhere);
        verify(outcome, options->kernel, state);
        return_from_serial(&options->pool, &anywhere);
    }
    options->kernel->destroy(state);
    return error;
}

int ns_run_pool(ns_pool **made, const ns_pool_options *options, char *problem, size_t bytes) {
    const int error = ns_pool_create(made, options);
    if (!error) return NS_OK;
    const char *why = *made && *ns_pool_problem(*made) ? ns_pool_problem(*made) : ns_error_sentence(error);
    snprintf(problem, bytes, "mode %s%s%s: %s", NS_MODE_NAMES[options->mode], options->plan ? ", plan " : "",
             options->plan ? options->plan : "", why);
    ns_pool_destroy(*made);
    *made = NULL;
    return error;
}

int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_pool *pool;
    ns_pool_options seeded = options->pool;
    seeded.seed = seed;
    *outcome = (ns_outcome){.seed = seed, .correct = true};
    int error = ns_run_pool(&pool, &seeded, problem, bytes);
    if (error) return error;
    outcome->workers = pool->workers;
    error = run_in(pool, outcome, options, problem, bytes);
    ns_pool_destroy(pool);
    if (error) ns_outcome_destroy(outcome);
    return error;
}

void ns_outcome_destroy(ns_outcome *self) { ns_report_destroy(&self->report); }
