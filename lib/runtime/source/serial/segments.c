/* Segments: what bodies do between two calls, measured or declared, and recorded where the graph is. */
#include "platform/cpu_clock.h"
#include "serial/serial.h"

void ns_serial_leave_body(serial_task *self) {
    serial_pool *pool = ns_serial_pool_of(self);
    const bool measured = pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED;
    int64_t took_ps = self->declared_ps;
    if (measured) {
        took_ps = ns_cpu_ps() - self->resumed_ps - pool->clock_cost_ps;
        if (took_ps < 0) took_ps = 0;
    }
    self->part->work_ps += took_ps;
    if (pool->recording && (measured || self->declared || ns_recorder_has_access(&pool->recorder))) {
        ns_recorder_segment(&pool->recorder, self->row, took_ps);
    }
}

void ns_serial_resume_body(serial_task *self) {
    const serial_pool *pool = ns_serial_pool_of(self);
    self->declared = false;
    self->declared_ps = 0;
    if (pool->recording && pool->pool.options.costs == NS_COSTS_MEASURED) {
        self->resumed_ps = ns_cpu_ps();
    }
}

void ns_serial_refuse_early_get(serial_task *self) {
    ns_serial_give_up(
        self, NS_ERROR_UNSUPPORTED,
        "a task gets one of several futures and goes on before it has got the others; a task graph cannot say so", "");
}

void ns_serial_begin_op(serial_task *self, enum ns_op code, uint32_t argument) {
    serial_pool *pool = ns_serial_pool_of(self);
    if (self->getting) ns_serial_refuse_early_get(self);
    ns_serial_leave_body(self);
    if (pool->recording) ns_recorder_op(&pool->recorder, self->row, code, argument);
}
