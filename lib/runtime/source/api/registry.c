/* What pools of all modes have in common: registered memory and synchronisation objects, and what went wrong last. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/operations.h"

int ns_pool_enter(ns_pool *pool) {
    if (!pool) return NS_ERROR_OPTION;
    /* acquire: what the one before did with the pool */
    return ns_atomic_u32_exchange(&pool->in_use, 1, memory_order_acquire) ? NS_ERROR_CALLER : NS_OK;
}

void ns_pool_leave(ns_pool *pool) {
    ns_atomic_u32_store(&pool->in_use, 0, memory_order_release); /* release: see ns_pool_enter */
}

const char *ns_pool_problem(const ns_pool *pool) {
    if (!pool) return ns_error_sentence(NS_ERROR_OPTION);
    /* acquire: as in ns_pool_enter */
    const bool in_use = ns_atomic_u32_load(&pool->in_use, memory_order_acquire);
    return in_use ? ns_error_sentence(NS_ERROR_CALLER) : pool->problem;
}

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

/* The number of the entry that is `made` where there is room for one; else NS_ERROR_MEMORY. */
static int64_t add_object(ns_pool *pool, const char *name, ns_object made) {
    ns_object *objects = with_room(pool->objects, pool->object_count, sizeof *objects);
    if (!objects) return NS_ERROR_MEMORY;
    pool->objects = objects;
    snprintf(made.name, sizeof made.name, "%s", name);
    objects[pool->object_count] = made;
    return pool->object_count++;
}

static int64_t add_word(ns_pool *pool, const char *name, ns_word made) {
    ns_word *words = with_room(pool->words, pool->word_count, sizeof *words);
    if (!words) return NS_ERROR_MEMORY;
    pool->words = words;
    snprintf(made.name, sizeof made.name, "%s", name);
    words[pool->word_count] = made;
    return pool->word_count++;
}

int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes) {
    if (!name || bytes < 0 || (bytes && !address)) return NS_ERROR_OPTION;
    const int error = ns_pool_enter(pool);
    if (error) return error;
    const int64_t id = add_object(pool, name, (ns_object){.address = address, .bytes = bytes});
    ns_pool_leave(pool);
    return id;
}

/* Whether so many may arrive at the word, or be let pass by it. */
static bool has_parties(enum ns_word_role role, uint32_t parties) {
    return parties || role == NS_WORD_LOCK || role == NS_WORD_ATOMIC;
}

int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties) {
    if (!name || (uint32_t)role > NS_WORD_BARRIER || !has_parties(role, parties)) return NS_ERROR_OPTION;
    const int error = ns_pool_enter(pool);
    if (error) return error;
    const int64_t id = add_word(pool, name, (ns_word){.role = role, .owner = owner, .parties = parties});
    ns_pool_leave(pool);
    return id;
}
