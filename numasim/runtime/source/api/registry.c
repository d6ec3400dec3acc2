/* What pools of all modes have in common: registered memory and synchronisation objects, and what went wrong last. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"

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
