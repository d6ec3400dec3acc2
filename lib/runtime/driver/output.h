/* The output of the program: kernels and outcomes, as JSON and as tables for people. */
#ifndef NS_OUTPUT_H
#define NS_OUTPUT_H

#include <stdio.h>

#include "driver/run.h"

void ns_output_kernels(FILE *file, bool json);

/* Print `count` outcomes of the same kernel. Without --repeat the JSON has the outcome itself, with --repeat a list
 * "runs".
 */
void ns_output_outcomes(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count);

#endif
