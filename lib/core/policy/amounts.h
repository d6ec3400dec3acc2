/* The whole number that each item of a range has, given or drawn from a table (model 3.5; numasim/workload/amounts.py).
 */
#ifndef NUMASIM_POLICY_AMOUNTS_H
#define NUMASIM_POLICY_AMOUNTS_H

#include <stdbool.h>

#include "generated/plan_structs.h"
#include "policy/draws.h"

/* Of an item's stream: the first of the two numbers that find its compute time in a table, and its amount of a node
 * access. */
enum { NS_COMPUTE_NUMBER = 2 };
static inline uint64_t ns_number_of_access(uint64_t access) { return NS_COMPUTE_NUMBER + 2 + 2 * access; }

/* Whether all items have the same. */
static inline bool ns_amounts_are_fixed(const ns_amounts *self) {
    return self->start.count == 1 && self->low.at[0] == self->high.at[0];
}

/* The part that a number finds: the last one that does not start above it. */
static inline uint64_t ns_part_of(const ns_amounts *self, uint64_t number) {
    uint64_t part = 0, parts = self->start.count;
    while (parts > 1) {
        const uint64_t half = parts / 2;
        part += self->start.at[part + half] <= number ? half : 0;
        parts -= half;
    }
    return part;
}

/* The number of `item`; where it is drawn, by `number` and the next one of its stream. */
static inline int64_t ns_amount_of(const ns_amounts *self, uint64_t seed, int64_t item, uint64_t number) {
    if (self->items.count) return self->items.at[item];
    if (ns_amounts_are_fixed(self)) return self->low.at[0];
    const uint64_t base = ns_base(seed, NS_DRAW_DURATION, (uint64_t)item);
    const uint64_t part = ns_part_of(self, ns_draw(base, number));
    const int64_t low = self->low.at[part];
    return low + (int64_t)ns_below(ns_draw(base, number + 1), (uint64_t)(self->high.at[part] - low) + 1);
}

#endif
