/* Sets of processors or of nodes, and the text formats in which the kernel writes such sets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NS_SET_BITS = 8192 }; /* the most processors that Linux supports */

typedef struct {
    uint64_t word[NS_SET_BITS / 64];
} ns_set;

static inline bool ns_set_has(const ns_set *self, uint32_t number) {
    return number < NS_SET_BITS && (self->word[number / 64] >> number % 64 & 1);
}

static inline void ns_set_add(ns_set *self, uint32_t number) { self->word[number / 64] |= UINT64_C(1) << number % 64; }

void ns_set_keep(ns_set *self, const ns_set *other); /* keep only the members of `other` */
uint32_t ns_set_count(const ns_set *self);
uint32_t ns_set_first(const ns_set *self); /* the least member; NS_SET_BITS for an empty set */

/* Parse a list such as 0-3,8. Return 0 or NS_ERROR_FORMAT. */
int ns_set_parse(ns_set *self, const char *text);

/* Parse a bitmap: hexadecimal groups of 32 bits, the highest first: 00000001,0000ffff. Return 0 or NS_ERROR_FORMAT. */
int ns_set_parse_bitmap(ns_set *self, const char *text);

/* Set `self` to the processors on which this process may run; to all processors if the kernel does not report them. */
void ns_set_usable_processors(ns_set *self);

/* Set `self` to the nodes whose memory this process may use; to all nodes if the kernel does not report them. */
void ns_set_usable_memory(ns_set *self);
