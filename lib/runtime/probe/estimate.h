/* What repeated measurements say: their median, and where the median of all that could be made lies. */
#ifndef NS_ESTIMATE_H
#define NS_ESTIMATE_H

#include <stdint.h>

enum { NS_FEWEST_SAMPLES = 6 }; /* of fewer, no interval covers the median with 95 % */

typedef struct {
    double median, low, high; /* of samples; low to high covers the true median with at least 95 % */
    uint32_t samples, discarded;
} ns_estimate;

/* Estimate from `count` samples, which are sorted. The interval is that of order statistics: how many samples lie below
 * the true median is binomial, whatever they are distributed like. With fewer than NS_FEWEST_SAMPLES it is all of them.
 */
ns_estimate ns_estimate_of(double *sample, uint32_t count, uint32_t discarded);

/* Move the largest group of samples of which none is more than twice another to the front, sorted; how many they are.
 * Of groups of the same size, it is the one of the least. */
uint32_t ns_estimate_together(double *sample, uint32_t count);

/* How many samples at either end the interval leaves out: the most, t, for which P[B(count, 1/2) <= t] <= 2.5 %, since
 * sample[t] lies above the true median only where at most t samples lie below that. */
uint32_t ns_estimate_trim(uint32_t count);

#endif
