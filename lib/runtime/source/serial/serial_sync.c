/* Locks, atomic counters, barriers and conditions of a serial run: a part that has to wait passes its turn on. */
#include "serial/serial.h"

static void wait_for(serial_task *self, enum need need, uint32_t object) {
    ns_serial_run_deferred(self);
    serial_part *waiting = self->part;
    waiting->need = need;
    waiting->word = object;
    waiting->opened = ns_serial_pool_of(self)->words[object].opened;
    if (!ns_serial_can_go_on(ns_serial_pool_of(self), waiting)) ns_serial_pass_on(ns_serial_pool_of(self), waiting);
    waiting->need = NEED_NOTHING;
}

static serial_sync *object_of(const serial_task *self, uint32_t object) {
    return &ns_serial_pool_of(self)->words[object];
}

void ns_serial_lock(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *lock = object_of(self, object);
    ns_serial_begin_op(self, NS_OP_LOCK, object);
    wait_for(self, NEED_LOCK, object);
    lock->holder = self;
    lock->acquisitions++;
    self->held++;
    ns_serial_resume_body(self);
}

void ns_serial_unlock(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *lock = object_of(self, object);
    if (lock->holder != self) {
        ns_serial_give_up(self, NS_ERROR_PROGRAM, "a task lets go of a lock that it does not hold",
                          ns_serial_pool_of(self)->pool.words[object].name);
    }
    ns_serial_begin_op(self, NS_OP_UNLOCK, object);
    lock->holder = NULL;
    self->held--;
    ns_serial_resume_body(self);
}

int64_t ns_serial_add(ns_task *task, uint32_t object, int64_t value) {
    serial_task *self = (serial_task *)(void *)task;
    object_of(self, object)->acquisitions++;
    ns_serial_begin_op(self, NS_OP_ATOMIC, object);
    int64_t *counter = &ns_serial_pool_of(self)->pool.words[object].value;
    const int64_t before = *counter;
    *counter = before + value;
    ns_serial_resume_body(self);
    return before;
}

void ns_serial_arrive(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *barrier = object_of(self, object);
    ns_serial_begin_op(self, NS_OP_BARRIER, object);
    if (++barrier->arrived == ns_serial_pool_of(self)->pool.words[object].parties) {
        barrier->arrived = 0;
        barrier->opened++;
    } else {
        wait_for(self, NEED_OPENING, object);
    }
    ns_serial_resume_body(self);
}

void ns_serial_await(ns_task *task, uint32_t object) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *condition = object_of(self, object);
    ns_serial_begin_op(self, NS_OP_AWAIT, object);
    wait_for(self, NEED_PERMIT, object);
    condition->permits--;
    ns_serial_resume_body(self);
}

void ns_serial_signal(ns_task *task, uint32_t object, uint32_t permits) {
    serial_task *self = (serial_task *)(void *)task;
    serial_sync *condition = object_of(self, object);
    ns_serial_begin_op(self, permits == 1 ? NS_OP_SIGNAL : NS_OP_BROADCAST, object);
    condition->permits += permits;
    ns_serial_resume_body(self);
}
