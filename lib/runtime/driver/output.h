/* The output of numasim-runtime: kernels and outcomes, as JSON and as tables for people. */
#ifndef NS_OUTPUT_H
#define NS_OUTPUT_H

#include <stdio.h>

#include "driver/run.h"

void ns_output_kernels(FILE *file, bool json);

/* Print `count` outcomes of the same kernel. Without --repeat the JSON object is the outcome itself; with --repeat the
 * JSON object has a list of outcomes, "runs".
 */
void ns_output_outcomes(FILE *file, const ns_options *options, const ns_outcome *outcomes, int64_t count);

#endif
