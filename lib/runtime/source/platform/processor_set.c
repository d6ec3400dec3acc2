#include "platform/processor_set.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numasim/runtime.h"

enum { WORDS = NS_SET_BITS / 64 };
enum { ALLOWED = 4 }; /* MPOL_F_MEMS_ALLOWED */

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

/* Parse the number at `*text`, and move `*text` behind it. Return NS_SET_BITS if there is no number that fits a set. */
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

/* Parse up to eight hexadecimal digits (32 bits) at `*text`, and move `*text` behind the digits. Return -1 for no digit
 * and for more than eight digits. */
static int64_t parse_group(const char **text) {
    int64_t value = 0;
    uint32_t digits = 0;
    for (; isxdigit((unsigned char)**text) && digits <= 8; ++*text, digits++) {
        const int symbol = tolower((unsigned char)**text);
        value = value * 16 + (symbol <= '9' ? symbol - '0' : symbol - 'a' + 10);
    }
    return digits && digits <= 8 ? value : -1;
}

/* Shift all groups of 32 bits up by one group. Return whether the highest group was empty. */
static bool shift_by_group(ns_set *self) {
    const bool fits = self->word[WORDS - 1] >> 32 == 0;
    for (uint32_t at = WORDS; at-- > 0;) self->word[at] = self->word[at] << 32 | (at ? self->word[at - 1] >> 32 : 0);
    return fits;
}

int ns_set_parse_bitmap(ns_set *self, const char *text) {
    memset(self, 0, sizeof *self);
    for (;; text++) {
        const int64_t group = parse_group(&text);
        if (group < 0 || !shift_by_group(self)) return NS_ERROR_FORMAT;
        self->word[0] |= (uint64_t)group;
        if (*text != ',') return *text && *text != '\n' ? NS_ERROR_FORMAT : NS_OK;
        if (text[1] == '\n') text++; /* old kernels break a long bitmap into lines */
    }
}

void ns_set_usable_processors(ns_set *self) {
    cpu_set_t *mask = CPU_ALLOC(NS_SET_BITS);
    const size_t size = CPU_ALLOC_SIZE(NS_SET_BITS);
    const bool known = mask && sched_getaffinity(0, size, mask) == 0;
    memset(self, known ? 0 : 0xFF, sizeof *self);
    for (uint32_t cpu = 0; known && cpu < NS_SET_BITS; cpu++) {
        if (CPU_ISSET_S(cpu, size, mask)) ns_set_add(self, cpu);
    }
    CPU_FREE(mask);
}

void ns_set_usable_memory(ns_set *self) {
    memset(self, 0, sizeof *self);
    const long failed = syscall(SYS_get_mempolicy, NULL, self->word, (unsigned long)NS_SET_BITS, NULL, ALLOWED);
    if (failed || !ns_set_count(self)) memset(self, 0xFF, sizeof *self);
}
