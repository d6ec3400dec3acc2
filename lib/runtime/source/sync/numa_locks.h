/* The kinds of locks behind numasim/locks.h, and the MCS lock from which other locks are made. */
#pragma once

#include <stddef.h>

#include "generated/enumerations.h"
#include "numasim/locks.h"
#include "platform/atomics.h"

/* A kind of lock. The struct of each kind begins with ns_numa_lock. */
typedef struct {
    const char *name;
    size_t bytes;                      /* size of the struct */
    int (*open)(ns_numa_lock *self);   /* NULL: a struct of zeros is a free lock. Return 0 or NS_ERROR_MEMORY */
    void (*close)(ns_numa_lock *self); /* NULL: nothing to free */
    void (*acquire)(ns_numa_lock *self, uint32_t node);
    bool (*try_acquire)(ns_numa_lock *self, uint32_t node);
    void (*release)(ns_numa_lock *self, uint32_t node);
} ns_numa_lock_operations;

/* The common part of all locks. It is not written after the lock's creation. */
struct ns_numa_lock {
    const ns_numa_lock_operations *operations;
    ns_numa_lock_options options; /* with defaults in place of zeros */
};

/* Return whether the lock exists and has this node. */
static inline bool ns_numa_lock_has_node(const ns_numa_lock *self, uint32_t node) {
    return __builtin_expect(self && node < self->options.nodes, 1);
}

/* ns_lock_<kind> for each kind in the schema. The kinds are in locks_words.c, locks_clh.c, locks_cohort.c and mcs.c. */
#define NS_DECLARE_LOCK_KIND(kind, constant) extern const ns_numa_lock_operations ns_lock_##kind;
NS_EACH_LOCK_KIND(NS_DECLARE_LOCK_KIND)

/* Define ns_lock_<kind>, whose struct `type` of zeros is a free lock, from its three functions. */
#define NS_DEFINE_LOCK_KIND(kind, type, acquire_function, try_function, release_function) \
    const ns_numa_lock_operations ns_lock_##kind = {.name = #kind,                        \
                                                    .bytes = sizeof(type),                \
                                                    .acquire = acquire_function,          \
                                                    .try_acquire = try_function,          \
                                                    .release = release_function}

/* A thread's place in the queue of an MCS lock. */
typedef struct {
    ns_atomic_pointer next; /* the next thread's place, as soon as it is linked */
    ns_atomic_u32 waits;
} ns_mcs_place;

/* The queue lock of Mellor-Crummey and Scott (1991), in the form in which the holder's place is inside the lock. A
 * thread needs a place on its stack only while the thread waits, any thread may release the lock, and the holder can
 * ask whether a thread waits. A lock of zeros is free. */
typedef struct {
    NS_OWN_LINE ns_atomic_pointer tail; /* NULL: free; &holder: no thread waits; else the last place of the queue */
    NS_OWN_LINE ns_mcs_place holder;    /* `next`: the place of the first waiting thread */
} ns_mcs;

_Static_assert(sizeof(ns_mcs) == 2 * NS_LINE_BYTES, "new threads do not disturb the holder");

void ns_mcs_acquire(ns_mcs *self);
bool ns_mcs_try_acquire(ns_mcs *self); /* false if another thread has the lock */
void ns_mcs_release(ns_mcs *self);

/* Return whether a thread waits for the lock. Only the holder may call this function. */
bool ns_mcs_wanted(const ns_mcs *self);
