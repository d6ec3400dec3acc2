/* Condition variables with a queue of waiters for each node. A waiter enters its queue before it releases the lock, so
 * that later holders of the lock find the waiter there. The record of a waiter is on the waiter's stack. The waiter
 * spins on this record, and later sleeps. */
#include <stddef.h>

#include "numasim/locks.h"
#include "numasim/runtime.h"
#include "platform/near_memory.h"
#include "platform/waiting.h"
#include "sync/numa_locks.h"

enum { DEFAULT_BATCH = 64 };
enum state { WAITING, SLEEPING, SIGNALLED };

typedef struct waiter waiter;
struct waiter {
    ns_atomic_u32 state; /* enum state */
    waiter *next;        /* the next waiter; only the holder of `turn` uses this field */
};

typedef struct {
    ns_mcs turn; /* the lock of this queue */
    NS_OWN_LINE waiter *first;
    waiter *last;
    ns_atomic_u32 waiting; /* number of waiters; written under the lock `turn`, but read without it */
} queue;

struct ns_numa_condition {
    ns_numa_condition_options options; /* with defaults in place of zeros */
    NS_OWN_LINE ns_atomic_u32 run;     /* number of successive signals within one node; approximate */
    NS_OWN_LINE queue *queues[];       /* [nodes] each in memory of its node */
};

static void enqueue(queue *self, waiter *mine) {
    ns_mcs_acquire(&self->turn);
    if (self->first)
        self->last->next = mine;
    else
        self->first = mine;
    self->last = mine;
    /* relaxed: the lock of the program orders this store before a later signal */
    ns_atomic_u32_store(&self->waiting, ns_atomic_u32_load(&self->waiting, memory_order_relaxed) + 1,
                        memory_order_relaxed);
    ns_mcs_release(&self->turn);
}

/* Take up to `most` waiters from the front of the queue. Return a linked list of them; NULL if there is none. */
static waiter *dequeue(queue *self, uint32_t most) {
    if (!ns_atomic_u32_load(&self->waiting, memory_order_relaxed)) return NULL; /* relaxed: as in enqueue */
    ns_mcs_acquire(&self->turn);
    waiter *taken = self->first, *last = NULL;
    uint32_t count = 0;
    for (waiter *each = taken; each && count < most; each = each->next, count++) last = each;
    if (last) {
        self->first = last->next;
        last->next = NULL;
    }
    ns_atomic_u32_store(&self->waiting, ns_atomic_u32_load(&self->waiting, memory_order_relaxed) - count,
                        memory_order_relaxed);
    ns_mcs_release(&self->turn);
    return taken;
}

/* Wake the waiters of a list. A waiter may be freed as soon as its state is written. */
static void wake(waiter *first) {
    for (waiter *each = first, *next; each; each = next) {
        next = each->next;
        /* release: the waiter sees all that was done before the signal */
        if (ns_atomic_u32_exchange(&each->state, SIGNALLED, memory_order_release) == SLEEPING)
            ns_futex_wake(&each->state, 1);
    }
}

static void await_signal(waiter *mine, uint32_t spins) {
    /* acquire, here and below: pairs with the release of the signal */
    for (uint32_t look = 0; look < spins; look++) {
        if (ns_atomic_u32_load(&mine->state, memory_order_acquire) == SIGNALLED) return;
        ns_pause();
    }
    uint32_t found = WAITING;
    if (!ns_atomic_u32_compare_exchange(&mine->state, &found, SLEEPING, memory_order_acquire, memory_order_acquire))
        return;
    while (ns_atomic_u32_load(&mine->state, memory_order_acquire) == SLEEPING) ns_futex_wait(&mine->state, SLEEPING);
}

static bool is_there(const ns_numa_condition *self, uint32_t node) { return self && node < self->options.nodes; }

int ns_numa_condition_wait(ns_numa_condition *self, ns_numa_lock *lock, uint32_t node) {
    waiter mine = {.next = NULL};
    if (!is_there(self, node) || !ns_numa_lock_has_node(lock, node)) return NS_ERROR_OPTION;
    /* relaxed: no other thread knows the record before it is in the queue */
    ns_atomic_u32_store(&mine.state, WAITING, memory_order_relaxed);
    enqueue(self->queues[node], &mine);
    ns_numa_lock_release(lock, node);
    await_signal(&mine, self->options.spins);
    return ns_numa_lock_acquire(lock, node);
}

/* Signal one waiter on a node from `node` + first to `node` + end - 1, modulo the nodes. Return whether one waited. */
static bool signal_beyond(ns_numa_condition *self, uint32_t node, uint32_t first, uint32_t end) {
    for (uint32_t ahead = first; ahead < end; ahead++) {
        waiter *found = dequeue(self->queues[(node + ahead) % self->options.nodes], 1);
        wake(found);
        if (found) return true;
    }
    return false;
}

int ns_numa_condition_signal(ns_numa_condition *self, uint32_t node) {
    if (!is_there(self, node)) return NS_ERROR_OPTION;
    /* relaxed, three times: simultaneous signals may count as one signal, which only lengthens the run */
    const uint32_t run = ns_atomic_u32_load(&self->run, memory_order_relaxed);
    if (run < self->options.batch && signal_beyond(self, node, 0, 1)) {
        ns_atomic_u32_store(&self->run, run + 1, memory_order_relaxed);
        return NS_OK;
    }
    ns_atomic_u32_store(&self->run, 0, memory_order_relaxed);
    if (!signal_beyond(self, node, 1, self->options.nodes)) signal_beyond(self, node, 0, 1);
    return NS_OK;
}

int ns_numa_condition_broadcast(ns_numa_condition *self, uint32_t node) {
    if (!is_there(self, node)) return NS_ERROR_OPTION;
    for (uint32_t ahead = 0; ahead < self->options.nodes; ahead++)
        wake(dequeue(self->queues[(node + ahead) % self->options.nodes], UINT32_MAX));
    return NS_OK;
}

static size_t bytes_of(uint32_t nodes) { return sizeof(ns_numa_condition) + nodes * sizeof(queue *); }

int ns_numa_condition_create(ns_numa_condition **self, const ns_numa_condition_options *options) {
    if (self) *self = NULL;
    if (!self || !options || options->nodes > NS_NUMA_NODES) return NS_ERROR_OPTION;
    const uint32_t nodes = options->nodes ? options->nodes : 1;
    ns_numa_condition *made = ns_near_memory_allocate(bytes_of(nodes), options->home);
    if (!made) return NS_ERROR_MEMORY;
    made->options = *options;
    made->options.nodes = nodes;
    if (!options->batch) made->options.batch = DEFAULT_BATCH;
    for (uint32_t node = 0; node < nodes; node++) {
        made->queues[node] = ns_near_memory_allocate(sizeof(queue), (int32_t)node);
        if (made->queues[node]) continue;
        ns_numa_condition_destroy(made);
        return NS_ERROR_MEMORY;
    }
    *self = made;
    return NS_OK;
}

void ns_numa_condition_destroy(ns_numa_condition *self) {
    if (!self) return;
    for (uint32_t node = 0; node < self->options.nodes; node++) ns_near_memory_free(self->queues[node], sizeof(queue));
    ns_near_memory_free(self, bytes_of(self->options.nodes));
}
