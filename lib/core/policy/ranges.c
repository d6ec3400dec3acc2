#include "policy/ranges.h"

#include "base/wide.h"

uint32_t ns_dealt_to(enum ns_deal deal, uint64_t index, uint64_t count, uint32_t workers) {
    switch (deal) {
        case NS_DEAL_BLOCK: return (uint32_t)((ns_uwide)index * workers / count);
        case NS_DEAL_CYCLIC: return (uint32_t)(index % workers);
        default: return 0;
    }
}

/* Return where the block of `worker` begins: the lowest index that goes to `worker` or to a later worker. */
static uint64_t block_start(uint32_t worker, uint32_t workers, uint64_t count) {
    return (uint64_t)(((ns_uwide)worker * count + workers - 1) / workers);
}

ns_items ns_dealt_items(enum ns_deal deal, uint32_t worker, uint32_t workers, uint64_t first, uint64_t count) {
    if (deal == NS_DEAL_CYCLIC) {
        uint64_t dealt = worker < count ? (count - worker - 1) / workers + 1 : 0;
        return (ns_items){first + worker, workers, (uint32_t)dealt};
    }
    if (deal == NS_DEAL_BLOCK) {
        uint64_t start = block_start(worker, workers, count);
        return (ns_items){first + start, 1, (uint32_t)(block_start(worker + 1, workers, count) - start)};
    }
    return (ns_items){first, 1, worker ? 0 : (uint32_t)count};
}

uint64_t ns_items_take_front(ns_items *self) {
    uint64_t item = self->first;
    self->first += self->step;
    self->count--;
    return item;
}

uint64_t ns_items_take_back(ns_items *self) {
    self->count--;
    return self->first + (uint64_t)self->step * self->count;
}
