/* A run of two workers while somebody else has the lock of the first one's queue: probes that see its task fail, so
 * that the run ends, with the task executed by its owner. Where thieves waited for the lock it would never end. Prints
 * what is wrong.
 */
#include <sched.h>
#include <stdio.h>

#include "numasim/runtime.h"
#include "threads/worker.h"

enum { RESTS = 20000 }; /* in which the other worker comes to see the task */

static uint32_t executed_by = UINT32_MAX;
static ns_atomic_u32 searching;

static void note_worker(ns_task *self, void *arguments) {
    (void)arguments;
    executed_by = ns_task_worker(self);
}

static void spawn_and_rest(ns_task *self) {
    ns_spawn(self, note_worker, NULL, 0);
    while (!ns_atomic_u32_load(&searching, memory_order_acquire)) sched_yield();
    for (int rest = 0; rest < RESTS; rest++) sched_yield();
    ns_join(self);
}

static void take_part(ns_task *self, void *arguments) {
    (void)arguments;
    if (ns_task_worker(self) == 0)
        spawn_and_rest(self);
    else
        ns_atomic_u32_store(&searching, 1, memory_order_release);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    const ns_pool_options options = {.mode = NS_MODE_NATIVE, .workers = 2, .plan = arguments[1]};
    ns_pool *pool = NULL;
    int error = ns_pool_create(&pool, &options);
    if (!error) {
        const ns_search_locks *locks = &((ns_thread_pool *)pool)->locks;
        int32_t held = NS_NO_LOCK;
        if (!ns_search_locks_try(locks, &held, ns_search_locks_of_queue(locks, 0), 0))
            printf("wrong: a lock is held\n");
        error = ns_pool_team(pool, take_part, NULL, 0);
        ns_search_locks_pass(locks, &held, NS_NO_LOCK, 0);
    }
    if (error) printf("wrong: %s\n", ns_error_sentence(error));
    if (executed_by != 0) printf("wrong: the task was taken under a lock that somebody else had\n");
    ns_pool_destroy(pool);
    return error ? 1 : 0;
}
