#include "search/search_locks.h"

#include <stdlib.h>

#include "numasim/runtime.h"

static int make(ns_search_locks *self, const ns_full_plan *plan, ns_i32s locks) {
    const int64_t batch = plan->words.rules.batch;
    const ns_numa_lock_options options = {.kind = NS_LOCK_KIND_WORD[plan->words.kind],
                                          .nodes = plan->nodes,
                                          .home = NS_NUMA_ANYWHERE,
                                          .batch = batch < UINT32_MAX ? (uint32_t)batch : UINT32_MAX};
    for (uint64_t at = 0; at < locks.count; at++) {
        if (locks.at[at] == NS_NO_LOCK || self->lock[locks.at[at]]) continue;
        const int error = ns_numa_lock_create(&self->lock[locks.at[at]], &options);
        if (error) return error;
    }
    return NS_OK;
}

int ns_search_locks_create(ns_search_locks *self, const ns_full_plan *plan) {
    const ns_plan_words *words = &plan->words;
    *self = (ns_search_locks){.queues = plan->steal.queue_count, .looks_first = words->looks_first};
    self->lock = calloc(words->role.count + 1, sizeof(ns_numa_lock *));
    if (!self->lock) return NS_ERROR_MEMORY;
    self->count = (uint32_t)words->role.count;
    self->level_lock = words->level_lock.count ? words->level_lock.at : NULL;
    self->queue_lock = words->queue_lock.count ? words->queue_lock.at : NULL;
    const int error = make(self, plan, words->level_lock);
    return error ? error : make(self, plan, words->queue_lock);
}

void ns_search_locks_destroy(ns_search_locks *self) {
    for (uint32_t at = 0; at < self->count; at++) {
        if (self->lock[at]) ns_numa_lock_destroy(self->lock[at]);
    }
    free(self->lock);
}

bool ns_search_locks_try(const ns_search_locks *self, int32_t *held, int32_t lock, uint32_t node) {
    if (!ns_numa_lock_try_acquire(self->lock[lock], node)) return false;
    *held = lock;
    return true;
}

void ns_search_locks_pass(const ns_search_locks *self, int32_t *held, int32_t next, uint32_t node) {
    if (*held == next) return;
    if (*held != NS_NO_LOCK) ns_numa_lock_release(self->lock[*held], node);
    if (next != NS_NO_LOCK) ns_numa_lock_acquire(self->lock[next], node);
    *held = next;
}
