/* The watch bits of all queues: whether a queue's length has passed a bound of the strategy. Workers that change a
 * queue update its bits; workers that search for tasks read the bits.
 *
 * If two workers change a queue at the same time, they may set its bit in the reverse order. So the bit can be wrong
 * until the next change of the queue, or until a worker probes the queue in vain. */
#pragma once

#include "base/pieces.h"
#include "platform/atomics.h"
#include "policy/thresholds.h"

typedef struct {
    const ns_plan *plan;
    ns_atomic_u64 *bits; /* [watches][words] each row is a set of queues */
    uint32_t words;
} ns_watch_board;

/* Make the watch bits of all queues of a plan. Return 0 or NS_ERROR_MEMORY. */
int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan, ns_pieces *memory);

/* Note that the owner of queue `q` takes a step while the queue has `length` tasks; without a step, note that the queue
 * now has `length` tasks. */
void ns_watch_board_note(ns_watch_board *self, uint32_t q, const ns_owner_step *step, int64_t length,
                         ns_thresholds thresholds);

/* Return a bit of queue `q`. */
static inline bool ns_watch_board_has(const ns_watch_board *self, uint32_t watch, uint32_t q) {
    /* relaxed: a bit may be wrong for a while in any case */
    return ns_atomic_u64_load(&self->bits[(uint64_t)watch * self->words + q / 64], memory_order_relaxed) >> q % 64 & 1;
}

/* Copy all bits to `bits`, in the layout of an `ns_view`. */
void ns_watch_board_copy(const ns_watch_board *self, uint64_t *bits);
