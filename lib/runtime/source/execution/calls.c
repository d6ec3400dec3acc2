/* What tasks call that is the same in all ways to execute them: locks, counters, barriers and conditions. */
#include <stdio.h>

#include "execution/execution.h"

static ns_thread_sync *sync_of(const ns_task *self) {
    return ns_thread_pool_of((ns_thread_worker *)self->worker)->sync;
}

static ns_sync_user *user_of(const ns_task *self) { return &((ns_thread_worker *)self->worker)->sync_user; }

/* The task may sleep with its worker. */
static void share(const ns_task *self) {
    ns_thread_worker *worker = (ns_thread_worker *)self->worker;
    ns_thread_execution_of(worker)->share(worker);
}

/* Only recordings take note of declared work. */
void ns_thread_declare_work(ns_task *self, int64_t picoseconds) { (void)self, (void)picoseconds; }

void ns_thread_refuse(ns_task *self, int error, const char *sentence) {
    ns_thread_pool_note(ns_thread_pool_of((ns_thread_worker *)self->worker), error, sentence);
}

static void refuse_word(ns_task *self, int error, const char *sentence, uint32_t object) {
    char text[256];
    snprintf(text, sizeof text, "%s: '%s'", sentence, self->worker->pool->words[object].name);
    ns_thread_refuse(self, error, text);
}

void ns_thread_lock(ns_task *self, uint32_t object) {
    if (!ns_thread_sync_lock(sync_of(self), object, user_of(self), self))
        refuse_word(self, NS_ERROR_DEADLOCK, "a task waits for a lock that it holds", object);
}

void ns_thread_unlock(ns_task *self, uint32_t object) {
    if (!ns_thread_sync_unlock(sync_of(self), object, user_of(self), self))
        refuse_word(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold", object);
}

int64_t ns_thread_add(ns_task *self, uint32_t object, int64_t value) {
    return ns_thread_sync_fetch_add(sync_of(self), object, value);
}

void ns_thread_arrive(ns_task *self, uint32_t object) {
    if (self->worker->pool->words[object].parties > self->worker->pool->workers) {
        refuse_word(self, NS_ERROR_DEADLOCK, "a barrier is for more parties than there are workers", object);
        return;
    }
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
