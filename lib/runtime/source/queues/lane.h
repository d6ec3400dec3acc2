/* The lane of one worker, its owner: a stack of slots, each with a task and its arguments. The owner pushes and pops at
 * the top; other workers (thieves) steal from the tail, the oldest tasks first. Tasks in slots below the tail are
 * stolen, tasks from the tail to the split are public, tasks from the split to the top are private to the owner
 * (split.h).
 *
 * A thief moves the tail beyond a slot before it reads the slot. The slot then belongs to the thief until the thief
 * marks the task as ended; so changes of tail and split meanwhile do no harm. If the task at the top is stolen, all
 * tasks below are stolen, too. To join a stolen task at the top, the owner waits for the mark, clears the mark, and
 * sets top, split and tail to the slot. So the slots from the top on have no mark, and a push need not clear one. */
#pragma once

#include <stddef.h>
#include <string.h>

#include "numasim/runtime.h"
#include "platform/atomics.h"

typedef struct {
    ns_lane_owned *owned;           /* top and limits, in the owner's ns_worker */
    ns_lane_slot *slots;            /* [capacity + 1] */
    uint32_t capacity;              /* in tasks */
    uint32_t split;                 /* the owner's copy of the split in `ends` */
    NS_OWN_LINE ns_atomic_u64 ends; /* tail and split, as indices of slots */
} ns_lane;
_Static_assert(sizeof(ns_lane_slot) == 64, "a task takes one line of a cache");
_Static_assert(sizeof(ns_atomic_u64) == sizeof(ns_lane_word), "a lane's word is an atomic one");

static inline ns_atomic_u64 *ns_lane_atomic(const ns_lane_word *word) { return (ns_atomic_u64 *)(uintptr_t)word; }

/* Make an empty lane with room for `capacity` tasks for the owner of `owned`. Return 0 or NS_ERROR_MEMORY. Unused slots
 * take address space, but no memory. */
int ns_lane_create(ns_lane *self, ns_lane_owned *owned, uint32_t capacity);
void ns_lane_destroy(ns_lane *self);

/* The owner pushes the task that it has already written to the slot at the top. Return false if there is no room; also
 * then the slot may be written. */
bool ns_lane_push_written(ns_lane *self);

/* The slow path of ns_lane_pop. */
ns_lane_slot *ns_lane_pop_slowly(ns_lane *self);

/* Fill a slot. Arguments are copied word by word, because programs mostly write and read arguments as words. */
static inline void ns_lane_fill(ns_lane_slot *slot, ns_body *body, const void *arguments, size_t bytes) {
    if (bytes > sizeof slot->arguments) __builtin_unreachable(); /* the caller has checked this */
    slot->body = body;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) memcpy(slot->arguments + at, (const char *)arguments + at, 8);
    if (at < bytes) memcpy(slot->arguments + at, (const char *)arguments + at, bytes - at);
}

/* Return the first free slot of the lane; to a thread other than the owner, the one that was first a short time ago. */
static inline ns_lane_slot *ns_lane_top(const ns_lane_owned *owned) {
    /* relaxed: the owner reads its own writes; other threads need only the length */
    return (ns_lane_slot *)(uintptr_t)ns_atomic_u64_load(ns_lane_atomic(&owned->top), memory_order_relaxed);
}

/* The owner pushes a task with at most NS_INLINED_BYTES of arguments. Return false if there is no room. */
static inline bool ns_lane_push(ns_lane *self, ns_body *body, const void *arguments, size_t bytes) {
    ns_lane_slot *slot = ns_lane_top(self->owned);
    ns_lane_fill(slot, body, arguments, bytes);
    /* relaxed: the limit only chooses between the fast and the slow path */
    if ((uintptr_t)slot >= ns_atomic_u64_load(ns_lane_atomic(&self->owned->push_limit), memory_order_relaxed))
        return ns_lane_push_written(self);
    /* relaxed: other threads see private tasks only after the release of the split */
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(slot + 1), memory_order_relaxed);
    return true;
}

/* The owner takes the task at the top of a lane that is not empty. The task stays in its slot until the next push.
 * Return NULL if the task was stolen. */
static inline ns_lane_slot *ns_lane_pop(ns_lane *self) {
    ns_lane_slot *top = ns_lane_top(self->owned);
    /* relaxed: as in push */
    if ((uintptr_t)top <= ns_atomic_u64_load(ns_lane_atomic(&self->owned->pop_limit), memory_order_relaxed))
        return ns_lane_pop_slowly(self);
    ns_atomic_u64_store(ns_lane_atomic(&self->owned->top), (uintptr_t)(top - 1), memory_order_relaxed);
    return top - 1;
}

/* Remove the task at the top, which was stolen and has ended, and copy its result, if any, to the address that the
 * arguments give. Called by the owner. */
void ns_lane_join_stolen(ns_lane *self);

/* Make all tasks public. The owner calls this before it sleeps: asleep, it would not notice that a thief asks. */
void ns_lane_publish(ns_lane *self);

/* A thief takes the oldest task, which stays in its slot until the thief marks the task as ended. Return NULL if no
 * task is public, or the ends have changed meanwhile. */
ns_lane_slot *ns_lane_steal(ns_lane *self);

/* Copy the arguments of a task that a thief has taken, or that the owner has popped. */
void ns_lane_copy_arguments(const ns_lane_slot *slot, char *arguments);

/* Mark the task as ended, and copy its result to the slot: the `returned` bytes of `arguments` from NS_RESULT_AT on.
 * Called by the thief that has executed the task. */
void ns_lane_end(ns_lane_slot *slot, const char *arguments, uint32_t returned);

/* Return whether a stolen task has ended. */
bool ns_lane_has_ended(const ns_lane_slot *slot);

/* Return the number of tasks in the lane, without stolen ones. The number is exact if the owner asks and no thief
 * steals meanwhile; otherwise it was right a short time ago. */
uint64_t ns_lane_length(const ns_lane *self);
