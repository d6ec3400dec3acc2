/* The locks that a search takes: that of a level's domain while it probes there (thesis chapter 6, Algorithm 5), and
 * that of a queue at each probe. Locks of numasim/locks.h, of the plan's kind.
 */
#ifndef NS_SEARCH_LOCKS_H
#define NS_SEARCH_LOCKS_H

#include "numasim/locks.h"
#include "plan/plan_reader.h"
#include "execution/worker_state.h" /* NS_NO_LOCK */

typedef struct {
    ns_numa_lock **lock;       /* [count] by word; NULL for words that are no locks of the search */
    const int32_t *level_lock; /* [steal levels][queues], or NULL */
    const int32_t *queue_lock; /* [queues], or NULL */
    uint32_t count, queues;
    bool looks_first; /* a probe looks into a queue before it takes the queue's lock */
} ns_search_locks;

/* The locks of a plan, which lives as long: 0, NS_ERROR_OPTION or NS_ERROR_MEMORY. */
int ns_search_locks_create(ns_search_locks *self, const ns_full_plan *plan);
void ns_search_locks_destroy(ns_search_locks *self);

/* The lock that a probe of `queue` by `level` is made under, that of the queue itself; NS_NO_LOCK. */
static inline int32_t ns_search_locks_of_level(const ns_search_locks *self, uint32_t level, uint32_t queue) {
    return self->level_lock ? self->level_lock[(uint64_t)level * self->queues + queue] : NS_NO_LOCK;
}
static inline int32_t ns_search_locks_of_queue(const ns_search_locks *self, uint32_t queue) {
    return self->queue_lock ? self->queue_lock[queue] : NS_NO_LOCK;
}

/* Hold `lock`, where `held` is none, if nobody else has it; whether it is held. From `node`. */
bool ns_search_locks_try(const ns_search_locks *self, int32_t *held, int32_t lock, uint32_t node);

/* Hold `next` instead of `held`; either may be NS_NO_LOCK, or they may be the same. From `node`. */
void ns_search_locks_pass(const ns_search_locks *self, int32_t *held, int32_t next, uint32_t node);

#endif
