// What the items of an implicit range cost under caches and shared bandwidth, the pages included that they touch first
// or give back (model 1.8, 2.4, 2.5 and 3.5; numasim/plan/item_prices.py makes the tables, address_space.py prices
// pages).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "state/items.hpp"

namespace numasim {

// The items of one family for workers of one node that find the same prices.
class ItemPrices {
public:
    // `plan`, `family`, `node_bytes` and `price` must outlive the object.
    ItemPrices(const Plan& plan, const Family& family, const NodeBytes& node_bytes, const FamilyPrice& price,
               std::uint64_t seed, std::int32_t node);

    // The price of an item that computes for `compute_ps`. The second form also counts what the item moves.
    Price price(std::int64_t item, std::int64_t compute_ps) const {
        return price(item, compute_ps, node_bytes_.wait(node_, item));
    }
    Price price(std::int64_t item, std::int64_t compute_ps, Traffic& traffic) const;

    // The demand of a worker while it runs through the family: that of the mean item.
    const Price& mean() const { return mean_; }
    const std::vector<Use>& mean_uses() const { return mean_uses_; }

    // Count what each of `items` moves, and its pages, `times` times.
    void count(Items items, std::int64_t times, Traffic& traffic) const;

private:
    // Pages that an item touches first (`placed`), and pages that it gives back: those of its own node (`near`), and
    // those that lie on given homes (`far`), which take `far_ps`.
    struct PageCounts {
        std::int64_t placed = 0, near = 0, far = 0, far_ps = 0;
    };

    Price price(std::int64_t item, std::int64_t compute_ps, const NodeWait& on_nodes) const;
    void count_rows_and_pages(Items items, std::int64_t times, Traffic& traffic) const;
    void count_row(std::size_t access, std::int64_t row, std::int64_t times, Traffic& traffic) const;
    // A function that counts the bytes of an access on one home.
    auto node_counter(std::int64_t times, Traffic& traffic) const {
        return [=, this, &traffic](const NodeAccess& access, std::size_t home, std::int64_t bytes) {
            const std::size_t pair = node_ * nodes_ + home;
            traffic.bytes[access.owned ? OWNED : FETCHED][pair] += times * bytes;
            if (access.written) traffic.bytes[WRITTEN][pair] += times * bytes;
        };
    }
    bool has_pages() const { return !family_.fresh.empty() || !family_.freed.empty() || returns_; }
    std::int64_t pages_of(const ns_page_amounts_list& given, std::int64_t item, std::uint64_t number) const;
    PageCounts pages(std::int64_t item) const;
    std::int64_t pages_ps(const PageCounts& pages) const;

    const Plan& plan_;
    const Family& family_;
    const NodeBytes& node_bytes_;
    const FamilyPrice& price_;
    const std::uint64_t seed_;
    const std::size_t node_, nodes_;
    const bool returns_;  // some accesses give back memory where it is
    Price mean_;
    std::vector<Use> mean_uses_;
};

}  // namespace numasim
