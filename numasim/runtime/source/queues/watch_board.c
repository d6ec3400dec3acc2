#include "queues/watch_board.h"

#include <stdlib.h>

#include "numasim/runtime.h"

enum { QUEUES_PER_WORD = 8 };

int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan) {
    const uint32_t stride = (plan->queue_count + QUEUES_PER_WORD - 1) / QUEUES_PER_WORD;
    *self = (ns_watch_board){.plan = plan, .stride = stride};
    self->bytes = calloc((size_t)stride * plan->watches + 1, sizeof *self->bytes);
    return self->bytes ? NS_OK : NS_ERROR_MEMORY;
}

void ns_watch_board_destroy(ns_watch_board *self) { free(self->bytes); }

void ns_watch_board_mark(ns_watch_board *self, uint32_t q, int64_t length, ns_thresholds thresholds) {
    const uint32_t shift = 8 * (q % QUEUES_PER_WORD);
    for (uint32_t watch = 0; watch < self->plan->watches; watch++) {
        ns_atomic_u64 *word = &self->bytes[watch * self->stride + q / QUEUES_PER_WORD];
        uint64_t found = ns_atomic_u64_load(word, memory_order_relaxed), next; /* relaxed: bits are hints */
        do {
            const bool bit = found >> shift & 1;
            const bool marked = ns_watch_bit(&self->plan->watch[2 * watch], bit, length, thresholds);
            if (marked == bit) break;
            next = found ^ UINT64_C(1) << shift;
        } while (!ns_atomic_u64_compare_exchange(word, &found, next, memory_order_relaxed, memory_order_relaxed));
    }
}

void ns_watch_board_copy(const ns_watch_board *self, uint8_t *bits) {
    const uint32_t queues = self->plan->queue_count;
    for (uint32_t watch = 0; watch < self->plan->watches; watch++) {
        for (uint32_t at = 0; at < self->stride; at++) {
            const uint64_t word = ns_atomic_u64_load(&self->bytes[watch * self->stride + at], memory_order_relaxed);
            for (uint32_t q = 0; q < QUEUES_PER_WORD; q++) { /* relaxed: hints */
                const uint32_t queue = at * QUEUES_PER_WORD + q;
                if (queue < queues) bits[watch * queues + queue] = (uint8_t)(word >> 8 * q & 1);
            }
        }
    }
}
