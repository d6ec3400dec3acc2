#include "memory/item_prices.hpp"

#include "checked.hpp"

namespace numasim {

ItemPrices::ItemPrices(const Family& family, const NodeBytes& node_bytes, const ItemPages& pages,
                       const FamilyPrice& price, std::int32_t node, std::uint32_t nodes)
    : family_(family),
      node_bytes_(node_bytes),
      pages_(pages),
      price_(price),
      node_(static_cast<std::size_t>(node)),
      nodes_(nodes) {
    mean_.compute_ps = price.mean_compute_ps;
    mean_.wait_ps = price.mean_wait_ps;
    mean_.fault_ps = price.mean_pages_ps;
    for (std::size_t i = 0; i < price.resource.size(); ++i) mean_uses_.push_back({price.resource[i], price.units[i]});
}

Price ItemPrices::price(std::int64_t item, std::int64_t compute_ps) const {
    return price(item, compute_ps, node_bytes_.wait(node_, item));
}

Price ItemPrices::price(std::int64_t item, std::int64_t compute_ps, Traffic& traffic) const {
    count_regions(item, 1, traffic);
    count_pages(item, 1, traffic);
    return price(item, compute_ps, node_bytes_.wait(node_, item, node_counter(1, traffic)));
}

Price ItemPrices::price(std::int64_t item, std::int64_t compute_ps, const NodeWait& on_nodes) const {
    Price price{.compute_ps = compute_ps,
                .wait_ps = on_nodes.wait_ps,
                .local_wait_ps = sum_ps(price_.local_wait_ps, on_nodes.local_ps)};
    for (std::size_t a = 0; a < price_.accesses.size(); ++a) {
        const auto row = static_cast<std::size_t>(row_of(family_.accesses[a], item));
        price.wait_ps = sum_ps(price.wait_ps, price_.accesses[a].wait[row]);
    }
    if (pages_.any()) price.fault_ps = pages_.time_ps(pages_.of(item));
    return price;
}

void ItemPrices::count(std::int64_t item, std::int64_t times, Traffic& traffic) const {
    count_regions(item, times, traffic);
    count_pages(item, times, traffic);
    node_bytes_.each(item, node_counter(times, traffic));
}

void ItemPrices::count_pages(std::int64_t item, std::int64_t times, Traffic& traffic) const {
    if (!pages_.any()) return;
    const PageCounts pages = pages_.of(item);
    traffic.placed += times * pages.placed;
    traffic.unmapped += times * pages.unmapped();
}

void ItemPrices::count_regions(std::int64_t item, std::int64_t times, Traffic& traffic) const {
    for (std::size_t a = 0; a < price_.accesses.size(); ++a) {
        count_row(a, row_of(family_.accesses[a], item), times, traffic);
    }
}

void ItemPrices::count(Items items, std::int64_t times, Traffic& traffic) const {
    for (std::size_t a = 0; a < price_.accesses.size(); ++a) {
        const auto rows = static_cast<std::int64_t>(price_.accesses[a].wait.size());
        count_rows(family_.accesses[a], rows, items,
                   [&](std::int64_t row, std::int64_t visits) { count_row(a, row, times * visits, traffic); });
    }
    for (std::int64_t i = 0; node_bytes_.any() && i < items.count; ++i) {
        node_bytes_.each(items.at(i), node_counter(times, traffic));
    }
    for (std::int64_t i = 0; pages_.any() && i < items.count; ++i) count_pages(items.at(i), times, traffic);
}

// Count the part of what moves that is in one row of an access's tables.
void ItemPrices::count_row(std::size_t number, std::int64_t row, std::int64_t times, Traffic& traffic) const {
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

}  // namespace numasim
