/* Pools: opening the mode that was asked for, and running in it. */
#include <stdlib.h>

#include "api/operations.h"

static const ns_pool_operations *const MODE[] = {
    [NS_MODE_SERIAL] = &ns_serial_mode,
    [NS_MODE_NATIVE] = &ns_thread_mode,
    [NS_MODE_EMULATED] = &ns_thread_mode,
    [NS_MODE_VIRTUAL] = &ns_virtual_mode,
};

/* The error, of which the pool has at least the sentence that all errors of this code have. */
static int with_sentence(ns_pool *pool, int error) {
    return pool->problem[0] ? error : ns_pool_fail(pool, error, "%s", ns_error_sentence(error));
}

int ns_pool_create(ns_pool **pool, const ns_pool_options *options) {
    const uint32_t modes = sizeof MODE / sizeof *MODE;
    *pool = NULL;
    if ((uint32_t)options->mode >= modes) return NS_ERROR_OPTION;
    const ns_pool_operations *mode = MODE[options->mode];
    if (!mode) return NS_ERROR_UNSUPPORTED;
    ns_fields *plan = NULL;
    int error = options->plan ? ns_fields_read(&plan, options->plan) : NS_OK;
    if (error) return error;
    error = mode->open(pool, options, plan);
    if (!*pool) ns_fields_destroy(plan);
    return error && *pool ? with_sentence(*pool, error) : error;
}

void ns_pool_destroy(ns_pool *pool) {
    if (!pool) return;
    free(pool->objects);
    free(pool->words);
    pool->mode->close(pool);
}

static int run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes, bool team) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    const int error = pool->mode->run(pool, &order, team);
    return error ? with_sentence(pool, error) : NS_OK;
}

int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, false);
}

int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, true);
}
