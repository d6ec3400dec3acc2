#include "explore_states.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 16 };

int ns_explore_states_create(ns_explore_states *self) {
    *self = (ns_explore_states){.capacity = FIRST_CAPACITY, .table = calloc(FIRST_CAPACITY, sizeof *self->table)};
    return self->table ? 0 : -1;
}

void ns_explore_states_destroy(ns_explore_states *self) { free(self->table); }

void ns_explore_states_restart(ns_explore_states *self) { self->word_count = 0; }

static uint32_t word_at(const ns_explore_states *self, const void *location, uint32_t bytes) {
    uint32_t at = 0;
    while (at < self->word_count && (self->words[at].location != location || self->words[at].bytes != bytes)) at++;
    return at;
}

void ns_explore_states_write(ns_explore_states *self, const void *location, uint32_t bytes, uint64_t value) {
    const uint32_t at = word_at(self, location, bytes);
    if (at == NS_EXPLORE_WORDS) abort();
    if (at == self->word_count) self->word_count++;
    self->words[at] = (ns_explore_word){location, value, bytes};
}

uint64_t ns_explore_states_read(const ns_explore_states *self, const void *location, uint32_t bytes) {
    const uint32_t at = word_at(self, location, bytes);
    return at < self->word_count ? self->words[at].value : 0;
}

void ns_explore_states_drop(ns_explore_states *self, const void *first, const void *end) {
    uint32_t kept = 0;
    for (uint32_t at = 0; at < self->word_count; at++) {
        const uintptr_t location = (uintptr_t)self->words[at].location;
        if (location < (uintptr_t)first || location >= (uintptr_t)end) self->words[kept++] = self->words[at];
    }
    self->word_count = kept;
}

uint64_t ns_explore_states_memory(const ns_explore_states *self) {
    size_t count;
    const uint64_t *words = ns_arena_words(&count);
    uint64_t hash = 0, others = 0;
    for (size_t at = 0; at < count; at++) {
        hash = (hash ^ words[at]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    for (uint32_t at = 0; at < self->word_count; at++) { /* the hash does not depend on the order of the words */
        const ns_explore_word *word = &self->words[at];
        others += ns_explore_mix(ns_explore_mix((uintptr_t)word->location) ^ word->value);
    }
    return ns_explore_mix(hash) ^ others;
}

static ns_explore_seen *place(const ns_explore_states *self, uint64_t hash) {
    uint64_t at = hash & (self->capacity - 1);
    while (self->table[at].hash && self->table[at].hash != hash) at = (at + 1) & (self->capacity - 1);
    return &self->table[at];
}

static void grow(ns_explore_states *self) {
    const ns_explore_states old = *self;
    self->capacity *= 2;
    self->table = calloc(self->capacity, sizeof *self->table);
    if (!self->table) abort();
    for (uint64_t at = 0; at < old.capacity; at++)
        if (old.table[at].hash) *place(self, old.table[at].hash) = old.table[at];
    free(old.table);
}

bool ns_explore_states_visit(ns_explore_states *self, uint64_t hash, uint64_t asleep, uint64_t *before) {
    hash += !hash;
    ns_explore_seen *seen = place(self, hash);
    if (seen->hash) {
        *before = seen->asleep;
        seen->asleep &= asleep;
        return true;
    }
    *seen = (ns_explore_seen){hash, asleep};
    if (++self->count * 2 > self->capacity) grow(self);
    return false;
}
