#include "driver/rehearsal.h"

#include <stdio.h>
#include <stdlib.h>

#include "driver/first_thread.h"
#include "operations.h"

enum {
    PROBLEM_BYTES = 512,
    ROUNDS = 2 /* the last one counts: in the first, code and processors that were idle get up to speed */
};

/* What one copy of the program takes; all are written by different threads, once. */
typedef struct {
    int64_t ps;
    int error;
    char problem[PROBLEM_BYTES];
} copy;

typedef struct {
    const ns_options *serial; /* how each copy is run */
    copy *copies;             /* [workers] */
} crowd;

static void run_own_copy(ns_task *self, void *arguments) {
    const crowd *all = *(const crowd **)arguments;
    copy *mine = &all->copies[ns_task_worker(self)];
    ns_outcome outcome;
    mine->error = ns_run_kernel(&outcome, all->serial, 0, mine->problem, sizeof mine->problem);
    if (mine->error) return;
    mine->ps = outcome.report.makespan_ps;
    ns_outcome_destroy(&outcome);
}

/* The harmonic mean, since stealing shares work out as the copies' speeds are. */
static int take_mean(int64_t *ps, const copy *copies, uint32_t count, char *problem, size_t bytes) {
    double rates = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (copies[at].error) {
            snprintf(problem, bytes, "%s", copies[at].problem);
            return copies[at].error;
        }
        rates += 1.0 / (double)(copies[at].ps > 0 ? copies[at].ps : 1);
    }
    *ps = (int64_t)(count / rates);
    return NS_OK;
}

static int rehearse_in(ns_pool *pool, int64_t *ps, const ns_options *serial, char *problem, size_t bytes) {
    const crowd all = {serial, calloc(pool->workers, sizeof *all.copies)}, *arguments = &all;
    int error = all.copies ? NS_OK : NS_ERROR_MEMORY;
    for (int round = 0; !error && round < ROUNDS; round++) {
        error = ns_pool_team(pool, run_own_copy, &arguments, sizeof arguments);
    }
    if (error) {
        snprintf(problem, bytes, "%s", ns_error_sentence(error));
    } else {
        error = take_mean(ps, all.copies, pool->workers, problem, bytes);
    }
    free(all.copies);
    return error;
}

/* What the program takes beside copies of itself on the workers of the plan; without one, alone on the first. */
static int rehearse(int64_t *ps, const ns_options *serial, const char *plan, char *problem, size_t bytes) {
    const ns_pool_options threads = {.mode = NS_MODE_NATIVE, .plan = plan, .workers = plan ? 0 : 1};
    ns_pool *pool;
    int error = ns_run_pool(&pool, &threads, problem, bytes);
    if (error) return error;
    error = rehearse_in(pool, ps, serial, problem, bytes);
    ns_pool_destroy(pool);
    return error;
}

int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_options serial = *options, recorded = *options;
    cpu_set_t anywhere;
    serial.verify = false;
    serial.pool.record = serial.pool.plan = recorded.pool.plan = NULL;
    int error = rehearse(&recorded.pool.rehearsed_ps, &serial, options->pool.plan, problem, bytes);
    if (error) return error;
    ns_first_thread_stay(&anywhere);
    error = ns_run_kernel(outcome, &recorded, seed, problem, bytes);
    ns_first_thread_leave(&anywhere);
    return error;
}
