/* Explores all interleavings of a few threads that share atomic words, and reports a schedule that violates a
 * requirement of a case.
 *
 * A case is a small program of threads, which run as fibers. Each access by source/platform/atomics.h is a step; the
 * work of a thread between two accesses belongs to the first of them. A schedule is an order of steps. Schedules are
 * run depth first, each from the beginning. Of schedules that differ only in the order of steps at different words,
 * only one is run: a step that would repeat an explored order is *asleep* (sleep sets: Godefroid 1996). In a state that
 * was reached before, only those steps are explored that were asleep at that time. A state consists of the values that
 * each thread has read, the contents of memory, and the stores that have not reached memory. So all shared data must be
 * accessed by source/platform/atomics.h; or be in memory of ns_near_memory and be protected by such accesses; or follow
 * from both.
 *
 * A thread that rests (ns_pause) resumes when a word that it has read since its last rest gets another value. So
 * waiting loops may only read until they succeed. A schedule in which no thread can take a step is a violation.
 *
 * At most three stores of a thread are in its buffer. Early loads, spurious failures of compare-and-swap, and spurious
 * wake-ups are not modelled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "platform/atomics.h"

enum { NS_EXPLORE_THREADS = 4 };

enum ns_explore_memory {
    NS_EXPLORE_SEQUENTIAL, /* every store is seen at once */
    NS_EXPLORE_BUFFERED,   /* stores are seen later, in order (x86); stores of order seq_cst and read-modify-writes wait
                              for all earlier stores */
    NS_EXPLORE_REORDERED   /* stores to different words are seen in any order, except that a release is seen after all
                              earlier stores; read-modify-writes wait for earlier stores only if they release */
};

typedef struct {
    const char *name;
    uint32_t threads;
    void (*set_up)(void); /* called before each schedule, with all memory zero */
    void (*thread)(uint32_t id);
    void (*check)(void); /* called after each schedule; NULL: nothing to check */
} ns_explore_case;

typedef struct {
    uint64_t schedules; /* schedules that were run to their end */
    uint64_t left;      /* schedules that were cut off in a state whose continuations had been explored */
    uint64_t states, steps;
    uint32_t longest; /* largest number of steps of a schedule */
    bool violated;
    char sentence[256]; /* the violated requirement */
} ns_explore_result;

/* Explore all schedules; but if a schedule violates a requirement, print this schedule and stop. */
void ns_explore_run(const ns_explore_case *self, enum ns_explore_memory memory, ns_explore_result *result);

/* Called by threads and checks: end the exploration if `holds` is false. */
void ns_explore_require(bool holds, const char *sentence);

/* Called by threads: from here on the thread depends only on shared memory and on `place`, a number chosen by the case.
 * Forget the values that the thread has read, and the words on its stack below the caller. States that differ only in
 * these values and words become one state. This is allowed after a function of the library without a result, since such
 * a function gives its caller no information. */
void ns_explore_forget(uint32_t place);

/* Called by threads: the next successful read-modify-write of this thread at `location` is its arrival there. */
void ns_explore_arriving(const void *location);

/* Called by threads: return how many threads arrived before this thread and have not called ns_explore_granted. */
uint32_t ns_explore_ahead(void);

/* Called by threads: this thread got what it arrived for, such as a lock. */
void ns_explore_granted(void);

/* Called by threads: return how many threads have arrived and have not called ns_explore_granted. */
uint32_t ns_explore_waiting(void);

/* Tables of cases by subject; each table ends with a case without a name. */
extern const ns_explore_case NS_LITMUS_CASES[], NS_DEQUE_CASES[], NS_LANE_CASES[], NS_LOCK_CASES[],
    NS_CONDITION_CASES[], NS_BARRIER_CASES[], NS_DEPENDENT_CASES[], NS_SLEEP_CASES[];

/* ---- arena.c: the memory of a case ------------------------------------------------------------------------------- */

/* In every schedule the arena has the same addresses and begins with zeros. Its functions replace the functions of
 * source/platform/near_memory.h. */

/* Free all memory. */
void ns_arena_clear(void);

bool ns_arena_holds(const void *location);

/* Return the allocated memory as words. */
const uint64_t *ns_arena_words(size_t *count);

/* Describe a location for people. */
void ns_arena_describe(const void *location, char *text, size_t bytes);
