/* How the first tasks of a program are shared out among workers (model 3.6). A root is a task without a parent. An item
 * is one of many similar tasks that have consecutive ids, and no entries of their own in the task graph (model 3.5). An
 * `enum ns_deal` is the rule: all to worker 0 (master), equal blocks (block), or in turn (cyclic). */
#pragma once

#include <stdint.h>

#include "generated/enumerations.h"

/* The `count` items with the ids first, first + step, first + 2 step, ... */
typedef struct {
    uint64_t first;
    uint32_t step, count;
} ns_items;

/* Return the worker, of `workers` workers, that gets root or item number `index` (from 0) of `count`. */
uint32_t ns_dealt_to(enum ns_deal deal, uint64_t index, uint64_t count, uint32_t workers);

/* Return the items that `worker` gets, if there are `count` items with ids from `first` on. */
ns_items ns_dealt_items(enum ns_deal deal, uint32_t worker, uint32_t workers, uint64_t first, uint64_t count);

/* Remove the first or the last item of `self`, which is not empty. Returns the id of the item. */
uint64_t ns_items_take_front(ns_items *self);
uint64_t ns_items_take_back(ns_items *self);
