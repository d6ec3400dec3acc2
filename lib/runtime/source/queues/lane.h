/* The lane of one worker, split between its owner and thieves (split.h): a stack of slots, each with a task and its
 * arguments, without a ring. Tasks in slots below the tail were stolen.
 *
 * A thief moves the tail beyond a slot before it reads the slot. The slot then belongs to the thief until it marks the
 * task as ended. So other values of the word of tail and split in the meantime do no harm. Thieves take the oldest
 * tasks: if the task at the top was stolen, all tasks below it were. The owner waits until that task has ended, clears
 * the mark, and lowers the top, the split and the tail by one. So a push need not clear a mark.
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

/* Make an empty lane for the owner of `owned`, with room for `capacity` tasks. Returns 0 or NS_ERROR_MEMORY. Unused
 * slots take addresses, and no memory. */
int ns_lane_create(ns_lane *self, ns_lane_owned *owned, uint32_t capacity);
void ns_lane_destroy(ns_lane *self);

/* The owner pushes the task that it has already written at the top. Returns false if there is no room. The slot at
 * the top can always be written. */
bool ns_lane_push_written(ns_lane *self);

ns_lane_slot *ns_lane_pop_slowly(ns_lane *self);

/* Fill a slot. Arguments are copied word by word: most of them were just written as words, and are read as words. */
static inline void ns_lane_fill(ns_lane_slot *slot, ns_body *body, const void *arguments, size_t bytes) {
    if (bytes > sizeof slot->arguments) __builtin_unreachable(); /* the caller has checked this */
    slot->body = body;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) memcpy(slot->arguments + at, (const char *)arguments + at, 8);
    if (at < bytes) memcpy(slot->arguments + at, (const char *)arguments + at, bytes - at);
}

/* Returns the first free slot of the lane; for other threads than the owner, of some instant. */
static inline ns_lane_slot *ns_lane_top(const ns_lane_owned *owned) {
    /* relaxed: the owner reads its own writes; others need only the length */
    return (ns_lane_slot *)(uintptr_t)ns_atomic_u64_load(ns_lane_atomic(&owned->top), memory_order_relaxed);
}

/* The owner pushes a task with at most NS_INLINED_BYTES of arguments. Returns false if there is no room. */
static inline bool ns_lane_push(ns_lane *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_slot *slot = ns_lane_top(self->owned);
    ns_lane_fill(slot, body, arguments, bytes);
    /* relaxed: limits only choose the slow path */
    if ((uintptr_t)slot >= ns_atomic_u64_load(ns_lane_atomic(&self->owned->push_limit), memory_order_relaxed))
        return ns_lane_push_written(self);
    /* relaxed: other threads see private tasks only after the release of the split */
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(slot + 1), memory_order_relaxed);
    return true;
}

/* The owner takes the task at the top of a lane that is not empty. The task stays in its slot until the next push.
 * Returns NULL if the task was stolen. */
static inline ns_lane_slot *ns_lane_pop(ns_lane *self) {
    ns_lane_slot *top = ns_lane_top(self->owned);
    /* relaxed: as in push */
    if ((uintptr_t)top <= ns_atomic_u64_load(ns_lane_atomic(&self->owned->pop_limit), memory_order_relaxed))
        return ns_lane_pop_slowly(self);
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(top - 1), memory_order_relaxed);
    return top - 1;
}

/* The task at the top was stolen and has ended: the owner copies its result, if there is one, to the result's place. */
void ns_lane_deliver(const ns_lane *self);

/* The task at the top was stolen and has ended: the owner removes it. */
void ns_lane_forget(ns_lane *self);

/* The owner makes all tasks public before it sleeps: a sleeping owner sees no thief ask. */
void ns_lane_publish(ns_lane *self);

/* A thief takes the oldest task, which stays in its slot until the thief marks it as ended. Returns NULL if no task
 * is public or another thief was quicker. */
ns_lane_slot *ns_lane_steal(ns_lane *self);

/* Copy the arguments of a task that a thief has taken, or that was popped for execution with a record. */
void ns_lane_copy_arguments(const ns_lane_slot *slot, char *arguments);

/* The thief has executed the task: mark it as ended, and copy its result, the `returned` bytes from NS_RESULT_AT on of
 * `arguments`, to the slot. */
void ns_lane_end(ns_lane_slot *slot, const char *arguments, uint32_t returned);

/* Returns whether a stolen task has ended. */
bool ns_lane_has_ended(const ns_lane_slot *slot);

/* Returns the number of tasks that have not been taken: exact for the owner between steals, else of some instant. */
uint64_t ns_lane_length(const ns_lane *self);

#endif
