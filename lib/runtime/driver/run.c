#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"
#include "driver/driver.h"
#include "numasim/topology.h"
#include "platform/atomics.h"
#include "platform/ticks.h"
#include "threads/worker.h"

static bool has_threads(const ns_pool_options *options) {
    return options->mode == NS_MODE_NATIVE || options->mode == NS_MODE_EMULATED;
}

/* Create a pool. Return 0 or a negative error code, with a sentence for the user in `problem`. */
static int create_pool(ns_pool **made, const ns_pool_options *options, char *problem) {
    const int error = ns_pool_create(made, options);
    if (!error) return NS_OK;
    const char *why = *made && *ns_pool_problem(*made) ? ns_pool_problem(*made) : ns_error_sentence(error);
    snprintf(problem, NS_PROBLEM_BYTES, "mode %s%s%s: %s", NS_MODE_NAMES[options->mode], options->plan ? ", plan " : "",
             options->plan ? options->plan : "", why);
    ns_pool_destroy(*made);
    *made = NULL;
    return error;
}

/* ---- the first hardware thread ----------------------------------------------------------------------------------- */

/* Move the calling thread to the first hardware thread that the process may use, if the run is on threads. Worker 0
 * runs there. Data are then near worker 0, and serial times do not depend on hardware threads of other speeds (the
 * speeds of a virtual machine's hardware threads differ most). `before` receives the hardware threads that the calling
 * thread could use so far. A thread that cannot move stays on its hardware thread. */
static void go_to_first_thread(const ns_pool_options *options, cpu_set_t *before) {
    if (!has_threads(options)) return;
    CPU_ZERO(before);
    sched_getaffinity(0, sizeof *before, before);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, before)) {
            ns_cpu_pin(cpu);
            return;
        }
    }
}

static void leave_first_thread(const ns_pool_options *options, const cpu_set_t *before) {
    if (has_threads(options)) sched_setaffinity(0, sizeof *before, before);
}

/* ---- the distance between the workers ---------------------------------------------------------------------------- */

/* A hop is the move of a cache line from a worker to the next, in a ring of all workers. The time of a hop is measured
 * before and after a run, because a hypervisor may move hardware threads from core to core meanwhile. */
enum { HOPS = 20000 }; /* approximate number of hops of a measurement: some milliseconds */

typedef struct {
    NS_OWN_LINE ns_atomic_u64 ball; /* the number of hops so far; in the line that moves */
    NS_OWN_LINE int64_t took_ps;
} ring;

/* Return a number of hops near HOPS that is a multiple of the number of workers. */
static uint64_t whole_rounds(uint64_t workers) { return (HOPS + workers - 1) / workers * workers; }

/* Let the worker wait until its hops are next, and make them. */
static void pass(ns_task *self, void *arguments) {
    ring *shared = *(ring **)arguments;
    const uint64_t workers = ns_task_workers(self), mine = ns_task_worker(self);
    const uint64_t last = whole_rounds(workers);
    const int64_t began_ps = ns_monotonic_ps();
    for (uint64_t turn = mine; turn < last; turn += workers) {
        /* relaxed: only the cache line itself is handed over */
        while (ns_atomic_u64_load(&shared->ball, memory_order_relaxed) != turn) continue;
        ns_atomic_u64_store(&shared->ball, turn + 1, memory_order_relaxed);
    }
    if (mine == workers - 1) shared->took_ps = ns_monotonic_ps() - began_ps;
}

/* Measure the mean time of a hop in a native pool, in ps; 0 for a single worker, and if there are more workers than
 * hardware threads. The pool's counts then include the tasks of the measurement. */
static int measure_hops(int64_t *hop_ps, ns_pool *pool) {
    ring shared = {0}, *arguments = &shared;
    *hop_ps = 0;
    if (pool->workers < 2 || ((const ns_thread_pool *)pool)->crowded) return NS_OK;
    const int error = ns_pool_team(pool, pass, &arguments, sizeof arguments);
    *hop_ps = shared.took_ps / (int64_t)whole_rounds(pool->workers);
    return error;
}

/* Measure hops in a pool of their own, so that the pool of the run counts only the run. */
static int measure_hops_of_run(int64_t *hop_ps, const ns_pool_options *options) {
    ns_pool *pool;
    ns_pool_options same = *options;
    same.graph = NS_GRAPH_IGNORED;
    int error = ns_pool_create(&pool, &same);
    if (!error) error = measure_hops(hop_ps, pool);
    ns_pool_destroy(pool);
    return error;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static void verify(ns_outcome *outcome, const ns_kernel *kernel, void *state) {
    const int64_t begin_ps = ns_cpu_ps();
    kernel->run_twin(state);
    outcome->serial_ps = ns_cpu_ps() - begin_ps;
    outcome->verified = true;
    outcome->correct = kernel->matches(state);
}

static int run_state(ns_outcome *outcome, const ns_options *options, void *state, ns_pool *pool) {
    const bool native = options->pool.mode == NS_MODE_NATIVE;
    int error = native ? measure_hops_of_run(&outcome->hop_ps[1], &options->pool) : NS_OK;
    if (!error) error = ns_state_attach(state, options->kernel, pool);
    if (!error) error = ns_state_run(state, options->kernel, pool);
    if (!error) error = pool->mode->report(pool, &outcome->report);
    return error || !native ? error : measure_hops_of_run(&outcome->hop_ps[2], &options->pool);
}

static int run_in(ns_pool *pool, ns_outcome *outcome, const ns_options *options, char *problem) {
    /* Delays that are only declared need not take real time. */
    const bool waits = has_threads(&options->pool) || options->pool.costs == NS_COSTS_MEASURED;
    ns_setting setting = {.values = options->values, .workers = pool->workers, .waits = waits};
    void *state = NULL;
    cpu_set_t anywhere;
    go_to_first_thread(&options->pool, &anywhere);
    int error = ns_state_create(&state, options->kernel, &setting);
    leave_first_thread(&options->pool, &anywhere);
    if (error) {
        snprintf(problem, NS_PROBLEM_BYTES, "%s: %s", options->kernel->name,
                 *setting.problem ? setting.problem : ns_error_sentence(error));
        return error;
    }
    error = run_state(outcome, options, state, pool);
    if (error) {
        const char *why = ns_pool_problem(pool);
        snprintf(problem, NS_PROBLEM_BYTES, "%s%s%s", ns_error_sentence(error), *why ? ": " : "", why);
    } else if (options->verify) {
        go_to_first_thread(&options->pool, &anywhere);
        verify(outcome, options->kernel, state);
        leave_first_thread(&options->pool, &anywhere);
    }
    ns_state_destroy(state, options->kernel);
    return error;
}

int ns_run_kernel(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem) {
    ns_pool *pool;
    ns_pool_options seeded = options->pool;
    seeded.seed = seed;
    *outcome = (ns_outcome){.seed = seed, .correct = true};
    int error = create_pool(&pool, &seeded, problem);
    if (error) return error;
    outcome->workers = pool->workers;
    error = run_in(pool, outcome, options, problem);
    ns_pool_destroy(pool);
    if (error) ns_outcome_destroy(outcome);
    return error;
}

void ns_outcome_destroy(ns_outcome *self) { ns_report_destroy(&self->report); }

/* ---- rehearsals -------------------------------------------------------------------------------------------------- */

/* The time, or the error, of one worker's serial copy of the program (see ns_run_rehearsed). */
typedef struct {
    int64_t ps;
    int error;
    char problem[NS_PROBLEM_BYTES];
} copy;

typedef struct {
    const ns_pool *pool; /* the pool of the workers */
    const ns_options *options;
    copy *copies; /* [workers] */
} crowd;

/* Return the order in which a worker's copy begins its tasks: the first worker takes tasks from its own queue, and the
 * other workers take tasks as thieves. */
static enum ns_order order_of(const ns_pool *pool, uint32_t worker) {
    const ns_full_plan *plan = &((const ns_thread_pool *)(const void *)pool)->file.plan;
    const uint32_t own = plan->steal.own[0];
    if (plan->work_first || own == NS_NO_QUEUE || plan->steal.queues[own].own_end != NS_BACK) return NS_ORDER_SPAWNED;
    const bool stolen = worker > 0 && plan->steal.queues[own].steal_end == NS_FRONT;
    return stolen ? NS_ORDER_STOLEN : NS_ORDER_NEWEST;
}

static void run_own_copy(ns_task *self, void *arguments) {
    const crowd *all = *(const crowd **)arguments;
    copy *mine = &all->copies[ns_task_worker(self)];
    ns_options serial = *all->options;
    serial.pool = (ns_pool_options){.mode = NS_MODE_SERIAL,
                                    .workers = all->pool->workers,
                                    .costs = NS_COSTS_MEASURED,
                                    .order = order_of(all->pool, ns_task_worker(self))};
    serial.verify = false;
    ns_outcome outcome;
    mine->error = ns_run_kernel(&outcome, &serial, 0, mine->problem);
    if (mine->error) return;
    mine->ps = outcome.report.makespan_ps;
    ns_outcome_destroy(&outcome);
}

/* Set `*ps` to the harmonic mean of the copies' times: stealing divides the work in proportion to the speeds. */
static int take_mean(int64_t *ps, const copy *copies, uint32_t count, char *problem) {
    double rates = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (copies[at].error) {
            snprintf(problem, NS_PROBLEM_BYTES, "%s", copies[at].problem);
            return copies[at].error;
        }
        rates += 1.0 / (double)(copies[at].ps > 0 ? copies[at].ps : 1);
    }
    *ps = (int64_t)(count / rates);
    return NS_OK;
}

static int run_copies(int64_t *ps, ns_pool *pool, const ns_options *options, char *problem) {
    const crowd all = {pool, options, calloc(pool->workers, sizeof *all.copies)}, *arguments = &all;
    int error = all.copies ? ns_pool_team(pool, run_own_copy, &arguments, sizeof arguments) : NS_ERROR_MEMORY;
    if (error) {
        snprintf(problem, NS_PROBLEM_BYTES, "%s", ns_error_sentence(error));
    } else {
        error = take_mean(ps, all.copies, pool->workers, problem);
    }
    free(all.copies);
    return error;
}

static int rehearse(int64_t *rehearsed_ps, int64_t *hop_ps, const ns_options *options, char *problem) {
    ns_pool_options threads = options->pool;
    ns_pool *pool;
    threads.mode = NS_MODE_NATIVE;
    threads.graph = NS_GRAPH_IGNORED;
    int error = create_pool(&pool, &threads, problem);
    if (error) return error;
    if (options->pool.mode == NS_MODE_NATIVE) error = measure_hops(hop_ps, pool);
    if (error) {
        snprintf(problem, NS_PROBLEM_BYTES, "%s", ns_error_sentence(error));
    } else {
        error = run_copies(rehearsed_ps, pool, options, problem);
    }
    ns_pool_destroy(pool);
    return error;
}

int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem) {
    int64_t rehearsed_ps = 0, hop_ps = 0;
    int error = rehearse(&rehearsed_ps, &hop_ps, options, problem);
    if (!error) error = ns_run_kernel(outcome, options, seed, problem);
    if (error) return error;
    outcome->hop_ps[0] = hop_ps;
    outcome->rehearsed_ps = rehearsed_ps;
    return NS_OK;
}
