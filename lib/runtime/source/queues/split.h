/* The split of a queue between its owner and thieves: the common part of the deque (deque.h) and the lane (lane.h).
 *
 * The owner works at the upper end of the queue, which is private, without any atomic read-modify-write or fence.
 * Thieves take the oldest tasks from the lower part, which is public, by a compare-and-swap (van Dijk and van de Pol,
 * "Lace: non-blocking split deque for work-stealing", 2014).
 *
 *       tail          split               top
 *     ---+--------------+------------------+---->  indices of slots
 *        |    public    |     private      |
 *     thieves take here    the owner pushes and pops here
 *
 * Tail and split share one word, 32 bits each. Thieves advance the tail. The owner lowers the split to take tasks back.
 * Both use a compare-and-swap of the whole word. While the public part is empty, no thief's compare-and-swap can
 * succeed, and the owner raises the split with a plain store.
 *
 * A thief that empties the public part asks for more tasks. At every push and pop the owner compares its top with a
 * limit: from the push limit on the queue is full, and up to the pop limit tasks are public. A thief asks by setting
 * both limits, so that the owner's next push or pop takes the slow path. So one test finds out whether a thief asks,
 * whether the queue is full, and whether private tasks are left.
 */
#ifndef NS_SPLIT_H
#define NS_SPLIT_H

#include "platform/atomics.h"

static inline uint64_t ns_ends_of(uint64_t tail, uint64_t split) { return (uint32_t)tail | split << 32; }

static inline uint32_t ns_ends_tail(uint64_t ends) { return (uint32_t)ends; }

static inline uint32_t ns_ends_split(uint64_t ends) { return (uint32_t)(ends >> 32); }

/* The owner, whose top is `top`, makes half of the private part public, if the public part is empty. Returns the ends.
 * Acquires what thieves did before they moved the tail. */
uint64_t ns_split_publish_half(ns_atomic_u64 *ends, uint32_t top);

/* The owner makes all tasks public. Returns the ends. */
uint64_t ns_split_publish_all(ns_atomic_u64 *ends, uint32_t top);

/* The owner makes the upper `count` public tasks private, if the ends are still `seen`. Returns whether they were. */
bool ns_split_take_back(ns_atomic_u64 *ends, uint64_t seen, uint32_t count);

/* The owner sets its limits for these `ends`: `full` is the top at which there is no more room, `split` the top at
 * which no task is private. */
void ns_split_set_limits(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit, uint64_t ends, uint64_t full,
                         uint64_t split);

/* A thief asks for public tasks: the owner's next push or pop takes the slow path. */
void ns_split_ask(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit);

#endif
