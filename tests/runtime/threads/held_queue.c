/* A run of two workers while another thread holds the lock of the first worker's queue. Probes that see the queue's
 * task fail, so that the owner executes the task and the run ends. If thieves waited for the lock, the run would not
 * end. Run as `held_queue 2 PLAN`. */
#include <sched.h>

#include "program.h"
#include "threads/worker.h"

enum { RESTS = 20000 }; /* rests of the owner, in which the other worker probes the queue */

static uint32_t executed_by = UINT32_MAX;
static ns_atomic_u32 searching;

BODY(note_worker) { executed_by = ns_task_worker(self); }

static void spawn_and_rest(ns_task *self) {
    ns_spawn(self, note_worker, NULL, 0);
    while (!ns_atomic_u32_load(&searching, memory_order_acquire)) sched_yield();
    for (int rest = 0; rest < RESTS; rest++) sched_yield();
    ns_join(self);
}

BODY(take_part) {
    if (ns_task_worker(self) == 0)
        spawn_and_rest(self);
    else
        ns_atomic_u32_store(&searching, 1, memory_order_release);
}

int main(int count, char **words) {
    ns_pool *pool = pool_of(count, words);
    const ns_thread_pool *threads = (const ns_thread_pool *)pool;
    ns_numa_lock *lock = threads->locks[threads->file.plan.words.queue_lock.at[0]];
    require(ns_numa_lock_try_acquire(lock, 0), "no worker holds a lock");
    team(pool, take_part, NULL, 0);
    ns_numa_lock_release(lock, 0);
    require(executed_by == 0, "a task is not taken under a lock that another thread has");
    return finish(pool);
}
