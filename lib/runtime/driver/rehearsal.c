#include "driver/rehearsal.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"
#include "driver/ring.h"
#include "threads/worker.h"

enum { PROBLEM_BYTES = 512 };

/* What one copy of the program takes; all are written by different threads, once. */
typedef struct {
    int64_t ps;
    int error;
    char problem[PROBLEM_BYTES];
} copy;

typedef struct {
    const ns_pool *pool; /* of the workers */
    const ns_options *options;
    copy *copies; /* [workers] */
} crowd;

/* In which order a worker begins tasks: the first from its own queue, the others as thieves from that. */
static enum ns_order order_of(const ns_pool *pool, uint32_t worker) {
    const ns_full_plan *plan = &((const ns_thread_pool *)(const void *)pool)->file.plan;
    const uint32_t own = plan->steal.own[0];
    if (plan->work_first || own == NS_NO_QUEUE || plan->steal.queues[own].own_end != NS_BACK)
        return NS_ORDER_SPAWNED;
    const bool stolen = worker > 0 && plan->steal.queues[own].steal_end == NS_FRONT;
    return stolen ? NS_ORDER_STOLEN : NS_ORDER_NEWEST;
}

/* How a worker runs its copy: all of the program, in the order in which it would begin with it. */
static ns_options serially(const crowd *all, uint32_t worker) {
    ns_options serial = *all->options;
    serial.pool = (ns_pool_options){.mode = NS_MODE_SERIAL,
                                    .workers = all->pool->workers,
                                    .costs = NS_COSTS_MEASURED,
                                    .order = order_of(all->pool, worker)};
    serial.verify = false;
    return serial;
}

static void run_own_copy(ns_task *self, void *arguments) {
    const crowd *all = *(const crowd **)arguments;
    copy *mine = &all->copies[ns_task_worker(self)];
    const ns_options serial = serially(all, ns_task_worker(self));
    ns_outcome outcome;
    mine->error = ns_run_kernel(&outcome, &serial, 0, mine->problem, sizeof mine->problem);
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

static int run_copies(int64_t *ps, ns_pool *pool, const ns_options *options, char *problem, size_t bytes) {
    const crowd all = {pool, options, calloc(pool->workers, sizeof *all.copies)}, *arguments = &all;
    int error = all.copies ? ns_pool_team(pool, run_own_copy, &arguments, sizeof arguments) : NS_ERROR_MEMORY;
    if (error) {
        snprintf(problem, bytes, "%s", ns_error_sentence(error));
    } else {
        error = take_mean(ps, all.copies, pool->workers, problem, bytes);
    }
    free(all.copies);
    return error;
}

static int rehearse(ns_outcome *outcome, const ns_options *options, char *problem, size_t bytes) {
    ns_pool_options threads = options->pool;
    ns_pool *pool;
    threads.mode = NS_MODE_NATIVE;
    threads.graph = NS_GRAPH_IGNORED;
    int error = ns_run_pool(&pool, &threads, problem, bytes);
    if (error) return error;
    if (options->pool.mode == NS_MODE_NATIVE) error = ns_ring_measure(&outcome->hop_ps[0], pool);
    if (error) {
        snprintf(problem, bytes, "%s", ns_error_sentence(error));
    } else {
        error = run_copies(&outcome->rehearsed_ps, pool, options, problem, bytes);
    }
    ns_pool_destroy(pool);
    return error;
}

int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes) {
    ns_outcome rehearsed = {0};
    int error = rehearse(&rehearsed, options, problem, bytes);
    if (!error) error = ns_run_kernel(outcome, options, seed, problem, bytes);
    if (error) return error;
    outcome->hop_ps[0] = rehearsed.hop_ps[0];
    outcome->rehearsed_ps = rehearsed.rehearsed_ps;
    return NS_OK;
}
