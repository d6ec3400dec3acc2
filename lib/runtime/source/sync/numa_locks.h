/* The kinds of locks behind numasim/locks.h, and the lock of which others are made. */
#ifndef NS_NUMA_LOCKS_H
#define NS_NUMA_LOCKS_H

#include <stddef.h>

#include "generated/enumerations.h"
#include "numasim/locks.h"
#include "platform/atomics.h"

/* A kind of lock, which is a struct that begins with ns_numa_lock. */
typedef struct {
    const char *name;
    size_t bytes;                      /* of the struct */
    int (*open)(ns_numa_lock *self);   /* NULL: all zero is a free lock. Returns 0 or NS_ERROR_MEMORY */
    void (*close)(ns_numa_lock *self); /* NULL: nothing to free */
    void (*acquire)(ns_numa_lock *self, uint32_t node);
    bool (*try_acquire)(ns_numa_lock *self, uint32_t node);
    void (*release)(ns_numa_lock *self, uint32_t node);
} ns_numa_lock_operations;

/* Not written after its creation. */
struct ns_numa_lock {
    const ns_numa_lock_operations *operations;
    ns_numa_lock_options options; /* a 0 is replaced by its default */
};

/* Returns whether the lock exists and has that node. */
static inline bool ns_numa_lock_has_node(const ns_numa_lock *self, uint32_t node) {
    return __builtin_expect(self && node < self->options.nodes, 1);
}

/* ns_lock_<kind> for each kind of the schema: in locks_words.c, locks_clh.c, locks_cohort.c and mcs.c. */
#define NS_DECLARE_LOCK_KIND(kind, constant) extern const ns_numa_lock_operations ns_lock_##kind;
NS_EACH_LOCK_KIND(NS_DECLARE_LOCK_KIND)

/* Where a thread waits. */
typedef struct {
    ns_atomic_pointer next; /* the place behind, once it is linked */
    ns_atomic_u32 waits;
} ns_mcs_place;

/* The queue lock of Mellor-Crummey and Scott (1991), in the form with the holder's place inside the lock. A thread
 * needs a place on its stack only while it waits, any thread may release the lock, and the holder can ask whether a
 * thread waits. A lock of all zero is free.
 */
typedef struct {
    NS_OWN_LINE ns_atomic_pointer tail; /* NULL: free; &holder: held, no thread waits; else the last place */
    NS_OWN_LINE ns_mcs_place holder;    /* `next`: the first place that waits */
} ns_mcs;

_Static_assert(sizeof(ns_mcs) == 2 * NS_LINE_BYTES, "new threads do not disturb the holder");

void ns_mcs_acquire(ns_mcs *self);
bool ns_mcs_try_acquire(ns_mcs *self); /* false if another thread has the lock */
void ns_mcs_release(ns_mcs *self);

/* Returns whether a thread waits. Only the holder may ask. */
bool ns_mcs_wanted(const ns_mcs *self);

#endif
