/* Locks, condition variables and barriers for threads on NUMA machines, with or without a pool of tasks.
 *
 * The interface is that of the thesis (section 6.3: pthread_NUMA_xxx_init, _lock, _unlock, _cond_init, _cond_wait,
 * _cond_signal), with two explicit nodes. The home of a lock or condition is an option, so that its creator need not
 * run there. And the caller passes its own node, so that the system need not be asked each time.
 *
 *     ns_numa_lock *lock;
 *     ns_numa_condition *filled;
 *     ns_numa_lock_create(&lock, &(ns_numa_lock_options){.kind = "cohort", .nodes = 2});
 *     ns_numa_condition_create(&filled, &(ns_numa_condition_options){.nodes = 2});
 *
 *     ns_numa_lock_acquire(lock, node);                      // a consumer on node `node`
 *     while (items == 0) ns_numa_condition_wait(filled, lock, node);
 *     items--;
 *     ns_numa_lock_release(lock, node);
 *
 *     ns_numa_lock_acquire(lock, node);                      // a producer
 *     items++;
 *     ns_numa_lock_release(lock, node);
 *     ns_numa_condition_signal(filled, node);
 *
 * Any thread may release a lock, with the node from which the lock was taken. Locks are not recursive. Functions that
 * can fail return 0 or a negative error code of numasim/runtime.h.
 *
 * Undefined, besides the rules `freed` and `waits` of numasim/runtime.h: to release a lock that is free, to acquire a
 * lock that the same thread holds, to wait for a condition without its lock, and to destroy an object that others use.
 * Reason: the lock would have to store its holder, and hand over one more cache line. In a process that was forked, an
 * object that no thread held or waited for is a copy that works.
 */
#ifndef NUMASIM_LOCKS_H
#define NUMASIM_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The home of a word that lives where it is touched first. */
#define NS_NUMA_ANYWHERE (-1)

/* Nodes are below this number. */
enum { NS_NUMA_NODES = 16384 };

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* The kinds are the simulator's kinds of locks, by the same names: ns_numa_lock_kind() lists them. docs/model/locks.md,
 * section 5.2, says which thread is next with each kind and gives the sources. */
typedef struct {
    const char *kind; /* NULL: "cohort" */
    uint32_t nodes;   /* nodes of callers are below this number; 0: 1 */
    int32_t home;     /* the node of the running system where the lock lives, or NS_NUMA_ANYWHERE */
    uint32_t batch;   /* cohort; 0: 64 */
    uint32_t spins;   /* mutex: how often a thread looks before it sleeps; 0: it sleeps at once */
} ns_numa_lock_options;

typedef struct ns_numa_lock ns_numa_lock;

/* Create, use and destroy a lock. Creation returns 0; NS_ERROR_OPTION for null, an unknown kind or more than
 * NS_NUMA_NODES nodes; or NS_ERROR_MEMORY. With an error `*self` is null. A home that the system lacks counts as
 * NS_NUMA_ANYWHERE. Null may be destroyed. The others return 0; or NS_ERROR_OPTION, without an effect, for null and for
 * a node that the lock does not have. */
int ns_numa_lock_create(ns_numa_lock **self, const ns_numa_lock_options *options);
void ns_numa_lock_destroy(ns_numa_lock *self);
int ns_numa_lock_acquire(ns_numa_lock *self, uint32_t node);
bool ns_numa_lock_try_acquire(ns_numa_lock *self, uint32_t node); /* false, without the lock, if others have it, and
                                                                      for null and a node that the lock does not have */
int ns_numa_lock_release(ns_numa_lock *self, uint32_t node);

/* Returns the name of kind number `at`, from 0; NULL behind the last kind. */
const char *ns_numa_lock_kind(uint32_t at);

/* ---- condition variables ----------------------------------------------------------------------------------------- */

/* Waiters queue on their node. A signal goes to the waiter that has waited longest on the node of the signaller. After
 * `batch` such signals in a row while others wait elsewhere, it goes to another node. No signal wakes a waiter that
 * comes later. */
typedef struct {
    uint32_t nodes; /* of callers; 0: 1 */
    int32_t home;   /* of the words that all nodes share */
    uint32_t batch; /* 0: 64 */
    uint32_t spins; /* how often a waiter looks before it sleeps */
} ns_numa_condition_options;

typedef struct ns_numa_condition ns_numa_condition;

/* Create and destroy a condition. Returns 0, NS_ERROR_OPTION for null or more than NS_NUMA_NODES nodes, or
 * NS_ERROR_MEMORY. With an error `*self` is null. Null may be destroyed. */
int ns_numa_condition_create(ns_numa_condition **self, const ns_numa_condition_options *options);
void ns_numa_condition_destroy(ns_numa_condition *self);

/* Release the lock, which the caller holds, and wait for a signal, as one step. Returns with the lock, and never
 * without a signal; but what was signalled may be gone by then, so the caller checks it again. Returns 0; or
 * NS_ERROR_OPTION, with the lock held as before, for null and for a node that the condition or the lock does not have.
 */
int ns_numa_condition_wait(ns_numa_condition *self, ns_numa_lock *lock, uint32_t node);

/* Wake one waiter, if there is one; wake all. The caller may hold the lock. Returns 0, or NS_ERROR_OPTION for null and
 * for a node that the condition does not have. */
int ns_numa_condition_signal(ns_numa_condition *self, uint32_t node);
int ns_numa_condition_broadcast(ns_numa_condition *self, uint32_t node);

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* Kinds: "central"     all count on one word, and wait for another.
 *        "flag"        each party sets its own word; party 0 reads all words, then opens (OMPi).
 *        "tree"        party i waits for parties 2 i + 1 and 2 i + 2, and lets them go.
 *        "per-domain"  central within each node, then among the last party of each node (thesis section 6.3.1). */
typedef struct {
    const char *kind;           /* NULL: "per-domain" */
    uint32_t parties;           /* at least 1 */
    const uint32_t *party_node; /* [parties]; NULL: all on node 0 */
    int32_t home;               /* of the words that all nodes share */
} ns_numa_barrier_options;

typedef struct ns_numa_barrier ns_numa_barrier;

/* Create and destroy a barrier. Returns 0; NS_ERROR_OPTION for null, an unknown kind, no parties or a node from
 * NS_NUMA_NODES on; or NS_ERROR_MEMORY. With an error `*self` is null. Null may be destroyed. */
int ns_numa_barrier_create(ns_numa_barrier **self, const ns_numa_barrier_options *options);
void ns_numa_barrier_destroy(ns_numa_barrier *self);

/* Wait until all parties have arrived. Each party calls this once for each opening, with its own number. Returns 0; or
 * NS_ERROR_OPTION, without an arrival, for null and for a number from `parties` on. */
int ns_numa_barrier_arrive(ns_numa_barrier *self, uint32_t party);

/* Returns the name of kind number `at`, from 0; NULL behind the last kind. */
const char *ns_numa_barrier_kind(uint32_t at);

#ifdef __cplusplus
}
#endif

#endif
