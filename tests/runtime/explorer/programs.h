/* Small programs that are read, of which all outcomes are told: so that the explorer can be held against another. */
#ifndef NS_EXPLORER_PROGRAMS_H
#define NS_EXPLORER_PROGRAMS_H

#include <stdio.h>

#include "explore.h"

/* Explore each line of `in`: threads with a | between them, of steps with spaces between them. A step is `l` (load),
 * `s` (store) or `a` (add), then the number of a word, then an order: `r` (relaxed), `o` (release; of a load, acquire;
 * of an addition, both) or `c` (seq_cst), then `k`, or `f` where the thread forgets what it has found. Step number n of
 * thread t stores or adds 10 t + n + 1. For each schedule a line "outcome" tells what the steps found and what the
 * words are at the end, for each line of `in` one "end". 0, or -1 where a line is no program. */
int ns_explore_programs(FILE *in, enum ns_explore_memory memory);

#endif
