/* The deque of one worker, its owner: the owner pushes and pops tasks at the bottom, other workers (thieves) steal from
 * the tail. Tasks from the tail to the split are public, tasks from the split to the bottom private (split.h). Tasks
 * are pointers in a ring of slots that grows. Each push has the next index; thieves see the low 32 bits of an index.
 *
 * A thief reads the slot at the tail and then moves the tail by compare-and-swap. If this succeeds, the thief has read
 * the right task: no thread writes the slot of an index while the tail is at the index and the split is above. The
 * owner never lowers the split to the tail: it takes the last public task as a thief does, by moving the tail. The
 * owner uses the slot for index + capacity only after it has seen the tail beyond the index. A thief would have to
 * sleep through 2^32 steals to find the same tail value again. */
#pragma once

#include <stddef.h>

#include "numasim/runtime.h"
#include "platform/atomics.h"

typedef struct ns_deque_ring ns_deque_ring;

typedef struct {
    /* fields of the owner; thieves read `bottom`, and may set the limits */
    NS_OWN_LINE ns_atomic_u64 bottom; /* the index behind the newest task (`top` in split.h) */
    ns_atomic_u64 push_limit;         /* pushes from this bottom on, and pops down to it, are slow: split.h */
    ns_atomic_u64 pop_limit;
    ns_atomic_pointer *slots;  /* the slots of `ring` */
    uint64_t mask;             /* the capacity of `ring` - 1 */
    uint64_t split;            /* the split in `ends`, with 64 bits */
    ns_deque_ring *owned_ring; /* a copy of `ring` for the owner */
    /* fields that owner and thieves use */
    NS_OWN_LINE ns_atomic_u64 ends; /* low 32 bits of the tail, and of the split */
    ns_atomic_pointer ring;
} ns_deque;
_Static_assert(sizeof(ns_deque) == 2 * NS_LINE_BYTES, "the owner's fields and the thieves' are lines apart");

/* Make an empty deque with an initial capacity of 2^`capacity_bits` tasks. Return 0 or NS_ERROR_MEMORY. */
int ns_deque_create(ns_deque *self, uint32_t capacity_bits);
void ns_deque_destroy(ns_deque *self);

/* The slow paths of a push and of a pop, when a limit is reached. */
int ns_deque_push_slowly(ns_deque *self, void *task);
void *ns_deque_pop_slowly(ns_deque *self);

/* The owner pushes a task at the bottom. Return 0, or NS_ERROR_MEMORY if the ring cannot grow. */
static inline int ns_deque_push(ns_deque *self, void *task) {
    /* relaxed: the owner reads its own writes, and the limit only chooses between the fast and the slow path */
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed);
    if (bottom >= ns_atomic_u64_load(&self->push_limit, memory_order_relaxed)) return ns_deque_push_slowly(self, task);
    /* relaxed: other threads see private tasks after the release of the split; they use `bottom` for the length only */
    ns_atomic_pointer_store(&self->slots[bottom & self->mask], task, memory_order_relaxed);
    ns_atomic_u64_store(&self->bottom, bottom + 1, memory_order_relaxed);
    return 0;
}

/* The owner takes the task at the bottom. Return NULL if the deque is empty. */
static inline void *ns_deque_pop(ns_deque *self) {
    const uint64_t bottom = ns_atomic_u64_load(&self->bottom, memory_order_relaxed); /* relaxed: as in push */
    if (bottom <= ns_atomic_u64_load(&self->pop_limit, memory_order_relaxed)) return ns_deque_pop_slowly(self);
    void *task = ns_atomic_pointer_load(&self->slots[(bottom - 1) & self->mask], memory_order_relaxed);
    ns_atomic_u64_store(&self->bottom, bottom - 1, memory_order_relaxed);
    return task;
}

/* Make all tasks public. The owner calls this before it sleeps: asleep, it would not notice that a thief asks. */
void ns_deque_publish(ns_deque *self);

/* A thief takes the task at the tail. Return NULL if no task is public, or the ends have changed meanwhile. */
void *ns_deque_steal(ns_deque *self);

/* Return the number of tasks, public and private. The number is exact if the owner asks and no thief steals meanwhile;
 * otherwise it was right at some recent instant. */
uint64_t ns_deque_length(const ns_deque *self);
