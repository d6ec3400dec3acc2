/* The queues of each segment as a bit mask, which makes watches two to three times as fast to read at 128 queues.
 * Without masks all results are the same.
 */
#ifndef NUMASIM_POLICY_MASKS_H
#define NUMASIM_POLICY_MASKS_H

#include "base/bitset.h"
#include "policy/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of words of each segment's mask: queue q is bit q % 64 of word q / 64. */
static inline uint32_t ns_mask_words(const ns_plan *plan) { return ns_set_words(plan->queue_count); }

/* Whether masks serve the plan: it has watches, and where its levels pick by one, their queues ascend. */
bool ns_masks_serve(const ns_plan *plan);

/* Write the masks of all segments to `mask` [segments][ns_mask_words], memory that lives with the plan. */
void ns_masks_fill(const ns_plan *plan, uint64_t *mask);

#ifdef __cplusplus
}
#endif

#endif
