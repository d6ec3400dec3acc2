#include "driver/options/names.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 63 };

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Levenshtein's distance row by row, of the first letters of each. */
uint32_t ns_names_distance(const char *a, const char *b) {
    const size_t long_a = strnlen(a, LONGEST), long_b = strnlen(b, LONGEST);
    uint32_t row[LONGEST + 1];
    for (uint32_t at = 0; at <= long_b; at++) row[at] = at;
    for (uint32_t i = 1; i <= long_a; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= long_b; j++) {
            const uint32_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[long_b];
}

int ns_names_find(const char *const *names, const char *name, const char **nearest) {
    uint32_t smallest = UINT32_MAX;
    *nearest = "";
    for (int at = 0; names[at]; at++) {
        const uint32_t distance = ns_names_distance(names[at], name);
        if (!distance && strcmp(names[at], name) == 0) return at;
        if (distance < smallest) {
            smallest = distance;
            *nearest = names[at];
        }
    }
    return -1;
}
