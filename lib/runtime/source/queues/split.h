/* The split of a queue between its owner and thieves. The deque (deque.h) and the lane (lane.h) share this code.
 *
 * The owner works at the upper end of the queue, the private part, without atomic read-modify-write instructions and
 * without fences. Thieves take the oldest tasks from the lower part, the public part, by compare-and-swap (van Dijk and
 * van de Pol, "Lace: non-blocking split deque for work-stealing", 2014).
 *
 *       tail          split               top
 *     ---+--------------+------------------+---->  indices of slots
 *        |    public    |     private      |
 *     thieves take here    the owner pushes and pops here
 *
 * Tail and split share one word, the ends, 32 bits each. Thieves raise the tail, and the owner lowers the split to take
 * tasks back: thieves and owner use a compare-and-swap of the whole word. While the public part is empty, no thief's
 * compare-and-swap can succeed, so the owner raises the split with a plain store.
 *
 * A thief that empties the public part, or finds it empty, asks for more tasks. At each push and pop the owner compares
 * the top with a limit; if the limit is reached, it takes a slow path. The push limit is the top at which the queue is
 * full; the pop limit is the split, at which all remaining tasks are public. A thief asks by setting both limits so
 * that the next push or pop takes the slow path; the owner sets the push limit to 0 while no task is public, for the
 * same reason. So one comparison finds all cases: tasks must be made public, the queue is full, or no private task is
 * left. */
#pragma once

#include "platform/atomics.h"

static inline uint64_t ns_ends_of(uint64_t tail, uint64_t split) { return (uint32_t)tail | split << 32; }

static inline uint32_t ns_ends_tail(uint64_t ends) { return (uint32_t)ends; }

static inline uint32_t ns_ends_split(uint64_t ends) { return (uint32_t)(ends >> 32); }

/* Make half of the private tasks (rounded up) public, if no task is public. Called by the owner, whose top is `top`.
 * Return the new ends. After the call the owner sees all that thieves did before they moved the tail (acquire). */
uint64_t ns_split_publish_half(ns_atomic_u64 *ends, uint32_t top);

/* Make all tasks public. Called by the owner. Return the new ends. */
uint64_t ns_split_publish_all(ns_atomic_u64 *ends, uint32_t top);

/* Make the newest `count` public tasks private. Called by the owner. Return false, without a change, if the ends are no
 * longer `seen`. */
bool ns_split_take_back(ns_atomic_u64 *ends, uint64_t seen, uint32_t count);

/* Set the owner's limits: the push limit to `full`, the top at which there is no more room, or to 0 if no task is
 * public in `ends`; the pop limit to `split`, the top at which no task is private. */
void ns_split_set_limits(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit, uint64_t ends, uint64_t full,
                         uint64_t split);

/* Ask the owner for public tasks. Called by a thief. */
void ns_split_ask(ns_atomic_u64 *push_limit, ns_atomic_u64 *pop_limit);
