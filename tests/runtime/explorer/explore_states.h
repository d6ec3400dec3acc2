/* The visited states of an exploration: for each state, a hash of 64 bits, and the processes that were asleep. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NS_EXPLORE_WORDS = 256 };

typedef struct {
    uint64_t hash, asleep;
} ns_explore_seen;

/* A word on the stack of a thread. The value is stored here, so that the value outlives the stack. */
typedef struct {
    const void *location;
    uint64_t value;
    uint32_t bytes;
} ns_explore_word;

typedef struct {
    ns_explore_seen *table; /* [capacity], a power of two; a hash of 0 marks an unused place */
    uint64_t capacity, count;
    ns_explore_word words[NS_EXPLORE_WORDS]; /* words that were written in this schedule */
    uint32_t word_count;
} ns_explore_states;

/* Return a mixture of all bits of a 64-bit number. The function is a bijection. */
static inline uint64_t ns_explore_mix(uint64_t value) {
    value = (value + UINT64_C(0x9E3779B97F4A7C15));
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

int ns_explore_states_create(ns_explore_states *self);
void ns_explore_states_destroy(ns_explore_states *self);

/* Begin a new schedule: forget all words outside of the arena. */
void ns_explore_states_restart(ns_explore_states *self);

/* Write a word outside of the arena; read such a word, which is 0 before the first write. */
void ns_explore_states_write(ns_explore_states *self, const void *location, uint32_t bytes, uint64_t value);
uint64_t ns_explore_states_read(const ns_explore_states *self, const void *location, uint32_t bytes);

/* Forget the words outside of the arena in [first, end). */
void ns_explore_states_drop(ns_explore_states *self, const void *first, const void *end);

/* Return a hash of the arena and of the words. */
uint64_t ns_explore_states_memory(const ns_explore_states *self);

/* Return whether the state was visited before, with the processes in `before` asleep. From now on, the processes that
 * were asleep in all visits count as asleep in this state. */
bool ns_explore_states_visit(ns_explore_states *self, uint64_t hash, uint64_t asleep, uint64_t *before);

/* ---- arena.c: the memory of a case ------------------------------------------------------------------------------- */

/* In every schedule the arena has the same addresses and begins with zeros. Its functions replace the functions of
 * source/platform/near_memory.h. */

/* Free all memory. */
void ns_arena_clear(void);

bool ns_arena_holds(const void *location);

/* Return the allocated memory as words. */
const uint64_t *ns_arena_words(size_t *count);

/* Describe a location for people. */
void ns_arena_describe(const void *location, char *text, size_t bytes);
