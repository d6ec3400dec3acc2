/* The lane of one worker, split between its owner and thieves as split.h explains: a stack of tasks with their
 * arguments in slots of its own, without a ring. Below the tail are slots whose tasks were stolen.
 *
 * A thief reads a slot only after it has moved the tail beyond it, and the slot is its own until it marks the task as
 * ended: so it does not matter whether the word of tail and split has had other values since the thief read it.
 * Thieves take the oldest; so where the task at the top has been stolen, all below it have been. The owner waits until
 * it has ended, lowers the top, the split and the tail by one, and the slot is as if nothing had ended there: a push
 * need not say so.
 */
#ifndef NS_LANE_H
#define NS_LANE_H

#include <stddef.h>
#include <string.h>

#include "numasim/runtime.h"
#include "platform/atomics.h"

typedef struct {
    ns_lane_owned *owned; /* in its worker */
    ns_lane_slot *slots;
    uint32_t capacity;
    uint32_t split;                 /* as in `ends` */
    NS_OWN_LINE ns_atomic_u64 ends; /* tail and split */
} ns_lane;
_Static_assert(sizeof(ns_lane_slot) == 64, "a task takes one line of a cache");
_Static_assert(sizeof(ns_atomic_u64) == sizeof(ns_lane_word), "a lane's word is an atomic one");

static inline ns_atomic_u64 *ns_lane_atomic(const ns_lane_word *word) { return (ns_atomic_u64 *)(uintptr_t)word; }

/* An empty lane for the owner of `owned` with room for `capacity` tasks: 0 or NS_ERROR_MEMORY. Memory that is not used
 * costs nothing but addresses. */
int ns_lane_create(ns_lane *self, ns_lane_owned *owned, uint32_t capacity);
void ns_lane_destroy(ns_lane *self);

/* The owner pushes the task that it has written at the top already; false where there is no room. There is always one
 * more slot to write. */
bool ns_lane_push_written(ns_lane *self);

ns_lane_slot *ns_lane_pop_slowly(ns_lane *self);

/* Arguments are mostly words that have just been written, and are soon read again: word by word they need not wait for
 * each other in the cache. */
static inline void ns_lane_fill(ns_lane_slot *slot, ns_body *body, const void *arguments, size_t bytes) {
    if (bytes > sizeof slot->arguments) __builtin_unreachable(); /* who calls has made sure */
    slot->body = body;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) memcpy(slot->arguments + at, (const char *)arguments + at, 8);
    if (at < bytes) memcpy(slot->arguments + at, (const char *)arguments + at, bytes - at);
}

/* The first free slot of the lane; for others than the owner at some instant. */
static inline ns_lane_slot *ns_lane_top(const ns_lane_owned *owned) {
    /* relaxed: the owner reads what it wrote itself; others read it for the length only */
    return (ns_lane_slot *)(uintptr_t)ns_atomic_u64_load(ns_lane_atomic(&owned->top), memory_order_relaxed);
}

/* The owner pushes a task with at most NS_INLINED_BYTES of arguments; false where there is no room. */
static inline bool ns_lane_push(ns_lane *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_slot *slot = ns_lane_top(self->owned);
    ns_lane_fill(slot, body, arguments, bytes);
    /* relaxed: limits only choose the slow path */
    if ((uintptr_t)slot >= ns_atomic_u64_load(ns_lane_atomic(&self->owned->push_limit), memory_order_relaxed))
        return ns_lane_push_written(self);
    /* relaxed: private tasks are seen by others only after the split's release */
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(slot + 1), memory_order_relaxed);
    return true;
}

/* Of a lane that is not empty, the owner takes the task at the top: it stays in its slot until the next push.
 * NULL where it has been stolen. */
static inline ns_lane_slot *ns_lane_pop(ns_lane *self) {
    ns_lane_slot *top = ns_lane_top(self->owned);
    /* relaxed: as in push */
    if ((uintptr_t)top <= ns_atomic_u64_load(ns_lane_atomic(&self->owned->pop_limit), memory_order_relaxed))
        return ns_lane_pop_slowly(self);
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(top - 1), memory_order_relaxed);
    return top - 1;
}

/* Of the task at the top, which was stolen and has ended, the owner puts the result, if it left one, in its place. */
void ns_lane_deliver(const ns_lane *self);

/* The owner removes the task at the top, which was stolen and has ended. */
void ns_lane_forget(ns_lane *self);

/* The owner makes all of its tasks public: before it sleeps, when it would not see thieves ask. */
void ns_lane_publish(ns_lane *self);

/* A thief takes the oldest task: it is in its slot until the thief marks it as ended. NULL where nothing is public
 * or somebody else was quicker. */
ns_lane_slot *ns_lane_steal(ns_lane *self);

/* A copy of the arguments of a task that a thief has taken, or that was popped to be executed with a record. */
void ns_lane_copy_arguments(const ns_lane_slot *slot, char *arguments);

/* The thief has executed the task, with the copy of its arguments, where the last `returned` bytes behind NS_RESULT_AT
 * are its result. */
void ns_lane_end(ns_lane_slot *slot, const char *arguments, uint32_t returned);

/* Whether a stolen task has ended. */
bool ns_lane_has_ended(const ns_lane_slot *slot);

/* How many tasks there are that have not been taken: exact for the owner between steals, for others at some instant. */
uint64_t ns_lane_length(const ns_lane *self);

#endif
