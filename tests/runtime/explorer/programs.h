/* Reads small programs and prints all their outcomes, to compare the explorer with another one. */
#ifndef NS_EXPLORER_PROGRAMS_H
#define NS_EXPLORER_PROGRAMS_H

#include <stdio.h>

#include "explore.h"

/* Explore each line of `in`: threads with a | between them, of steps with spaces between them. A step is `l` (load),
 * `s` (store) or `a` (add), then the number of a word, then an order: `r` (relaxed), `o` (release; of a load, acquire;
 * of an addition, both) or `c` (seq_cst), then `k`, or `f` where the thread forgets what it has found. Step number n of
 * thread t stores or adds 10 t + n + 1. Prints for each schedule a line "outcome" with the results of the steps and the
 * final words, and for each line of `in` a line "end". Returns 0, or -1 where a line is no program. */
int ns_explore_programs(FILE *in, enum ns_explore_memory memory);

#endif
