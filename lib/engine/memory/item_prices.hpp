// The prices of the items of an implicit range in coupled runs, including the pages that items touch first or give back
// (model 1.8, 2.4, 2.5 and 3.5; numasim/plan/item_prices.py makes the tables, address_space.py prices pages).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "checked.hpp"
#include "memory/access_prices.hpp"
#include "plan.hpp"
#include "state/items.hpp"

namespace numasim {

// The prices of the items of one range (family), for those workers of one node that have the same prices.
class ItemPrices {
    // Return a function that counts the bytes of an access on one node.
    auto node_counter(std::int64_t times, Traffic& traffic) const {
        return [=, this, &traffic](const NodeAccess& access, std::size_t home, std::int64_t bytes) {
            const std::size_t pair = node_ * nodes_ + home;
            traffic.bytes[access.owned ? OWNED : FETCHED][pair] += times * bytes;
            if (access.written) traffic.bytes[WRITTEN][pair] += times * bytes;
        };
    }

public:
    // `plan`, `family`, `node_bytes` and `price` must outlive the object.
    ItemPrices(const Plan& plan, const Family& family, const NodeBytes& node_bytes, const FamilyPrice& price,
               std::uint64_t seed, std::int32_t node)
        : plan_(plan),
          family_(family),
          node_bytes_(node_bytes),
          price_(price),
          seed_(seed),
          node_(static_cast<std::size_t>(node)),
          nodes_(plan.nodes),
          returns_(
              std::ranges::any_of(family.node_accesses, [](const NodeAccess& each) { return each.returned_ppm != 0; })),
          mean_{.compute_ps = price.mean_compute_ps, .wait_ps = price.mean_wait_ps, .fault_ps = price.mean_pages_ps} {
        for (std::size_t i = 0; i < price.resource.size(); ++i)
            mean_uses_.push_back({price.resource[i], price.units[i]});
    }

    // The price of an item that computes for `compute_ps`. The second function also counts the item's bytes and pages.
    Price price(std::int64_t item, std::int64_t compute_ps) const {
        return price(item, compute_ps, node_bytes_.wait(node_, item));
    }

    Price price(std::int64_t item, std::int64_t compute_ps, Traffic& traffic) const {
        count_rows_and_pages({item, 1, 1}, 1, traffic);
        return price(item, compute_ps, node_bytes_.wait(node_, item, node_counter(1, traffic)));
    }

    // The price and the uses of the mean item: the demand of a worker while the worker executes items of the range.
    const Price& mean() const { return mean_; }
    const std::vector<Use>& mean_uses() const { return mean_uses_; }

    // Count the bytes and pages of each item of `items`, `times` times.
    void count(Items items, std::int64_t times, Traffic& traffic) const {
        count_rows_and_pages(items, times, traffic);
        for (std::int64_t i = 0; node_bytes_.any() && i < items.count; ++i) {
            node_bytes_.each(items.at(i), node_counter(times, traffic));
        }
    }

private:
    // Numbers of pages that an item touches first (`placed`), gives back on the worker's node (`near`), and gives back
    // on given nodes (`far`). To give back the `far` pages takes `far_ps`.
    struct PageCounts {
        std::int64_t placed = 0, near = 0, far = 0, far_ps = 0;
    };

    Price price(std::int64_t item, std::int64_t compute_ps, const NodeWait& on_nodes) const {
        Price price{.compute_ps = compute_ps,
                    .wait_ps = on_nodes.wait_ps,
                    .local_wait_ps = sum_ps(price_.local_wait_ps, on_nodes.local_ps)};
        for (std::size_t a = 0; a < price_.accesses.size(); ++a) {
            const auto row = static_cast<std::size_t>(row_of(family_.accesses[a], item));
            price.wait_ps = sum_ps(price.wait_ps, price_.accesses[a].wait[row]);
        }
        if (has_pages()) price.fault_ps = pages_ps(pages(item));
        return price;
    }

    void count_rows_and_pages(Items items, std::int64_t times, Traffic& traffic) const {
        for (std::size_t a = 0; a < price_.accesses.size(); ++a) {
            const auto rows = static_cast<std::int64_t>(price_.accesses[a].wait.size());
            count_rows(family_.accesses[a], rows, items,
                       [&](std::int64_t row, std::int64_t visits) { count_row(a, row, times * visits, traffic); });
        }
        for (std::int64_t i = 0; has_pages() && i < items.count; ++i) {
            const PageCounts found = pages(items.at(i));
            traffic.placed += times * found.placed;
            traffic.unmapped += times * (found.near + found.far);
        }
    }

    // Count the bytes of access `number` in row `row` of its table, `times` times.
    void count_row(std::size_t number, std::int64_t row, std::int64_t times, Traffic& traffic) const {
        const auto& access = price_.accesses[number];
        const std::size_t from = static_cast<std::size_t>(row) * nodes_, to = node_ * nodes_;
        std::int64_t* const fetched = traffic.bytes[access.owned ? OWNED : FETCHED].data() + to;
        std::int64_t* const written = traffic.bytes[WRITTEN].data() + to;
        for (std::size_t home = 0; home < nodes_; ++home) {
            fetched[home] += times * access.fetched[from + home];
            written[home] += times * access.written[from + home];
        }
        traffic.cached_bytes += times * access.cached_bytes;
    }

    bool has_pages() const { return !family_.fresh.empty() || !family_.freed.empty() || returns_; }

    std::int64_t pages_of(const ns_page_amounts_list& given, std::int64_t item, std::uint64_t number) const {
        return given.empty() ? 0 : ceil_div(amount_of(given[0].amounts, seed_, item, number), plan_.memory.page_bytes);
    }

    PageCounts pages(std::int64_t item) const {
        const std::uint64_t accesses = family_.node_accesses.size();
        const std::int64_t* const far_ps = plan_.effects.pages.unmap_far_ps.data() + node_ * nodes_;
        PageCounts found{.placed = pages_of(family_.fresh, item, number_of_access(accesses)),
                         .near = pages_of(family_.freed, item, number_of_access(accesses + 1))};
        if (!returns_) return found;
        node_bytes_.each(item, [&](const NodeAccess& access, std::size_t home, std::int64_t bytes) {
            const std::int64_t pages = ceil_div(bytes * access.returned_ppm / MILLION, plan_.memory.page_bytes);
            found.far += pages;
            found.far_ps = sum_ps(found.far_ps, product_ps(pages, far_ps[home]));
        });
        return found;
    }

    std::int64_t pages_ps(const PageCounts& pages) const {
        const PageCosts& costs = plan_.effects.pages;
        const std::int64_t together = pages.near + pages.far;
        const std::int64_t flushes =
            costs.unmap_batch != 0 ? ceil_div(together, costs.unmap_batch) : std::min<std::int64_t>(together, 1);
        const std::int64_t unmap_ps = sum_ps(product_ps(pages.near, costs.unmap_ps), pages.far_ps);
        return sum_ps(product_ps(pages.placed, plan_.costs.fault_ps),
                      sum_ps(unmap_ps, product_ps(flushes, costs.flush_ps)));
    }

    const Plan& plan_;
    const Family& family_;
    const NodeBytes& node_bytes_;
    const FamilyPrice& price_;
    const std::uint64_t seed_;
    const std::size_t node_, nodes_;
    const bool returns_;  // whether some accesses give back pages on any node
    Price mean_;
    std::vector<Use> mean_uses_;
};

}  // namespace numasim
