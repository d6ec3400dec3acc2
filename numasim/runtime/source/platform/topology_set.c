/* Sets of processors, and the lists in which the kernel writes them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"
#include "platform/topology_build.h"

enum { WORDS = NS_SET_BITS / 64 };

void ns_set_keep(ns_set *self, const ns_set *other) {
    for (uint32_t at = 0; at < WORDS; at++) self->word[at] &= other->word[at];
}

uint32_t ns_set_count(const ns_set *self) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < WORDS; at++) count += (uint32_t)__builtin_popcountll(self->word[at]);
    return count;
}

uint32_t ns_set_first(const ns_set *self) {
    for (uint32_t at = 0; at < WORDS; at++) {
        if (self->word[at]) return at * 64 + (uint32_t)__builtin_ctzll(self->word[at]);
    }
    return NS_SET_BITS;
}

/* The number at `*text`, which is moved behind it; NS_SET_BITS where there is none that a set can hold. */
static uint32_t parse_number(const char **text) {
    if (!isdigit((unsigned char)**text)) return NS_SET_BITS;
    char *end;
    const unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    return value < NS_SET_BITS ? (uint32_t)value : NS_SET_BITS;
}

int ns_set_parse(ns_set *self, const char *text) {
    memset(self, 0, sizeof *self);
    while (*text && *text != '\n') {
        const uint32_t first = parse_number(&text);
        uint32_t last = first;
        if (*text == '-') {
            text++;
            last = parse_number(&text);
        }
        if (first > last || last == NS_SET_BITS) return NS_ERROR_FORMAT;
        for (uint32_t number = first; number <= last; number++) ns_set_add(self, number);
        if (*text == ',')
            text++;
        else if (*text && *text != '\n')
            return NS_ERROR_FORMAT;
    }
    return NS_OK;
}
