/* Implicit ranges: similar tasks (items) that a rule gives, without a row each (model 3.5). Which worker is dealt which
 * roots and items (model 3.6), and arithmetic on sequences of items. */
#pragma once

#include <stdint.h>

#include "generated/enumerations.h"

/* `count` items: first, first + step, ... */
typedef struct {
    uint64_t first;
    uint32_t step, count;
} ns_items;

/* The worker that is dealt number `index` of `count` roots or items. */
uint32_t ns_dealt_to(enum ns_deal deal, uint64_t index, uint64_t count, uint32_t workers);

/* The items that `worker` is dealt of `count` items from id `first` on. The inverse of `ns_dealt_to`. */
ns_items ns_dealt_items(enum ns_deal deal, uint32_t worker, uint32_t workers, uint64_t first, uint64_t count);

/* Take one item off the front or the back of `self`, which is not empty. */
uint64_t ns_items_take_front(ns_items *self);
uint64_t ns_items_take_back(ns_items *self);
