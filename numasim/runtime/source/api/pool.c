/* Pools: opening the mode that was asked for, and what is registered with them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/operations.h"

static const ns_operations *const MODE[] = {
    [NS_MODE_SERIAL] = &ns_serial_mode,
    [NS_MODE_NATIVE] = &ns_thread_mode,
    [NS_MODE_EMULATED] = &ns_thread_mode,
    [NS_MODE_VIRTUAL] = &ns_virtual_mode,
};

int ns_pool_create(ns_pool **pool, const ns_pool_options *options) {
    const uint32_t modes = sizeof MODE / sizeof *MODE;
    *pool = NULL;
    if ((uint32_t)options->mode >= modes) return NS_ERROR_OPTION;
    const ns_operations *mode = MODE[options->mode];
    if (!mode) return NS_ERROR_UNSUPPORTED;
    ns_fields *plan = NULL;
    int error = options->plan ? ns_fields_read(&plan, options->plan) : NS_OK;
    if (error) return error;
    error = mode->open(pool, options, plan);
    if (!*pool) ns_fields_destroy(plan);
    return error;
}

void ns_pool_destroy(ns_pool *pool) {
    if (!pool) return;
    free(pool->objects);
    free(pool->words);
    pool->operations->close(pool);
}

static int run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes, bool team) {
    const ns_work_order order = {.body = body, .arguments = arguments, .bytes = bytes};
    return pool->operations->run(pool, &order, team);
}

int ns_pool_run(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, false);
}

int ns_pool_team(ns_pool *pool, ns_body *body, const void *arguments, size_t bytes) {
    return run(pool, body, arguments, bytes, true);
}

const char *ns_pool_problem(const ns_pool *pool) { return pool->problem; }

int ns_pool_fail(ns_pool *pool, int error, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(pool->problem, sizeof pool->problem, sentence, arguments);
    va_end(arguments);
    return error;
}

/* Room for one more entry of `size` bytes behind `count` of them; NULL where memory is short. Capacities are powers of
 * two, so that nothing but the count has to be kept. */
static void *with_room(void *entries, uint32_t count, size_t size) {
    const bool full = (count & (count - 1)) == 0;
    return full ? realloc(entries, (size_t)(count ? 2 * count : 1) * size) : entries;
}

int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes) {
    ns_object *objects = with_room(pool->objects, pool->object_count, sizeof *objects);
    if (!objects) return NS_ERROR_MEMORY;
    pool->objects = objects;
    ns_object *made = &objects[pool->object_count];
    *made = (ns_object){.address = address, .bytes = bytes};
    snprintf(made->name, sizeof made->name, "%s", name);
    return pool->object_count++;
}

int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties) {
    ns_word *words = with_room(pool->words, pool->word_count, sizeof *words);
    if (!words) return NS_ERROR_MEMORY;
    pool->words = words;
    ns_word *made = &words[pool->word_count];
    *made = (ns_word){.role = role, .owner = owner, .parties = parties};
    snprintf(made->name, sizeof made->name, "%s", name);
    return pool->word_count++;
}
