/* The visited states of an exploration: a hash of 64 bits for each, and the processes that were asleep. */
#ifndef NS_EXPLORE_STATES_H
#define NS_EXPLORE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NS_EXPLORE_WORDS = 256 };

typedef struct {
    uint64_t hash, asleep;
} ns_explore_seen;

/* A word on the stack of a thread, kept here, so that it outlives the stack. */
typedef struct {
    const void *location;
    uint64_t value;
    uint32_t bytes;
} ns_explore_word;

typedef struct {
    ns_explore_seen *table; /* [capacity], a power of two; a hash of 0 is an empty place */
    uint64_t capacity, count;
    ns_explore_word words[NS_EXPLORE_WORDS]; /* that were written in this schedule */
    uint32_t word_count;
} ns_explore_states;

/* A bijection of 64-bit numbers that mixes all bits. */
static inline uint64_t ns_explore_mix(uint64_t value) {
    value = (value + UINT64_C(0x9E3779B97F4A7C15));
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

int ns_explore_states_create(ns_explore_states *self);
void ns_explore_states_destroy(ns_explore_states *self);

/* A new schedule begins: no word outside of the arena is known. */
void ns_explore_states_restart(ns_explore_states *self);

/* Write a word outside of the arena; read a word, which is 0 before it is written. */
void ns_explore_states_write(ns_explore_states *self, const void *location, uint32_t bytes, uint64_t value);
uint64_t ns_explore_states_read(const ns_explore_states *self, const void *location, uint32_t bytes);

/* Forget the words outside of the arena in [first, end). */
void ns_explore_states_drop(ns_explore_states *self, const void *first, const void *end);

/* Returns a hash of memory. */
uint64_t ns_explore_states_memory(const ns_explore_states *self);

/* Returns whether the state was visited before, with the processes `before` asleep. From now on those processes count
 * as asleep there that were asleep in all visits. */
bool ns_explore_states_visit(ns_explore_states *self, uint64_t hash, uint64_t asleep, uint64_t *before);

/* ---- arena.c: the memory of a case ------------------------------------------------------------------------------- */

/* The arena has the same addresses, and is all zero, in every schedule. It replaces the functions of
 * source/platform/near_memory.h. */

/* Free all memory. */
void ns_arena_clear(void);

bool ns_arena_holds(const void *location);

/* Returns the allocated memory as words. */
const uint64_t *ns_arena_words(size_t *count);

/* Describe a location for people. */
void ns_arena_describe(const void *location, char *text, size_t bytes);

#endif
