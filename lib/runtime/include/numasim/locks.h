/* Locks, condition variables and barriers for threads on NUMA machines; usable without a pool of tasks.
 *
 * The interface is that of the thesis (section 6.3: pthread_NUMA_xxx_init, _lock, _unlock, _cond_init, _cond_wait,
 * _cond_signal), with two things made explicit: the node on which a lock or condition lives is an option, so that who
 * creates it need not run there, and the caller says on which node it is, instead of asking the system each time.
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
 * A lock may be released by another thread than took it, given the node that it was taken from. Locks are not
 * recursive. Functions that can fail return 0 or a negative error code of numasim/runtime.h.
 *
 * Undefined, besides what numasim/runtime.h says of `freed` and `waits`: to release a lock that nobody holds, to
 * acquire one that the same thread holds, to wait for a condition without its lock, and to destroy what others use.
 * Reason: the lock would have to keep its holder, which is one more line of the cache to hand over with it. In a
 * process that was forked, what no thread held or waited for is a copy that works.
 */
#ifndef NUMASIM_LOCKS_H
#define NUMASIM_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A word that lives where it is touched first. */
#define NS_NUMA_ANYWHERE (-1)

/* Nodes are numbers below this. */
enum { NS_NUMA_NODES = 16384 };

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* The kinds are the simulator's kinds of locks, by the same names: ns_numa_lock_kind() lists them. docs/model/locks.md,
 * section 5.2, says which thread is next with each kind and gives the sources. */
typedef struct {
    const char *kind; /* NULL: "cohort" */
    uint32_t nodes;   /* of callers: their nodes are less; 0: 1 */
    int32_t home;     /* the node of the running system where its words live, or NS_NUMA_ANYWHERE */
    uint32_t batch;   /* cohort; 0: 64 */
    uint32_t spins;   /* mutex: how often it looks before it sleeps; 0: it sleeps at once */
} ns_numa_lock_options;

typedef struct ns_numa_lock ns_numa_lock;

/* 0, NS_ERROR_OPTION for null, a kind that there is not or more than NS_NUMA_NODES nodes, or NS_ERROR_MEMORY; with an
 * error `*self` is null. A node that the system does not have is as NS_NUMA_ANYWHERE. Null may be destroyed. The others
 * return 0, or NS_ERROR_OPTION, when nothing has been done, for null and for a node beyond the lock's. */
int ns_numa_lock_create(ns_numa_lock **self, const ns_numa_lock_options *options);
void ns_numa_lock_destroy(ns_numa_lock *self);
int ns_numa_lock_acquire(ns_numa_lock *self, uint32_t node);
bool ns_numa_lock_try_acquire(ns_numa_lock *self, uint32_t node); /* false, without the lock, where others have it, and
                                                                      for null and a node beyond the lock's */
int ns_numa_lock_release(ns_numa_lock *self, uint32_t node);

/* The name of kind number `at`, from 0; NULL behind the last. */
const char *ns_numa_lock_kind(uint32_t at);

/* ---- condition variables ----------------------------------------------------------------------------------------- */

/* Waiters queue on their node. A signal goes to the one that waits longest on the node of the signaller, up to `batch`
 * times in a row while others wait elsewhere, then to another node. No signal wakes anybody who came after it. */
typedef struct {
    uint32_t nodes; /* of callers; 0: 1 */
    int32_t home;   /* of what all nodes share */
    uint32_t batch; /* 0: 64 */
    uint32_t spins; /* how often a waiter looks before it sleeps */
} ns_numa_condition_options;

typedef struct ns_numa_condition ns_numa_condition;

/* 0, NS_ERROR_OPTION for null or more than NS_NUMA_NODES nodes, or NS_ERROR_MEMORY; with an error `*self` is null. Null
 * may be destroyed. */
int ns_numa_condition_create(ns_numa_condition **self, const ns_numa_condition_options *options);
void ns_numa_condition_destroy(ns_numa_condition *self);

/* Release the lock, which the caller holds, and wait for a signal as one step; return with the lock. Never returns
 * without a signal, but what was signalled may be gone again by then: look. 0, or NS_ERROR_OPTION, when the lock is
 * held as before, for null and for a node beyond the condition's or the lock's. */
int ns_numa_condition_wait(ns_numa_condition *self, ns_numa_lock *lock, uint32_t node);

/* Wake one waiter, if there is one; all. With or without the lock. 0, or NS_ERROR_OPTION for null and for a node beyond
 * the condition's. */
int ns_numa_condition_signal(ns_numa_condition *self, uint32_t node);
int ns_numa_condition_broadcast(ns_numa_condition *self, uint32_t node);

/* ---- barriers ---------------------------------------------------------------------------------------------------- */

/* Kinds: "central"     all count on one word, and wait for another.
 *        "flag"        each sets a word of its own; party 0 looks at all, then opens (OMPi).
 *        "tree"        party i waits for 2 i + 1 and 2 i + 2, and lets them go.
 *        "per-domain"  central within each node, then among the last of each node (thesis section 6.3.1). */
typedef struct {
    const char *kind;           /* NULL: "per-domain" */
    uint32_t parties;           /* at least 1 */
    const uint32_t *party_node; /* [parties]; NULL: all on node 0 */
    int32_t home;               /* of the words that all nodes share */
} ns_numa_barrier_options;

typedef struct ns_numa_barrier ns_numa_barrier;

/* 0, NS_ERROR_OPTION for null, a kind that there is not, no parties or a node from NS_NUMA_NODES on, or
 * NS_ERROR_MEMORY; with an error `*self` is null. Null may be destroyed. */
int ns_numa_barrier_create(ns_numa_barrier **self, const ns_numa_barrier_options *options);
void ns_numa_barrier_destroy(ns_numa_barrier *self);

/* Wait until all parties have arrived; each calls it once for each opening, with its own number. 0, or NS_ERROR_OPTION,
 * when nobody has arrived, for null and for a number from `parties` on. */
int ns_numa_barrier_arrive(ns_numa_barrier *self, uint32_t party);

/* The name of kind number `at`, from 0; NULL behind the last. */
const char *ns_numa_barrier_kind(uint32_t at);

#ifdef __cplusplus
}
#endif

#endif
