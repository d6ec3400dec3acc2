#include "queues/watch_board.h"

#include "base/bitset.h"
#include "numasim/runtime.h"

int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan, ns_pieces *memory) {
    *self = (ns_watch_board){.plan = plan, .words = ns_set_words(plan->queue_count)};
    self->bits = ns_pieces_take(memory, (uint64_t)self->words * plan->watches, sizeof *self->bits);
    return self->bits ? NS_OK : NS_ERROR_MEMORY;
}

void ns_watch_board_note(ns_watch_board *self, uint32_t q, const ns_owner_step *step, int64_t length,
                         ns_thresholds thresholds) {
    for (uint32_t watch = 0; watch < self->plan->watches; watch++) {
        const int32_t *bound = &self->plan->watch[2 * watch];
        ns_atomic_u64 *word = &self->bits[watch * self->words + q / 64];
        uint64_t found = ns_atomic_u64_load(word, memory_order_relaxed), next; /* relaxed: bits are hints */
        if (step ? !ns_watch_is_owners(bound) : !ns_watch_follows_length(bound)) continue;
        do {
            const bool bit = found >> q % 64 & 1;
            const bool after = step ? ns_watch_owners_bit(bound, bit, *step, length, thresholds)
                                    : ns_watch_bit(bound, bit, length, thresholds);
            if (after == bit) break;
            next = found ^ UINT64_C(1) << q % 64;
        } while (!ns_atomic_u64_compare_exchange(word, &found, next, memory_order_relaxed, memory_order_relaxed));
    }
}

void ns_watch_board_copy(const ns_watch_board *self, uint64_t *bits) {
    for (uint32_t at = 0; at < self->plan->watches * self->words; at++) {
        bits[at] = ns_atomic_u64_load(&self->bits[at], memory_order_relaxed); /* relaxed: hints */
    }
}
