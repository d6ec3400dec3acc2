/* A kind of lock: a struct that begins with ns_numa_lock, and the functions behind numasim/locks.h. */
#ifndef NS_NUMA_LOCKS_H
#define NS_NUMA_LOCKS_H

#include <stddef.h>

#include "generated/enumerations.h"
#include "numasim/locks.h"
#include "platform/atomics.h"

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

#endif
