/* The watch bits of all queues. A watch has one bit for each queue, which says whether the queue's length has passed
 * the bounds of the watch (policy/thresholds.h). Workers that change a queue update its bits; searching workers read
 * them.
 *
 * If two workers change a queue at the same time, they may set its bit in the reverse order. So the bit can be wrong
 * until the next change of the queue, or until a worker probes the queue in vain. */
#pragma once

#include "base/pieces.h"
#include "platform/atomics.h"
#include "policy/thresholds.h"

typedef struct {
    const ns_plan *plan;
    ns_atomic_u64 *bits; /* [watches][words] bit q of a row is the bit of queue q */
    uint32_t words;
} ns_watch_board;

/* Make the watch bits of all queues of a plan. Return 0 or NS_ERROR_MEMORY. */
int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan, ns_pieces *memory);

/* Update the bits of queue `q`, which has `length` tasks now. With a `step` of its owner: the bits that change at such
 * steps. With NULL: the bits that depend on the length alone. */
void ns_watch_board_note(ns_watch_board *self, uint32_t q, const ns_owner_step *step, int64_t length,
                         ns_thresholds thresholds);

/* Return the bit of queue `q` in a watch. */
static inline bool ns_watch_board_has(const ns_watch_board *self, uint32_t watch, uint32_t q) {
    /* relaxed: a bit may be wrong for a while in any case */
    return ns_atomic_u64_load(&self->bits[(uint64_t)watch * self->words + q / 64], memory_order_relaxed) >> q % 64 & 1;
}

/* Copy all bits to `bits`, in the layout of an `ns_view`. */
void ns_watch_board_copy(const ns_watch_board *self, uint64_t *bits);
