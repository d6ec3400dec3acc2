/* The split of a queue between its owner and thieves: the common part of the deque (deque.h) and the lane (lane.h).
 *
 * The owner works at the upper end, which is private: without any atomic read-modify-write or fence. Thieves take the
 * oldest tasks from the lower part, which is public, by a compare-and-swap (van Dijk and van de Pol, "Lace:
 * non-blocking split deque for work-stealing", 2014).
 *
 *       tail          split               top
 *     ---+--------------+------------------+---->  indices of slots
 *        |    public    |     private      |
 *     thieves take here    the owner pushes and pops here
 *
 * Tail and split share one word, 32 bits each. Thieves advance the tail; the owner lowers the split to take tasks back,
 * both by compare-and-swap of the whole word. Where the public part is empty, no thief's compare-and-swap can succeed,
 * and the owner raises the split with a plain store.
 *
 * A thief that empties the public part asks for more. It does so by setting the two limits with which the owner
 * compares its top at every push and every pop: beyond the push limit the queue is full, below the pop limit tasks are
 * public, and a thief that asks moves both limits so that the owner's next push or pop is beyond. So asking, running
 * out of room and running out of private tasks are one test.
 */
#ifndef NS_SPLIT_H
#define NS_SPLIT_H

#include "platform/atomics.h"

static inline uint64_t ns_ends_of(uint64_t tail, uint64_t split) { return (uint32_t)tail | split << 32; }

static inline uint32_t ns_ends_tail(uint64_t ends) { return (uint32_t)ends; }

static inline uint32_t ns_ends_split(uint64_t ends) { return (uint32_t)(ends >> 32); }

/* The owner, whose top is `top`: where the public part is empty, half of the private one becomes public. Returns the
 * ends as they are then. Acquires what thieves that have moved the tail did before. */
uint64_t ns_split_publish_half(ns_atomic_u64 *ends, uint32_t top);

/* The owner: all tasks become public. Returns the ends. */
uint64_t ns_split_publish_all(ns_atomic_u64 *ends, uint32_t top);

/* The owner: the upper `count` public tasks become private, if the ends are still as `seen`; whether they were. */
bool ns_split_take_back(ns_atomic_u64 *ends, uint64_t seen, uint32_t count);

/* The owner sets its limits to where its next pushes and pops take the slow path, now that `ends` are so: `full` is the
 * top at which there is no more room, `split` the top at which there is no private task. */
void ns_split_set_limits(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit, uint64_t ends, uint64_t full,
                         uint64_t split);

/* A thief asks for public tasks: the owner's next push or pop takes the slow path. */
void ns_split_ask(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit);

#endif
