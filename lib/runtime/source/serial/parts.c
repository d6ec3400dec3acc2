/* The parts of a team take turns: each runs until it has to wait, then the next one that can go on does. */
#include <stdlib.h>

#include "serial/serial.h"

bool ns_serial_can_go_on(const serial_pool *pool, const serial_part *self) {
    const serial_sync *word = &pool->words[self->word];
    switch (self->need) {
        case NEED_NOTHING: return true;
        case NEED_LOCK: return !word->holder;
        case NEED_PERMIT: return word->permits > 0;
        case NEED_OPENING: return word->opened > self->opened;
        case NEED_NO_MORE: return false;
    }
    return false;
}

void ns_serial_pass_on(serial_pool *pool, serial_part *self) {
    const uint32_t parts = pool->team ? pool->pool.workers : 1;
    bool all_ended = true;
    for (uint32_t step = 1; step <= parts; step++) {
        serial_part *next = &pool->parts[(self->worker.id + step) % parts];
        if (ns_serial_can_go_on(pool, next)) {
            if (next != self) ns_fiber_switch(self->fiber, next->fiber);
            return;
        }
        all_ended &= next->need == NEED_NO_MORE;
    }
    if (!all_ended) {
        pool->error = ns_pool_fail(&pool->pool, NS_ERROR_DEADLOCK,
                                   "run serially, all tasks that are left wait for a lock, a barrier or a condition");
    }
    ns_fiber_switch(self->fiber, pool->caller);
}

_Noreturn void ns_serial_give_up(serial_task *self, int error, const char *problem, const char *name) {
    serial_pool *pool = ns_serial_pool_of(self);
    pool->error = ns_pool_fail(&pool->pool, error, "%s%s%s%s", problem, *name ? ": '" : "", name, *name ? "'" : "");
    ns_fiber_switch(self->part->fiber, pool->caller);
    abort(); /* a run that was given up is never resumed */
}
