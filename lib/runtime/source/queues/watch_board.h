/* The watch bits of all queues: updated by workers that change a queue, read by workers that search.
 *
 * Bits follow from lengths. Two workers that change a queue at the same time may set its bit in the other order. So a
 * bit can be wrong until the next change of its queue, or until a worker that probes in vain corrects it.
 */
#ifndef NS_WATCH_BOARD_H
#define NS_WATCH_BOARD_H

#include "platform/atomics.h"
#include "policy/thresholds.h"

typedef struct {
    const ns_plan *plan;
    ns_atomic_u64 *bits; /* [watches][words] sets of queues */
    uint32_t words;
} ns_watch_board;

/* Returns 0 or NS_ERROR_MEMORY. */
int ns_watch_board_create(ns_watch_board *self, const ns_plan *plan);
void ns_watch_board_destroy(ns_watch_board *self);

/* Queue `q` now has `length` tasks. */
void ns_watch_board_mark(ns_watch_board *self, uint32_t q, int64_t length, ns_thresholds thresholds);

/* The owner of queue `q` takes a step, while the queue has `length` tasks. */
void ns_watch_board_owner_steps(ns_watch_board *self, uint32_t q, ns_owner_step step, int64_t length,
                                ns_thresholds thresholds);

/* Copy all bits to `bits`, as in an `ns_view`. */
void ns_watch_board_copy(const ns_watch_board *self, uint64_t *bits);

#endif
