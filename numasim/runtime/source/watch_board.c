#include "watch_board.h"

#include <stdlib.h>
#include <string.h>

#include "numasim/runtime.h"

enum { QUEUES_PER_WORD = 8, MOST_WATCHES = NS_NONE8 };

int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan) {
    const uint32_t stride = (plan->queue_count + QUEUES_PER_WORD - 1) / QUEUES_PER_WORD;
    *self = (ns_watch_board){.plan = plan, .stride = stride};
    self->bytes = calloc((size_t)stride * plan->watches + 1, sizeof *self->bytes);
    return self->bytes ? NS_OK : NS_ERROR_MEMORY;
}

void ns_watch_board_destroy(ns_watch_board *self) { free(self->bytes); }

/* The word of a bit as it is, with the bit set or cleared. */
static uint64_t with_bit(uint64_t word, uint32_t q, bool set) {
    const uint64_t bit = UINT64_C(1) << 8 * (q % QUEUES_PER_WORD);
    return set ? word | bit : word & ~bit;
}

static void set_bit(ns_atomic_u64 *word, uint32_t q, bool set) {
    uint64_t found = ns_atomic_u64_load(word, memory_order_relaxed); /* relaxed: bits are hints, as are those below */
    while (with_bit(found, q, set) != found &&
           !ns_atomic_u64_compare_exchange(word, &found, with_bit(found, q, set), memory_order_relaxed,
                                           memory_order_relaxed)) {
    }
}

void ns_watch_board_mark(ns_watch_board *self, uint32_t q, int64_t length, ns_thresholds thresholds) {
    ns_plan alone = *self->plan; /* as if there were no other queue */
    alone.queue_count = 1;
    uint8_t bits[MOST_WATCHES];
    for (uint32_t watch = 0; watch < alone.watches; watch++) {
        const ns_atomic_u64 *word = &self->bytes[watch * self->stride + q / QUEUES_PER_WORD];
        bits[watch] =
            ns_atomic_u64_load(word, memory_order_relaxed) >> 8 * (q % QUEUES_PER_WORD) & 1; /* relaxed: hint */
    }
    ns_watch_mark(&alone, bits, 0, length, thresholds);
    for (uint32_t watch = 0; watch < alone.watches; watch++) {
        set_bit(&self->bytes[watch * self->stride + q / QUEUES_PER_WORD], q, bits[watch]);
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
