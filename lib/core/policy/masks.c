#include "policy/masks.h"

#include "policy/candidates.h"

static bool ascends(const ns_plan *plan, uint32_t segment) {
    for (uint32_t at = plan->seg[segment] + 1; at < plan->seg[segment + 1]; at++) {
        if (plan->queue[at - 1] >= plan->queue[at]) return false;
    }
    return plan->watches > 0;
}

bool ns_masks_serve(const ns_plan *plan) {
    for (uint32_t index = 0; index < plan->levels; index++) {
        const ns_level *level = &plan->level[index];
        if (!ns_level_draws(level) || level->watch == NS_NONE8) continue;
        uint32_t end = index + 1 < plan->levels ? level[1].row : plan->rows - 1;
        for (uint32_t segment = plan->row[level->row]; segment < plan->row[end]; segment++) {
            if (!ascends(plan, segment)) return false;
        }
    }
    return plan->watches > 0;
}

void ns_masks_fill(const ns_plan *plan, uint64_t *mask) {
    uint32_t words = ns_mask_words(plan), segments = plan->row[plan->rows - 1];
    for (uint32_t segment = 0; segment < segments; segment++) {
        uint64_t *word = mask + (uint64_t)segment * words;
        for (uint32_t at = 0; at < words; at++) word[at] = 0;
        for (uint32_t at = plan->seg[segment]; at < plan->seg[segment + 1]; at++) {
            word[plan->queue[at] / 64] |= UINT64_C(1) << plan->queue[at] % 64;
        }
    }
}
