#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checked.hpp"
#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "state/items.hpp"

namespace numasim {

// The pages of memory that items of a range touch for the first time and give back, and what those cost (model 2.5 and
// 3.5; numasim/plan/address_space.py).

// Pages that an item touches first, pages that it gives back, and how long those of given homes take.
struct PageCounts {
    std::int64_t placed = 0, near = 0, far = 0, far_ps = 0;

    std::int64_t unmapped() const { return near + far; }
};

// The items of one family for workers of one node.
class ItemPages {
public:
    // What is given must outlive the object.
    ItemPages(const Plan& plan, const Family& family, const NodeBytes& node_bytes, std::uint64_t seed,
              std::int32_t node)
        : family_(family),
          node_bytes_(node_bytes),
          costs_(plan.effects.pages),
          far_ps_(costs_.unmap_far_ps.at + static_cast<std::size_t>(node) * plan.nodes),
          returns_(
              std::ranges::any_of(family.node_accesses, [](const NodeAccess& each) { return each.returned_ppm != 0; })),
          page_bytes_(plan.memory.page_bytes),
          fault_ps_(plan.costs.fault_ps),
          fresh_number_(number_of_access(family.node_accesses.size())),
          freed_number_(number_of_access(family.node_accesses.size() + 1)),
          seed_(seed) {}

    bool any() const { return !family_.fresh.empty() || !family_.freed.empty() || returns_; }

    PageCounts of(std::int64_t item) const {
        PageCounts found{pages(family_.fresh, item, fresh_number_), pages(family_.freed, item, freed_number_)};
        if (returns_) add_far(item, found);
        return found;
    }

    std::int64_t time_ps(const PageCounts& pages) const {
        return sum_ps(product_ps(pages.placed, fault_ps_), unmapping_ps(pages));
    }

private:
    std::int64_t pages(const ns_page_amounts_list& given, std::int64_t item, std::uint64_t number) const {
        return given.empty() ? 0 : ceil_div(amount_of(given[0].amounts, seed_, item, number), page_bytes_);
    }

    void add_far(std::int64_t item, PageCounts& found) const {
        node_bytes_.each(item, [&](const NodeAccess& access, std::size_t home, std::int64_t bytes) {
            const std::int64_t pages = ceil_div(bytes * access.returned_ppm / MILLION, page_bytes_);
            found.far += pages;
            found.far_ps = sum_ps(found.far_ps, product_ps(pages, far_ps_[home]));
        });
    }

    std::int64_t unmapping_ps(const PageCounts& pages) const {
        const std::int64_t batch = costs_.unmap_batch, together = pages.unmapped();
        const std::int64_t flushes = batch ? ceil_div(together, batch) : std::min<std::int64_t>(together, 1);
        const std::int64_t pages_ps = sum_ps(product_ps(pages.near, costs_.unmap_ps), pages.far_ps);
        return sum_ps(pages_ps, product_ps(flushes, costs_.flush_ps));
    }

    const Family& family_;
    const NodeBytes& node_bytes_;
    const PageCosts& costs_;
    const std::int64_t* const far_ps_;  // [homes] of each page as seen from the node
    const bool returns_;                // some accesses give back memory where it is
    const std::int64_t page_bytes_, fault_ps_;
    const std::uint64_t fresh_number_, freed_number_, seed_;
};

// What the items of an implicit range cost under caches and shared bandwidth (model 1.8 and 2.4;
// numasim/plan/item_prices.py, which tabulates it).

// The items of one family for workers of one node who find the same prices.
class ItemPrices {
public:
    // What is given must outlive the object.
    ItemPrices(const Family& family, const NodeBytes& node_bytes, const ItemPages& pages, const FamilyPrice& price,
               std::int32_t node, std::uint32_t nodes);

    Price price(std::int64_t item, std::int64_t compute_ps) const;
    // Likewise; and count what the item moves.
    Price price(std::int64_t item, std::int64_t compute_ps, Traffic& traffic) const;

    // What a worker asks for while it runs through the family: that of the mean item.
    const Price& mean() const { return mean_; }
    const std::vector<Use>& mean_uses() const { return mean_uses_; }

    // Count what an item, or each of `items`, moves, and its pages, `times` times.
    void count(std::int64_t item, std::int64_t times, Traffic& traffic) const;
    void count(Items items, std::int64_t times, Traffic& traffic) const;

private:
    void count_regions(std::int64_t item, std::int64_t times, Traffic& traffic) const;
    void count_pages(std::int64_t item, std::int64_t times, Traffic& traffic) const;
    void count_row(std::size_t access, std::int64_t row, std::int64_t times, Traffic& traffic) const;
    Price price(std::int64_t item, std::int64_t compute_ps, const NodeWait& on_nodes) const;
    // What counts that on one home.
    auto node_counter(std::int64_t times, Traffic& traffic) const {
        return [=, this, &traffic](const NodeAccess& access, std::size_t home, std::int64_t bytes) {
            const std::size_t pair = node_ * nodes_ + home;
            traffic.bytes[access.owned ? OWNED : FETCHED][pair] += times * bytes;
            if (access.written) traffic.bytes[WRITTEN][pair] += times * bytes;
        };
    }

    const Family& family_;
    const NodeBytes& node_bytes_;
    const ItemPages pages_;
    const FamilyPrice& price_;
    const std::size_t node_, nodes_;
    Price mean_;
    std::vector<Use> mean_uses_;
};

}  // namespace numasim
