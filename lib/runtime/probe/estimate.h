/* Estimates from repeated measurements: their median, and an interval for the true median. */
#ifndef NS_ESTIMATE_H
#define NS_ESTIMATE_H

#include <stdint.h>

enum { NS_FEWEST_SAMPLES = 6 }; /* with fewer samples no interval covers the true median with 95 % */

typedef struct {
    double median, low, high; /* the interval from low to high covers the true median with at least 95 % */
    uint32_t samples, discarded;
} ns_estimate;

/* Estimate from `count` samples, which the function sorts. The interval is between two order statistics: the number of
 * samples below the true median is binomial, whatever the distribution of the samples. With fewer than
 * NS_FEWEST_SAMPLES the interval is from the least sample to the largest. */
ns_estimate ns_estimate_of(double *sample, uint32_t count, uint32_t discarded);

/* Find the largest group of samples in which no sample is more than twice another, and move the group to the front,
 * sorted. Returns the size of the group. Among groups of the same size the group of the least samples is taken. */
uint32_t ns_estimate_together(double *sample, uint32_t count);

/* Return how many samples at either end the interval leaves out: the largest t with P[B(count, 1/2) <= t] <= 2.5 %. For
 * sample[t] lies above the true median only if at most t samples lie below the true median. */
uint32_t ns_estimate_trim(uint32_t count);

#endif
