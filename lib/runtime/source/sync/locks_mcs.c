/* The queue lock of Mellor-Crummey and Scott as a kind of lock. */
#include "sync/mcs.h"
#include "sync/numa_locks.h"

typedef struct {
    ns_numa_lock base;
    ns_mcs queue;
} mcs_lock;

static void acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ns_mcs_acquire(&((mcs_lock *)base)->queue);
}

static bool try_acquire(ns_numa_lock *base, uint32_t node) {
    (void)node;
    return ns_mcs_try_acquire(&((mcs_lock *)base)->queue);
}

static void release(ns_numa_lock *base, uint32_t node) {
    (void)node;
    ns_mcs_release(&((mcs_lock *)base)->queue);
}

const ns_numa_lock_operations ns_lock_mcs = {
    .name = "mcs", .bytes = sizeof(mcs_lock), .acquire = acquire, .try_acquire = try_acquire, .release = release};
