#include "driver/run.h"

#include <stdio.h>
#include <time.h>

#include "operations.h"

/* The twin runs on one thread and waits for nobody: what it takes is its CPU time, whatever else the machine does. */
static int64_t cpu_ps(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000000) + now.tv_nsec * INT64_C(1000);
}

static void verify(ns_outcome *outcome, const ns_kernel *kernel, void *state) {
    const int64_t begin_ps = cpu_ps();
    kernel->run_twin(state);
    outcome->serial_ps = cpu_ps() - begin_ps;
    outcome->verified = true;
    outcome->correct = kernel->matches(state);
}

static int run_state(ns_outcome *outcome, const ns_kernel *kernel, void *state, ns_pool *pool) {
    int error = kernel->attach ? kernel->attach(state, pool) : NS_OK;
    if (!error) error = kernel->run(state, pool);
    if (!error) error = pool->operations->report(pool, &outcome->report);
    return error;
}

/* Where delays are declared, nobody need wait for them. */
static bool delays_take_time(const ns_pool_options *options) {
    const bool real = options->mode == NS_MODE_NATIVE || options->mode == NS_MODE_EMULATED;
    return real || options->costs == NS_COSTS_MEASURED;
}

static int run_in(ns_pool *pool, ns_outcome *outcome, const ns_options *options, char *problem, size_t bytes) {
    ns_setting setting = {
        .values = options->values, .workers = pool->workers, .waits = delays_take_time(&options->pool)};
    void *state = NULL;
    int error = options->kernel->create(&state, &setting);
    if (error) {
        snprintf(problem, bytes, "%s: %s", options->kernel->name,
                 *setting.problem ? setting.problem : ns_error_sentence(error));
        return error;
    }
    error = run_state(outcome, options->kernel, state, pool);
    if (error) {
        const char *why = ns_pool_problem(pool);
        snprintf(problem, bytes, "%s%s%s", ns_error_sentence(error), *why ? ": " : "", why);
    } else if (options->verify) {
        verify(outcome, options->kernel, state);
    }
    options->kernel->destroy(state);
    return error;
}

/* Why a pool cannot be made: it may know more than its error says. */
static void say_unmade(const ns_pool_options *options, int error, const ns_pool *pool, char *problem, size_t bytes) {
    const char *why = pool && *ns_pool_problem(pool) ? ns_pool_problem(pool) : ns_error_sentence(error);
    snprintf(problem, bytes, "mode %s%s%s: %s", NS_MODE_NAMES[options->mode], options->plan ? ", plan " : "",
             options->plan ? options->plan : "", why);
}

/* What the program takes while nobody records it. */
static int rehearse(int64_t *took_ps, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_options alone = *options;
    ns_outcome outcome;
    alone.pool.record = NULL;
    alone.verify = alone.rehearse = false;
    const int error = ns_run_kernel(&outcome, &alone, seed, problem, bytes);
    if (error) return error;
    *took_ps = outcome.report.makespan_ps;
    ns_outcome_destroy(&outcome);
    return NS_OK;
}

int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_pool_options pool_options = options->pool;
    ns_pool *pool = NULL;
    pool_options.seed = seed;
    *outcome = (ns_outcome){.seed = seed, .correct = true};
    int error = options->rehearse ? rehearse(&pool_options.rehearsed_ps, options, seed, problem, bytes) : NS_OK;
    if (error) return error;
    error = ns_pool_create(&pool, &pool_options);
    if (error) {
        say_unmade(&pool_options, error, pool, problem, bytes);
        ns_pool_destroy(pool);
        return error;
    }
    outcome->workers = pool->workers;
    error = run_in(pool, outcome, options, problem, bytes);
    ns_pool_destroy(pool);
    if (error) ns_outcome_destroy(outcome);
    return error;
}

void ns_outcome_destroy(ns_outcome *self) { ns_report_destroy(&self->report); }
