/* Goes through all interleavings of a few threads that share atomic words, and reports a schedule that breaks what a
 * case requires.
 *
 * Threads are fibers; each access of source/platform/atomics.h is a step, and what a thread does between two accesses
 * belongs to the first. Schedules are gone through depth first, each from the beginning. Of schedules that differ only
 * in the order of steps that do not touch one word, one is run (sleep sets: Godefroid 1996); a state that was reached
 * before is left, except for steps that were asleep then. A state is what each thread has read, what memory holds and
 * which stores are on their way; so what threads share must be behind source/platform/atomics.h, or in memory of
 * ns_near_memory and protected by it, or determined by the two.
 *
 * A thread that rests (ns_pause) goes on when a word that it read since its last rest has another value: loops that
 * wait must do nothing but read until they succeed. A schedule in which nobody can go on is a violation.
 *
 * At most three stores of a thread are on their way to memory. Not modelled: loads that are done early, comparisons
 * that fail for no reason, sleepers that wake for no reason.
 */
#ifndef NS_EXPLORE_H
#define NS_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"

enum { NS_EXPLORE_THREADS = 4 };

enum ns_explore_memory {
    NS_EXPLORE_SEQUENTIAL, /* every store is seen at once */
    NS_EXPLORE_BUFFERED, /* stores are seen later, in order (x86): all but those of order seq_cst, which wait for those
                            before them, as read-modify-writes do */
    NS_EXPLORE_REORDERED /* stores to different words are seen in any order, except that a release is seen after all
                            before it; read-modify-writes wait for stores before them only where they release */
};

typedef struct {
    const char *name;
    uint32_t threads;
    void (*set_up)(void); /* before each schedule; memory is all zero then */
    void (*thread)(uint32_t id);
    void (*check)(void); /* behind each schedule; NULL: nothing is left to check */
} ns_explore_case;

typedef struct {
    uint64_t schedules; /* gone through to their end */
    uint64_t left;      /* left, since all that could follow had been seen */
    uint64_t states, steps;
    uint32_t longest; /* steps of one schedule */
    bool violated;
    char sentence[256]; /* what was violated */
} ns_explore_result;

/* Go through all schedules, or until one violates something; that one is printed. */
void ns_explore_run(const ns_explore_case *self, enum ns_explore_memory memory, ns_explore_result *result);

/* In threads and checks: what has to hold. Ends the exploration where it does not. */
void ns_explore_require(bool holds, const char *sentence);

/* In threads: what this thread does from here on depends, beside shared memory, on `place` alone, a number of the
 * case's own: how it came here is forgotten, as are words on its stack below the caller's. States that differ in that
 * are one then. A function of the library that returns nothing has told its caller nothing, so this may stand behind
 * it. */
void ns_explore_forget(uint32_t place);

/* In threads: the next successful read-modify-write of this thread at `location` is its arrival there. */
void ns_explore_arriving(const void *location);

/* In threads: the number of threads that have arrived before this one and were not granted anything yet. */
uint32_t ns_explore_ahead(void);

/* In threads: the arrival of this thread is granted. */
void ns_explore_granted(void);

/* In threads: the number of threads that have arrived and were not granted anything yet. */
uint32_t ns_explore_waiting(void);

#endif
