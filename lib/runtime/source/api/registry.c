/* The part of pools that all modes share: registered memory, synchronisation objects, errors and reports. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/operations.h"

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static const char *const SENTENCE[] = {
    "nothing is wrong",
    "there is not enough memory",
    "a file cannot be read or written",
    "the file is damaged, or was written by another version",
    "the plan lacks a field, or has a field out of bounds",
    "a task makes a wrong call, or the plan was made for another program",
    "tasks are left that no worker can ever run",
    "a thread cannot be started or pinned",
    "an option or an argument has an impossible value",
    "this request is not possible in this build, on this machine or in this mode",
    "the pool is in use, or its threads are in the process that forked this process",
};

const char *ns_error_sentence(int error) {
    const int count = (int)(sizeof SENTENCE / sizeof *SENTENCE);
    return -count < error && error <= 0 ? SENTENCE[-error] : "an unknown error";
}

int ns_pool_enter(ns_pool *pool) {
    if (!pool) return NS_ERROR_OPTION;
    /* acquire: sees all changes that the last caller made to the pool */
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

/* ---- objects and words ------------------------------------------------------------------------------------------- */

/* Append an entry, which begins with its name, to `count` entries. Return all entries, or NULL if memory is short.
 * Capacities are powers of two; the count determines the capacity. */
static void *append(void *entries, uint32_t count, const void *entry, size_t size, const char *name) {
    const bool full = (count & (count - 1)) == 0;
    char *grown = full ? realloc(entries, (size_t)(count ? 2 * count : 1) * size) : entries;
    if (!grown) return NULL;
    memcpy(grown + count * size, entry, size);
    snprintf(grown + count * size, NS_NAME_BYTES, "%s", name);
    return grown;
}

int64_t ns_object_register(ns_pool *pool, const char *name, void *address, int64_t bytes) {
    if (!name || bytes < 0 || (bytes && !address)) return NS_ERROR_OPTION;
    const int error = ns_pool_enter(pool);
    if (error) return error;
    const ns_object made = {.address = address, .bytes = bytes};
    ns_object *objects = append(pool->objects, pool->object_count, &made, sizeof made, name);
    if (objects) pool->objects = objects;
    const int64_t id = objects ? (int64_t)pool->object_count++ : NS_ERROR_MEMORY;
    ns_pool_leave(pool);
    return id;
}

int64_t ns_word_create(ns_pool *pool, const char *name, enum ns_word_role role, uint32_t owner, uint32_t parties) {
    const bool needs_parties = role == NS_WORD_CONDITION || role == NS_WORD_BARRIER;
    if (!name || (uint32_t)role > NS_WORD_BARRIER || (needs_parties && !parties)) return NS_ERROR_OPTION;
    const int error = ns_pool_enter(pool);
    if (error) return error;
    const ns_word made = {.role = role, .owner = owner, .parties = parties};
    ns_word *words = append(pool->words, pool->word_count, &made, sizeof made, name);
    if (words) pool->words = words;
    const int64_t id = words ? (int64_t)pool->word_count++ : NS_ERROR_MEMORY;
    ns_pool_leave(pool);
    return id;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

#define COUNTER_NAME(name, NAME) [NS_##NAME] = #name,
const char *const NS_COUNTER_NAME[NS_COUNTERS] = {NS_EACH_COUNTER(COUNTER_NAME)};
#undef COUNTER_NAME

int ns_report_create(ns_report *self, uint32_t workers, uint32_t nodes, uint32_t word_count) {
    const uint64_t pairs = (uint64_t)nodes * nodes;
    *self = (ns_report){.workers = workers, .nodes = nodes, .word_count = word_count};
    self->counters = ns_pieces_take(&self->memory, (uint64_t)workers * NS_COUNTERS, sizeof *self->counters);
    self->node = ns_pieces_take(&self->memory, workers, sizeof *self->node);
    self->node_attempts = ns_pieces_take(&self->memory, pairs, sizeof *self->node_attempts);
    self->node_success = ns_pieces_take(&self->memory, pairs, sizeof *self->node_success);
    self->node_bytes = ns_pieces_take(&self->memory, pairs, sizeof *self->node_bytes);
    self->words = ns_pieces_take(&self->memory, (uint64_t)word_count * NS_SYNC_COUNTS, sizeof *self->words);
    if (!self->memory.is_short) return NS_OK;
    ns_report_destroy(self);
    return NS_ERROR_MEMORY;
}

void ns_report_destroy(ns_report *self) {
    ns_pieces_release(&self->memory);
    *self = (ns_report){0};
}
