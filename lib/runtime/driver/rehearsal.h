/* Rehearsals: what a program takes serially, on the hardware threads of its workers, just before they run it.
 *
 * Each worker runs a copy of the program, with a state of its own, all at once: hardware threads take speed from each
 * other, by shared cores, caches, memory and clocks, which no run alone can measure. What a program takes depends
 * on its order, too: where the first worker takes the newest task from its deque, its copy does so, and the copies of
 * the others begin with the tasks that thieves take from that deque, the oldest.
 */
#ifndef NS_REHEARSAL_H
#define NS_REHEARSAL_H

#include "driver/run.h"

/* A native run after its rehearsal. 0, or a negative error code with a sentence for the user in `problem`. */
int ns_run_rehearsed(ns_outcome *outcome, const ns_options *options, uint64_t seed, char *problem, size_t bytes);

#endif
