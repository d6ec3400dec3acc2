#include <math.h>
#include <stdlib.h>

#include "probe/probe.h"

static const double TAIL = 0.025;

uint32_t ns_estimate_trim(uint32_t count) {
    double probability = pow(0.5, count), below = probability;
    uint32_t trim = 0;
    while (trim < count) {
        probability *= (double)(count - trim) / (trim + 1);
        if (below + probability > TAIL) break;
        below += probability;
        trim++;
    }
    return trim;
}

static int compare(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

uint32_t ns_estimate_together(double *sample, uint32_t count) {
    uint32_t first = 0, most = 0;
    qsort(sample, count, sizeof *sample, compare);
    for (uint32_t begin = 0, end = 0; end < count; begin++) {
        while (end < count && sample[end] <= 2 * sample[begin]) end++;
        if (end - begin > most) {
            first = begin;
            most = end - begin;
        }
    }
    for (uint32_t at = 0; at < most; at++) {
        const double moved = sample[at];
        sample[at] = sample[first + at];
        sample[first + at] = moved;
    }
    return most;
}

ns_estimate ns_estimate_of(double *sample, uint32_t count, uint32_t discarded) {
    if (!count) return (ns_estimate){.discarded = discarded};
    qsort(sample, count, sizeof *sample, compare);
    const uint32_t trim = count < NS_FEWEST_SAMPLES ? 0 : ns_estimate_trim(count);
    const double median = (sample[(count - 1) / 2] + sample[count / 2]) / 2;
    return (ns_estimate){median, sample[trim], sample[count - 1 - trim], count, discarded};
}
