/* Locks, condition variables and barriers for threads on NUMA machines, with or without a pool of tasks.
 *
 * The interface follows section 6.3 of the thesis (pthread_NUMA_xxx_init, _lock, _unlock, _cond_init, _cond_wait and
 * _cond_signal), with two additions. The home of a lock or a condition is an option, so the creating thread need not
 * run on the home node. The caller passes the caller's node, so the library need not ask the system at each call.
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
 * Any thread may release a lock; the thread passes the node from which the lock was taken. Locks are not recursive.
 * Functions that can fail return 0 or a negative error code of numasim/runtime.h.
 *
 * Undefined, besides the rules `freed` and `waits` of numasim/runtime.h: to release a lock that is free, to acquire a
 * lock that the same thread holds, to wait for a condition without its lock, and to destroy an object that other
 * threads use. Reason: a check would need the holder's name in the lock, which is one more cache line to hand over.
 * After a fork, an object that no thread held or waited for is a working copy in the new process. */
#ifndef NUMASIM_LOCKS_H
#define NUMASIM_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a home: memory is on the node of the thread that touches it first. */
#define NS_NUMA_ANYWHERE (-1)

/* Node numbers are below this number. */
enum { NS_NUMA_NODES = 16384 };

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* The kinds of locks are the simulator's kinds, by the same names; ns_numa_lock_kind() lists the names.
 * docs/model/locks.md, section 5.2, says for each kind which thread gets the lock next, and gives the literature. */
typedef struct {
    const char *kind; /* NULL: "cohort" */
    uint32_t nodes;   /* node numbers of callers are below this number; 0: 1 */
    int32_t home;     /* the node of the running system where the lock lives, or NS_NUMA_ANYWHERE */
    uint32_t batch; /* kind "cohort": the most times in a row that the lock goes to a thread of the same node; 0: 64 */
    uint32_t spins; /* "mutex", "barging": how often a thread reads the lock before it sleeps; 0: it sleeps at once */
} ns_numa_lock_options;

typedef struct ns_numa_lock ns_numa_lock;

/* Create, use and destroy a lock. ns_numa_lock_create returns 0; NS_ERROR_OPTION for null, an unknown kind or more than
 * NS_NUMA_NODES nodes; or NS_ERROR_MEMORY. If creation fails, `*self` is null. A home that the system lacks counts as
 * NS_NUMA_ANYWHERE. ns_numa_lock_destroy accepts null. ns_numa_lock_try_acquire returns whether the caller has the lock
 * now: false if another thread has the lock, for null, and for a node that the lock does not have. The other functions
 * return 0; or NS_ERROR_OPTION, without an effect, for null and for a node that the lock does not have. */
int ns_numa_lock_create(ns_numa_lock **self, const ns_numa_lock_options *options);
void ns_numa_lock_destroy(ns_numa_lock *self);
int ns_numa_lock_acquire(ns_numa_lock *self, uint32_t node);
bool ns_numa_lock_try_acquire(ns_numa_lock *self, uint32_t node);
int ns_numa_lock_release(ns_numa_lock *self, uint32_t node);

/* Return the name of lock kind `at`, counted from 0; NULL behind the last kind. */
const char *ns_numa_lock_kind(uint32_t at);

/* ---- condition variables ----------------------------------------------------------------------------------------- */

/* Each node has a queue of waiters. A signal wakes the waiter that has waited longest on the node of the signaller.
 * After `batch` such signals in a row while waiters exist on other nodes, the next signal goes to another node. A
 * signal never wakes a waiter that begins to wait after the signal. */
typedef struct {
    uint32_t nodes; /* node numbers of callers are below this number; 0: 1 */
    int32_t home;   /* the node for the words that all nodes share, or NS_NUMA_ANYWHERE */
    uint32_t batch; /* the most signals in a row within one node; 0: 64 */
    uint32_t spins; /* how often a waiter reads its word before it sleeps */
} ns_numa_condition_options;

typedef struct ns_numa_condition ns_numa_condition;

/* Create and destroy a condition. ns_numa_condition_create returns 0, NS_ERROR_OPTION for null or more than
 * NS_NUMA_NODES nodes, or NS_ERROR_MEMORY. If creation fails, `*self` is null. Null can be destroyed. */
int ns_numa_condition_create(ns_numa_condition **self, const ns_numa_condition_options *options);
void ns_numa_condition_destroy(ns_numa_condition *self);

/* Release the lock, which the caller holds, and wait for a signal, as one atomic step. The function returns with the
 * lock held, and only after a signal. What the caller waited for may no longer hold then, so the caller checks it
 * again. Return 0; or NS_ERROR_OPTION, with the lock still held, for null and for a node that the condition or the lock
 * does not have. */
int ns_numa_condition_wait(ns_numa_condition *self, ns_numa_lock *lock, uint32_t node);

/* ns_numa_condition_signal wakes one waiter, if any; ns_numa_condition_broadcast wakes all. The caller may hold the
 * lock. Return 0, or NS_ERROR_OPTION for null and for a node that the condition does not have. */
int ns_numa_condition_signal(ns_numa_condition *self, uint32_t node);
int ns_numa_condition_broadcast(ns_numa_condition *self, uint32_t node);

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* Kinds: "central"     all parties count their arrivals in one word, and wait for another word to change.
 *        "flag"        each party sets its own word; party 0 reads all words, then opens the barrier (OMPi).
 *        "tree"        party i waits for parties 2 i + 1 and 2 i + 2, and later releases them.
 *        "per-domain"  central within each node, then among the last arrivals of all nodes (thesis section 6.3.1). */
typedef struct {
    const char *kind;           /* NULL: "per-domain" */
    uint32_t parties;           /* at least 1 */
    const uint32_t *party_node; /* [parties] the node of each party; NULL: all on node 0 */
    int32_t home;               /* the node for the words that all nodes share, or NS_NUMA_ANYWHERE */
} ns_numa_barrier_options;

typedef struct ns_numa_barrier ns_numa_barrier;

/* Create and destroy a barrier. ns_numa_barrier_create returns 0; NS_ERROR_OPTION for null, an unknown kind, no parties
 * or a node from NS_NUMA_NODES on; or NS_ERROR_MEMORY. If creation fails, `*self` is null. Null can be destroyed. */
int ns_numa_barrier_create(ns_numa_barrier **self, const ns_numa_barrier_options *options);
void ns_numa_barrier_destroy(ns_numa_barrier *self);

/* Wait until all parties have arrived. Each party calls this function once for each opening of the barrier, with its
 * own party number. Return 0; or NS_ERROR_OPTION, without an arrival, for null and for a number from `parties` on. */
int ns_numa_barrier_arrive(ns_numa_barrier *self, uint32_t party);

/* Return the name of barrier kind `at`, counted from 0; NULL behind the last kind. */
const char *ns_numa_barrier_kind(uint32_t at);

#ifdef __cplusplus
}
#endif

#endif
