/* What tasks call that is the same in all ways to execute them: locks, counters, barriers and conditions. */
#include "execution/execution.h"

static ns_thread_sync *sync_of(const ns_task *self) {
    return ns_thread_pool_of((ns_thread_worker *)self->worker)->sync;
}

static ns_sync_user user_of(const ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    return (ns_sync_user){worker->base.id, (uint32_t)worker->base.node, &worker->counters[NS_IDLE_BARRIER_PS],
                          &worker->counters[NS_PARKED_PS]};
}

/* The task may sleep with its worker. */
static void share(const ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    ns_thread_execution_of(worker)->share(worker);
}

/* Only recordings take note of declared work. */
void ns_thread_declare_work(ns_task *self, int64_t picoseconds) { (void)self, (void)picoseconds; }

void ns_thread_lock(ns_task *self, uint32_t object) { ns_thread_sync_lock(sync_of(self), object, user_of(self)); }

void ns_thread_unlock(ns_task *self, uint32_t object) { ns_thread_sync_unlock(sync_of(self), object, user_of(self)); }

int64_t ns_thread_add(ns_task *self, uint32_t object, int64_t value) {
    return ns_thread_sync_fetch_add(sync_of(self), object, value, user_of(self));
}

void ns_thread_arrive(ns_task *self, uint32_t object) {
    share(self);
    ns_thread_sync_arrive(sync_of(self), object, user_of(self));
}

void ns_thread_await(ns_task *self, uint32_t object) {
    share(self);
    ns_thread_sync_await(sync_of(self), object, user_of(self));
}

void ns_thread_signal(ns_task *self, uint32_t object, uint32_t permits) {
    ns_thread_sync_signal(sync_of(self), object, permits, user_of(self));
}
