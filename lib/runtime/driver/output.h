/* What the program prints: kernels and outcomes, as JSON and for people. */
#ifndef NS_OUTPUT_H
#define NS_OUTPUT_H

#include <stdio.h>

#include "driver/run.h"

void ns_output_kernels(FILE *file, bool json);

/* `count` outcomes of the same kernel; a single one that is not one of several has no "runs" in JSON. */
void ns_output_outcomes(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count);

#endif
