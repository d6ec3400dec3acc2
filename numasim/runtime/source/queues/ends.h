/* The ends of the public part of a deque or lane, tail and split, as one word: 32 bits each. */
#ifndef NS_ENDS_H
#define NS_ENDS_H

#include <stdint.h>

static inline uint64_t ns_ends_of(uint64_t tail, uint64_t split) { return (uint32_t)tail | split << 32; }

static inline uint32_t ns_ends_tail(uint64_t ends) { return (uint32_t)ends; }

static inline uint32_t ns_ends_split(uint64_t ends) { return (uint32_t)(ends >> 32); }

#endif
