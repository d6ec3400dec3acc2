/* Recordings that are rehearsed: the program runs before, while nobody records it.
 *
 * Each worker of a plan runs a copy of the program then, serially and with a state of its own: hardware threads take
 * speed from each other, by shared cores, caches, memory and clocks, and no run alone can tell how much. Without a plan
 * there is one worker.
 */
#ifndef NS_REHEARSAL_H
#define NS_REHEARSAL_H

#include "driver/run.h"

/* Record a serial run after its rehearsals. 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

#endif
