#include "driver/run.h"

#include <sched.h>
#include <stdio.h>

#include "cpu_clock.h"
#include "numasim/topology.h"
#include "operations.h"

/* Stay on the first hardware thread, which is worker 0's: what is serial is compared with threads, and hardware threads
 * need not be equally fast, least of all those of a virtual machine. `before` is where one may be otherwise. */
static void stay_at_first(cpu_set_t *before) {
    CPU_ZERO(before);
    sched_getaffinity(0, sizeof *before, before);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, before)) {
            ns_cpu_pin(cpu); /* where that fails, one is where one is */
            return;
        }
    }
}

static void leave_first(const cpu_set_t *before) { sched_setaffinity(0, sizeof *before, before); }

static void verify(ns_outcome *outcome, const ns_kernel *kernel, void *state) {
    const int64_t begin_ps = ns_cpu_ps();
    kernel->run_twin(state);
    outcome->serial_ps = ns_cpu_ps() - begin_ps;
    outcome->verified = true;
    outcome->correct = kernel->matches(state);
}

static void verify_beside_threads(ns_outcome *outcome, const ns_kernel *kernel, void *state) {
    cpu_set_t anywhere;
    stay_at_first(&anywhere);
    verify(outcome, kernel, state);
    leave_first(&anywhere);
}

static int run_state(ns_outcome *outcome, const ns_kernel *kernel, void *state, ns_pool *pool) {
    int error = kernel->attach ? kernel->attach(state, pool) : NS_OK;
    if (!error) error = kernel->run(state, pool);
    if (!error) error = pool->operations->report(pool, &outcome->report);
    return error;
}

static bool has_threads(const ns_pool_options *options) {
    return options->mode == NS_MODE_NATIVE || options->mode == NS_MODE_EMULATED;
}

/* Where delays are declared, nobody need wait for them. */
static bool delays_take_time(const ns_pool_options *options) {
    return has_threads(options) || options->costs == NS_COSTS_MEASURED;
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
        (has_threads(&options->pool) ? verify_beside_threads : verify)(outcome, options->kernel, state);
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

static int run_once(ns_outcome *outcome, const ns_options *options, char *problem, size_t bytes) {
    ns_pool *pool = NULL;
    *outcome = (ns_outcome){.seed = options->pool.seed, .correct = true};
    int error = ns_pool_create(&pool, &options->pool);
    if (error) {
        say_unmade(&options->pool, error, pool, problem, bytes);
        ns_pool_destroy(pool);
        return error;
    }
    outcome->workers = pool->workers;
    error = run_in(pool, outcome, options, problem, bytes);
    ns_pool_destroy(pool);
    if (error) ns_outcome_destroy(outcome);
    return error;
}

/* Run the program while nobody records it, and then once more. */
static int rehearse_and_run(ns_outcome *outcome, const ns_options *options, char *problem, size_t bytes) {
    ns_options alone = *options, recorded = *options;
    alone.pool.record = NULL;
    alone.verify = false;
    int error = run_once(outcome, &alone, problem, bytes);
    if (error) return error;
    recorded.pool.rehearsed_ps = outcome->report.makespan_ps;
    ns_outcome_destroy(outcome);
    return run_once(outcome, &recorded, problem, bytes);
}

int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_options seeded = *options;
    cpu_set_t anywhere;
    seeded.pool.seed = seed;
    if (!options->rehearse) return run_once(outcome, &seeded, problem, bytes);
    stay_at_first(&anywhere);
    const int error = rehearse_and_run(outcome, &seeded, problem, bytes);
    leave_first(&anywhere);
    return error;
}

void ns_outcome_destroy(ns_outcome *self) { ns_report_destroy(&self->report); }
