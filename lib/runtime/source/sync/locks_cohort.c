/* A cohort lock (Dice, Marathe, Shavit 2012; thesis section 6.3): one lock for each node, and one lock for all nodes. A
 * thread that has both has the cohort lock. It may release its node's lock alone, and so hand over the lock for all
 * nodes to the next thread of its node: the flag `has_all` then stays true. */
#include "numasim/runtime.h"
#include "platform/near_memory.h"
#include "sync/numa_locks.h"

typedef struct {
    ns_mcs queue;
    NS_OWN_LINE bool has_all; /* whether the holder of `queue` also has the lock for all nodes */
    uint32_t run;             /* number of successive hand-overs within the node */
} cohort;

typedef struct {
    ns_numa_lock base;
    ns_mcs all;
    cohort **cohorts; /* [nodes] each in memory of its node */
} cohort_lock;

static void acquire(ns_numa_lock *base, uint32_t node) {
    cohort_lock *self = (cohort_lock *)base;
    cohort *mine = self->cohorts[node];
    ns_mcs_acquire(&mine->queue);
    if (mine->has_all) return;
    ns_mcs_acquire(&self->all);
    mine->has_all = true;
    mine->run = 0;
}

/* Try to take the lock. If no thread has the node's lock, the node does not have the lock for all nodes: a node keeps
 * that lock only from a holder to a waiting thread. */
static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    cohort_lock *self = (cohort_lock *)base;
    cohort *mine = self->cohorts[node];
    if (!ns_mcs_try_acquire(&mine->queue)) return false;
    if (!ns_mcs_try_acquire(&self->all)) {
        ns_mcs_release(&mine->queue);
        return false;
    }
    mine->has_all = true;
    mine->run = 0;
    return true;
}

static void release(ns_numa_lock *base, uint32_t node) {
    cohort_lock *self = (cohort_lock *)base;
    cohort *mine = self->cohorts[node];
    if (mine->run < base->options.batch && ns_mcs_wanted(&mine->queue)) {
        mine->run++;
    } else {
        mine->has_all = false;
        ns_mcs_release(&self->all);
    }
    ns_mcs_release(&mine->queue);
}

static void close_cohorts(ns_numa_lock *base) {
    cohort_lock *self = (cohort_lock *)base;
    const uint32_t nodes = self->cohorts ? base->options.nodes : 0;
    for (uint32_t node = 0; node < nodes; node++) ns_near_memory_free(self->cohorts[node], sizeof(cohort));
    ns_near_memory_free(self->cohorts, nodes * sizeof *self->cohorts);
}

static int open_cohorts(ns_numa_lock *base) {
    cohort_lock *self = (cohort_lock *)base;
    const uint32_t nodes = base->options.nodes;
    self->cohorts = ns_near_memory_allocate(nodes * sizeof *self->cohorts, base->options.home);
    if (!self->cohorts) return NS_ERROR_MEMORY;
    for (uint32_t node = 0; node < nodes; node++) {
        self->cohorts[node] = ns_near_memory_allocate(sizeof(cohort), (int32_t)node);
        if (!self->cohorts[node]) return NS_ERROR_MEMORY;
    }
    return NS_OK;
}

const ns_numa_lock_operations ns_lock_cohort = {.name = "cohort",
                                                .bytes = sizeof(cohort_lock),
                                                .open = open_cohorts,
                                                .close = close_cohorts,
                                                .acquire = acquire,
                                                .try_acquire = try_acquire,
                                                .release = release};
