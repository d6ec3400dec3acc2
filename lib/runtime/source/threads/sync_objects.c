#include "threads/sync_objects.h"

#include <stdlib.h>

#include "numasim/locks.h"
#include "platform/atomics.h"
#include "platform/near_memory.h"

/* The state of a lock or condition, written only under the object's lock. */
typedef struct {
    int64_t acquisitions, local, remote, wait_ps, hold_ps;
    uint64_t since;           /* ticks at which the lock was taken */
    uint32_t node;            /* the node from which the lock was taken; a task may release the lock on another node */
    int64_t permits;          /* for a condition: number of signals that no waiter has used yet */
    ns_atomic_pointer holder; /* the task that holds the lock, or NULL; only compared, since the task may have ended */
} sync_state;

typedef struct {
    NS_OWN_LINE enum ns_word_role role;
    uint32_t parties;
    ns_numa_lock *lock; /* for locks and conditions */
    ns_numa_condition *condition;
    ns_numa_barrier *barrier;
    NS_OWN_LINE sync_state state;
    NS_OWN_LINE ns_atomic_u64 value; /* the value of an atomic counter; for some barriers, the number of arrivals */
    ns_atomic_u64 uses;              /* number of uses of an atomic counter */
} sync_object;

struct ns_thread_sync {
    const ns_full_plan *plan; /* the plan, or NULL */
    uint32_t workers, nodes, count;
    const int32_t *node;  /* [workers] the node of each worker */
    sync_object **object; /* [count] */
    ns_tick_rate rate;
};

/* ---- making objects ---------------------------------------------------------------------------------------------- */

int ns_thread_sync_create(ns_thread_sync **made, const ns_full_plan *plan, uint32_t workers, const int32_t *node,
                          ns_tick_rate rate) {
    ns_thread_sync *self = *made = calloc(1, sizeof *self);
    if (!self) return NS_ERROR_MEMORY;
    *self = (ns_thread_sync){.plan = plan, .workers = workers, .nodes = 1, .node = node, .rate = rate};
    for (uint32_t worker = 0; worker < workers; worker++) {
        if ((uint32_t)node[worker] >= self->nodes) self->nodes = (uint32_t)node[worker] + 1;
    }
    return NS_OK;
}

static void destroy_object(sync_object *object) {
    if (!object) return;
    ns_numa_condition_destroy(object->condition);
    ns_numa_barrier_destroy(object->barrier);
    ns_numa_lock_destroy(object->lock);
    ns_near_memory_free(object, sizeof *object);
}

void ns_thread_sync_destroy(ns_thread_sync *self) {
    if (!self) return;
    for (uint32_t at = 0; at < self->count; at++) destroy_object(self->object[at]);
    free(self->object);
    free(self);
}

/* Return the home of object number `at`: the node in the plan, or else the node of the worker that owns the object. */
static int32_t home_of(const ns_thread_sync *self, uint32_t at, const ns_word *described) {
    const bool planned = self->plan && at < self->plan->words.home.count;
    return planned ? self->plan->words.home.at[at] : self->node[described->owner % self->workers];
}

static int make_lock(const ns_thread_sync *self, sync_object *object, int32_t home) {
    enum { REST_PS = 20000 }; /* approximate time of one read of the lock by a spinning thread, in ps */
    ns_numa_lock_options options = {.nodes = self->nodes, .home = home};
    if (self->plan) {
        const ns_lock_rules *rules = &self->plan->words.rules;
        const int64_t spins = rules->spin_ps / REST_PS;
        options.kind = NS_LOCK_KIND_WORD[self->plan->words.kind];
        options.batch = rules->batch < UINT32_MAX ? (uint32_t)rules->batch : UINT32_MAX;
        options.spins = spins < UINT32_MAX ? (uint32_t)spins : UINT32_MAX;
    }
    return ns_numa_lock_create(&object->lock, &options);
}

static int make_barrier(const ns_thread_sync *self, sync_object *object, int32_t home) {
    const ns_numa_barrier_options options = {
        .kind = self->plan ? NS_BARRIER_KIND_WORD[self->plan->words.barrier] : NULL,
        .parties = object->parties,
        .party_node = object->parties == self->workers ? (const uint32_t *)self->node : NULL,
        .home = home,
    };
    return ns_numa_barrier_create(&object->barrier, &options);
}

static int make_object(const ns_thread_sync *self, sync_object **made, const ns_word *described) {
    const int32_t home = home_of(self, self->count, described);
    const ns_numa_condition_options options = {.nodes = self->nodes, .home = home};
    int error;
    sync_object *object = ns_near_memory_allocate(sizeof *object, home);
    if (!object) return NS_ERROR_MEMORY;
    *made = object;
    *object = (sync_object){.role = described->role, .parties = described->parties};
    ns_atomic_u64_store(&object->value, (uint64_t)described->value, memory_order_relaxed); /* relaxed: no task runs */
    switch (described->role) {
        case NS_WORD_LOCK: return make_lock(self, object, home);
        case NS_WORD_CONDITION:
            error = make_lock(self, object, home);
            return error ? error : ns_numa_condition_create(&object->condition, &options);
        case NS_WORD_BARRIER:
            ns_atomic_u64_store(&object->value, 0, memory_order_relaxed); /* relaxed: no task runs */
            return make_barrier(self, object, home);
        default: return NS_OK;
    }
}

int ns_thread_sync_add(ns_thread_sync *self, const ns_word *described, uint32_t count) {
    if (count <= self->count) return NS_OK;
    sync_object **grown = realloc(self->object, count * sizeof *grown);
    if (!grown) return NS_ERROR_MEMORY;
    self->object = grown;
    int error = NS_OK;
    while (!error && self->count < count) {
        self->object[self->count] = NULL;
        error = make_object(self, &self->object[self->count], &described[self->count]);
        if (error)
            destroy_object(self->object[self->count]); /* the next run tries again to make the object */
        else
            self->count++;
    }
    return error;
}

/* ---- using objects ----------------------------------------------------------------------------------------------- */

/* Add the time since `came` to a counter. */
static void count_since(const ns_thread_sync *self, uint64_t came, int64_t *counter) {
    if (NUMASIM_COUNTERS) *counter += ns_ticks_to_ps(self->rate, ns_ticks() - came);
}

/* Return whether the task has the lock. relaxed: only the task itself stores its own address. */
static bool holds(const sync_object *lock, const ns_task *task) {
    return ns_atomic_pointer_load(&lock->state.holder, memory_order_relaxed) == task;
}

bool ns_thread_sync_lock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task) {
    sync_object *used = self->object[object];
    sync_state *state = &used->state;
    /* a worker without locks skips `holds`, which takes the cache line from the holder */
    if ((user->locks || user->migrates) && holds(used, task)) return false;
    const uint64_t asked = NUMASIM_COUNTERS ? ns_ticks() : 0;
    ns_numa_lock_acquire(used->lock, user->node);
    if (NUMASIM_COUNTERS) {
        state->since = ns_ticks();
        state->wait_ps += ns_ticks_to_ps(self->rate, state->since - asked);
        state->local += state->acquisitions && state->node == user->node;
        state->remote += state->acquisitions && state->node != user->node;
        state->acquisitions++;
    }
    state->node = user->node;
    ns_atomic_pointer_store(&state->holder, (void *)(uintptr_t)task, memory_order_relaxed); /* relaxed: see holds */
    ++user->locks;
    return true;
}

bool ns_thread_sync_unlock(ns_thread_sync *self, uint32_t object, ns_sync_user *user, const ns_task *task) {
    sync_object *used = self->object[object];
    if (!holds(used, task)) return false;
    ns_atomic_pointer_store(&used->state.holder, NULL, memory_order_relaxed);
    --user->locks;
    if (NUMASIM_COUNTERS) used->state.hold_ps += ns_ticks_to_ps(self->rate, ns_ticks() - used->state.since);
    ns_numa_lock_release(used->lock, used->state.node);
    return true;
}

uint32_t ns_thread_sync_held(const ns_thread_sync *self) {
    for (uint32_t at = 0; at < self->count; at++) {
        if (!holds(self->object[at], NULL)) return at;
    }
    return UINT32_MAX;
}

int64_t ns_thread_sync_fetch_add(ns_thread_sync *self, uint32_t object, int64_t value) {
    sync_object *used = self->object[object];
    if (NUMASIM_COUNTERS) ns_atomic_u64_fetch_add(&used->uses, 1, memory_order_relaxed); /* relaxed: only a count */
    /* acq_rel: programs may hand over data by counting */
    return (int64_t)ns_atomic_u64_fetch_add(&used->value, (uint64_t)value, memory_order_acq_rel);
}

void ns_thread_sync_arrive(ns_thread_sync *self, uint32_t object, ns_sync_user *user) {
    sync_object *used = self->object[object];
    const uint64_t came = ns_ticks();
    uint32_t party = user->worker;
    if (used->parties != self->workers) { /* else the party is the worker; here parties number themselves by arrival */
        const uint64_t before = ns_atomic_u64_fetch_add(&used->value, 1, memory_order_relaxed); /* relaxed: a count */
        party = (uint32_t)(before % used->parties);
    }
    ns_numa_barrier_arrive(used->barrier, party);
    count_since(self, came, user->barrier_ps);
}

void ns_thread_sync_await(ns_thread_sync *self, uint32_t object, ns_sync_user *user) {
    sync_object *used = self->object[object];
    const uint64_t came = ns_ticks();
    ns_numa_lock_acquire(used->lock, user->node);
    while (used->state.permits == 0) ns_numa_condition_wait(used->condition, used->lock, user->node);
    used->state.permits--;
    used->state.acquisitions += NUMASIM_COUNTERS;
    ns_numa_lock_release(used->lock, user->node);
    count_since(self, came, user->parked_ps);
}

void ns_thread_sync_signal(ns_thread_sync *self, uint32_t object, uint32_t permits, ns_sync_user *user) {
    sync_object *used = self->object[object];
    ns_numa_lock_acquire(used->lock, user->node);
    used->state.permits += permits;
    ns_numa_lock_release(used->lock, user->node);
    for (uint32_t at = 0; at < permits; at++) ns_numa_condition_signal(used->condition, user->node);
}

void ns_thread_sync_report(const ns_thread_sync *self, ns_report *report) {
    for (uint32_t at = 0; at < self->count && at < report->word_count; at++) {
        const sync_state *state = &self->object[at]->state;
        int64_t *row = report->words + (size_t)at * NS_SYNC_COUNTS;
        row[0] = state->acquisitions + (int64_t)ns_atomic_u64_load(&self->object[at]->uses, memory_order_relaxed);
        row[1] = state->local; /* relaxed: no task runs */
        row[2] = state->remote;
        row[3] = state->wait_ps;
        row[4] = state->hold_ps;
    }
}
