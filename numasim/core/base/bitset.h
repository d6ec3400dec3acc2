/* Sets of up to 64 members as words of 64 bits. */
#ifndef NUMASIM_BASE_BITSET_H
#define NUMASIM_BASE_BITSET_H

#include <stdint.h>

/* Eight bytes, each 0 or 1, as eight bits. Written so that compilers make one load of it. */
static inline uint64_t ns_octet_of_bytes(const uint8_t *byte) {
    uint64_t low = (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 | (uint64_t)byte[3] << 24;
    uint64_t high = (uint64_t)byte[4] | (uint64_t)byte[5] << 8 | (uint64_t)byte[6] << 16 | (uint64_t)byte[7] << 24;
    uint64_t bytes = low | high << 32;
    return bytes * UINT64_C(0x0102040810204080) >> 56; /* byte i comes to bit 8 i + 7 (8 - i) = 56 + i */
}

/* `count` bytes, at most 64, each 0 or 1, as as many bits. */
static inline uint64_t ns_word_of_bytes(const uint8_t *byte, uint32_t count) {
    uint64_t word = 0;
    uint32_t at = 0;
    for (; at + 8 <= count; at += 8) word |= ns_octet_of_bytes(byte + at) << at;
    for (; at < count; at++) word |= (uint64_t)byte[at] << at;
    return word;
}

/* Number of bits that are set. */
static inline uint32_t ns_word_count(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Place of set bit number `nth`, from zero. */
static inline uint32_t ns_word_nth(uint64_t word, uint32_t nth) {
    while (nth--) word &= word - 1;
    return ns_word_count((word & -word) - 1);
}

#endif
