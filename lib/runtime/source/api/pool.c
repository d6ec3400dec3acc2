/* Pools: opening a pool in a mode, and running programs in the pool. */
#include <stdlib.h>
#include <unistd.h>

#include "api/operations.h"
#include "generated/enumerations.h"

static const ns_pool_operations *const MODE[] = {
    [NS_MODE_SERIAL] = &ns_serial_mode,   [NS_MODE_NATIVE] = &ns_thread_mode, [NS_MODE_EMULATED] = &ns_thread_mode,
    [NS_MODE_VIRTUAL] = &ns_virtual_mode, [NS_MODE_TURNS] = &ns_turns_mode,   [NS_MODE_PACED] = &ns_turns_mode,
};

/* Store the general sentence of the error code, unless the pool already has a sentence. Return `error`. */
static int with_sentence(ns_pool *pool, int error) {
    return pool->problem[0] ? error : ns_pool_fail(pool, error, "%s", ns_error_sentence(error));
}

/* Return whether each option has a value that the mode allows. */
static bool are_possible(const ns_pool_options *options) {
    const bool serial = options->mode == NS_MODE_SERIAL;
    return (uint32_t)options->mode < sizeof MODE / sizeof *MODE && (uint32_t)options->costs <= NS_COSTS_MEASURED &&
           (uint32_t)options->order <= NS_ORDER_STOLEN && (uint32_t)options->graph <= NS_GRAPH_IGNORED &&
           options->workers <= NS_MOST_WORKERS && (serial || (!options->record && !options->order));
}

int ns_pool_create(ns_pool **pool, const ns_pool_options *options) {
    if (pool) *pool = NULL;
    if (!pool || !options || !are_possible(options)) return NS_ERROR_OPTION;
    ns_fields *plan = NULL;
    int error = options->plan ? ns_fields_read(&plan, options->plan) : NS_OK;
    if (error) return error;
    /* A program that is linked without the library of the mode gets a serial pool that has an error and cannot run. */
    const ns_pool_operations *mode = MODE[options->mode] ? MODE[options->mode] : &ns_serial_mode;
    error = mode->open(pool, options, plan);
    if (!*pool) {
        ns_fields_destroy(plan);
        return error;
    }
    if (!error && !MODE[options->mode]) {
        const bool turns = ns_runs_in_turns(*pool);
        error = ns_pool_fail(*pool, NS_ERROR_UNSUPPORTED,
                             "%s in libnumasim-%s, which this program is linked without; "
                             "`numasim-runtime --libs` prints the linker options for it",
                             turns ? "threads in turns are" : "virtual time is", turns ? "turns" : "virtual");
    }
    (*pool)->process = getpid();
    (*pool)->unmade = error;
    return error ? with_sentence(*pool, error) : NS_OK;
}

/* Return whether the threads of the pool are in another process. */
static bool is_forked(const ns_pool *pool) { return pool->mode->abandon && pool->process != getpid(); }

int ns_pool_destroy(ns_pool *pool) {
    if (!pool) return NS_OK;
    const int error = ns_pool_enter(pool);
    if (error) return error;
    free(pool->objects);
    free(pool->words);
    if (is_forked(pool))
        pool->mode->abandon(pool);
    else
        pool->mode->close(pool);
    return NS_OK;
}

int ns_pool_check_phase(ns_pool *pool, const ns_full_plan *plan, int64_t number, bool team) {
    if (number < 0) return ns_pool_fail(pool, NS_ERROR_PROGRAM, "the program has more phases than the plan");
    const ns_phase *phase = &plan->phases.at[number];
    if (phase->family >= 0) {
        return ns_pool_fail(pool, NS_ERROR_UNSUPPORTED, "phase %lld deals an implicit range; the runtime spawns tasks",
                            (long long)number);
    }
    if (team || phase->roots.count == 1) return NS_OK;
    return ns_pool_fail(pool, NS_ERROR_PROGRAM, "phase %lld of the plan has %llu roots, the program has one",
                        (long long)number, (unsigned long long)phase->roots.count);
}

static int run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes, bool team) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    int error = ns_pool_enter(pool);
    if (error) return error;
    if (pool->unmade)
        error = pool->unmade;
    else if (!body || ns_is_wrong_memory(arguments, bytes))
        error = ns_pool_fail(pool, NS_ERROR_OPTION, "a run needs a body, and arguments if their size is not 0");
    else if (is_forked(pool))
        error = ns_pool_fail(pool, NS_ERROR_CALLER,
                             "the pool has its threads in process %ld, which forked this process", (long)pool->process);
    else
        error = pool->mode->run(pool, &order, team);
    if (error) with_sentence(pool, error);
    ns_pool_leave(pool);
    return error;
}

int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, false);
}

int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, true);
}
