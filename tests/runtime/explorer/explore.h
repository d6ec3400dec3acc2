/* Goes through all interleavings of a few threads that share atomic words, and reports a schedule that violates the
 * requirements of a case.
 *
 * Threads are fibers. Each access of source/platform/atomics.h is a step; the work of a thread between two accesses
 * belongs to the first. Schedules are run depth first, each from the beginning. Of schedules that differ only in the
 * order of steps at different words, one is run (sleep sets: Godefroid 1996). A state that was reached before is left,
 * except for steps that were asleep then. A state has the values that each thread has read, the contents of memory, and
 * the stores on their way. So all shared data must be accessed by source/platform/atomics.h, or be in memory of
 * ns_near_memory and protected by such accesses, or follow from both.
 *
 * A thread that rests (ns_pause) goes on when a word that it has read since its last rest has another value. So waiting
 * loops must only read until they succeed. A schedule in which no thread can go on is a violation.
 *
 * At most three stores of a thread are on their way to memory. Not modelled are early loads, spurious failures of
 * comparisons, and spurious wake-ups.
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
                            before it; read-modify-writes wait for stores before them only if they release */
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
    uint64_t left;      /* left, since all that could follow had been explored */
    uint64_t states, steps;
    uint32_t longest; /* steps of one schedule */
    bool violated;
    char sentence[256]; /* what was violated */
} ns_explore_result;

/* Go through all schedules, or until a schedule violates a requirement; print that schedule. */
void ns_explore_run(const ns_explore_case *self, enum ns_explore_memory memory, ns_explore_result *result);

/* In threads and checks: end the exploration if `holds` is false. */
void ns_explore_require(bool holds, const char *sentence);

/* In threads: from here on the thread depends only on shared memory and on `place`, a number of the case. Forget its
 * values so far, and the words on its stack below the caller. States that differ only in these become one state. This
 * is allowed behind a function of the library without a result, since such a function tells its caller nothing. */
void ns_explore_forget(uint32_t place);

/* In threads: the next successful read-modify-write of this thread at `location` is its arrival there. */
void ns_explore_arriving(const void *location);

/* In threads: returns the number of threads that arrived before this thread and have no grant yet. */
uint32_t ns_explore_ahead(void);

/* In threads: the arrival of this thread is granted. */
void ns_explore_granted(void);

/* In threads: returns the number of threads that have arrived and have no grant yet. */
uint32_t ns_explore_waiting(void);

/* Tables of cases by subject; each table ends with a case without a name. */
extern const ns_explore_case NS_LITMUS_CASES[], NS_DEQUE_CASES[], NS_LANE_CASES[], NS_LOCK_CASES[],
    NS_CONDITION_CASES[], NS_BARRIER_CASES[], NS_DEPENDENT_CASES[];

#endif
