/* Estimates from repeated measurements: the median, and a confidence interval for the true median. */
#ifndef NS_ESTIMATE_H
#define NS_ESTIMATE_H

#include <stdint.h>

enum { NS_FEWEST_SAMPLES = 6 }; /* with fewer samples no interval reaches 95 % confidence */

typedef struct {
    double median, low, high; /* the interval from low to high covers the true median with at least 95 % */
    uint32_t samples, discarded;
} ns_estimate;

/* Estimate the median from `count` samples. The function sorts `sample`. The ends of the interval are two order
 * statistics: the number of samples below the true median has a binomial distribution, whatever the distribution of the
 * samples. With fewer than NS_FEWEST_SAMPLES samples the interval is from the least sample to the largest. */
ns_estimate ns_estimate_of(double *sample, uint32_t count, uint32_t discarded);

/* Find the largest group of samples in which no sample is more than twice another sample. Move the group, sorted, to
 * the front. Return the size of the group. Of several largest groups, take the group with the least samples. */
uint32_t ns_estimate_together(double *sample, uint32_t count);

/* Return the number of samples that the interval leaves out at either end: the largest t with P[B(count, 1/2) <= t] <=
 * 2.5 %. The reason: sample[t] lies above the true median only if at most t samples lie below the true median. */
uint32_t ns_estimate_trim(uint32_t count);

#endif
