// What the items of an implicit range cost under caches and shared bandwidth (model 1.8 and 2.4;
// numasim/plan/item_prices.py, which tabulates it).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/access_prices.hpp"
#include "memory/item_pages.hpp"
#include "memory/node_bytes.hpp"
#include "plan.hpp"
#include "state/item_rows.hpp"

namespace numasim {

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
