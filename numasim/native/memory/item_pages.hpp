// The pages of memory that items of a range touch for the first time and give back, and what those cost (model 2.5 and
// 3.5; numasim/plan/address_space.py).
#pragma once

#include <algorithm>
#include <cstdint>

#include "checked.hpp"
#include "plan.hpp"
#include "policy/amounts.h"

namespace numasim {

struct PageCounts {
    std::int64_t placed = 0, unmapped = 0;
};

class ItemPages {
public:
    // The plan must outlive the object.
    ItemPages(const Plan& plan, const Family& family, std::uint64_t seed)
        : family_(family),
          costs_(plan.effects.pages),
          page_bytes_(plan.memory.page_bytes),
          fault_ps_(plan.costs.fault_ps),
          fresh_number_(ns_number_of_access(family.node_accesses.size())),
          freed_number_(ns_number_of_access(family.node_accesses.size() + 1)),
          seed_(seed) {}

    bool any() const { return !family_.fresh.empty() || !family_.freed.empty(); }

    PageCounts of(std::int64_t item) const {
        return {pages(family_.fresh, item, fresh_number_), pages(family_.freed, item, freed_number_)};
    }

    std::int64_t time_ps(const PageCounts& pages) const {
        return sum_ps(product_ps(pages.placed, fault_ps_), unmapping_ps(pages.unmapped));
    }

private:
    std::int64_t pages(const ns_page_amounts_list& given, std::int64_t item, std::uint64_t number) const {
        return given.empty() ? 0 : ceil_div(ns_amount_of(&given[0].amounts, seed_, item, number), page_bytes_);
    }

    std::int64_t unmapping_ps(std::int64_t pages) const {
        const std::int64_t batch = costs_.unmap_batch;
        const std::int64_t flushes = batch ? ceil_div(pages, batch) : std::min<std::int64_t>(pages, 1);
        return sum_ps(product_ps(pages, costs_.unmap_ps), product_ps(flushes, costs_.flush_ps));
    }

    const Family& family_;
    const PageCosts& costs_;
    const std::int64_t page_bytes_, fault_ps_;
    const std::uint64_t fresh_number_, freed_number_, seed_;
};

}  // namespace numasim
