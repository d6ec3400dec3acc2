/* Sets of small numbers as arrays of 64-bit words. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The number of words of a set with room for `count` members: member i is bit i % 64 of word i / 64. */
static inline uint32_t ns_set_words(uint32_t count) { return (count + 63) / 64; }

static inline bool ns_set_has(const uint64_t *set, uint32_t member) { return set[member / 64] >> member % 64 & 1; }

static inline void ns_set_put(uint64_t *set, uint32_t member, bool in) {
    const uint64_t bit = UINT64_C(1) << member % 64;
    set[member / 64] = in ? set[member / 64] | bit : set[member / 64] & ~bit;
}

/* The number of set bits of `word`. */
static inline uint32_t ns_word_count(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* The position (0 to 63) of the lowest set bit of `word`, which has at least one set bit. */
static inline uint32_t ns_word_first(uint64_t word) { return (uint32_t)__builtin_ctzll(word); }

/* The position (0 to 63) of set bit number `nth` of `word`, counted from zero at the lowest set bit. */
static inline uint32_t ns_word_nth(uint64_t word, uint32_t nth) {
    while (nth--) word &= word - 1;
    return ns_word_first(word);
}
