#include "shortcuts/segment_costs.hpp"

#include <algorithm>

#include "memory/nominal.hpp"

namespace numasim {

SegmentCosts::SegmentCosts(const Run& run, ns_pages& pages, const std::vector<std::size_t>& nodes_used)
    : plan_(run.plan),
      columns_(plan_.effects.coupled ? TRAFFIC_KINDS * plan_.nodes : plan_.nodes),
      times_(plan_.times),
      wait_ps_(plan_.nodes) {
    if (!plan_.effects.coupled || plan_.accesses.region.empty()) return;
    total_ps_.resize(plan_.nodes);
    local_ps_.resize(plan_.nodes);
    traffic_.resize(static_cast<std::size_t>(plan_.times.segments) * columns_);
    for (const std::size_t node : nodes_used) price(run, pages, node);
    for (std::size_t node = 0; node < plan_.nodes; ++node) {
        totals_.push_back({total_ps_[node].data(), total_ps_[node].size()});
        locals_.push_back({local_ps_[node].data(), local_ps_[node].size()});
    }
    times_.total = {totals_.data(), totals_.size()};
    times_.local = {locals_.data(), locals_.size()};
    times_.traffic = {traffic_.data(), traffic_.size()};
}

// Price every segment for a worker of `node`. There are no caches, and homes are known: the order plays no part.
void SegmentCosts::price(const Run& run, ns_pages& pages, std::size_t node) {
    const AccessTable& table = run.prepared.accesses;
    Traffic traffic;
    for (std::vector<std::int64_t>& bytes : traffic.bytes) bytes.resize(std::size_t{plan_.nodes} * plan_.nodes);
    AccessPrices prices(plan_, table, run.clock, pages, traffic);
    Price price;
    std::vector<Use> uses;
    for (std::size_t segment = 0; segment < static_cast<std::size_t>(plan_.times.segments); ++segment) {
        for (std::vector<std::int64_t>& bytes : traffic.bytes) std::ranges::fill(bytes, 0);
        const Place place{0, static_cast<std::int32_t>(node), 0};
        prices.price(segment, table.compute_ps(segment), place, price, uses);
        wait_ps_[node].push_back(price.wait_ps);
        total_ps_[node].push_back(combined_ps(plan_.effects, price.compute_ps, price.wait_ps));
        local_ps_[node].push_back(combined_ps(plan_.effects, price.compute_ps, price.local_wait_ps));
        count_traffic(traffic, node, segment);
    }
}

// What a segment moves does not depend on the node that it runs on.
void SegmentCosts::count_traffic(const Traffic& traffic, std::size_t node, std::size_t segment) {
    const std::size_t nodes = plan_.nodes;
    for (std::size_t kind = 0; kind < TRAFFIC_KINDS; ++kind) {
        std::copy_n(traffic.bytes[kind].begin() + static_cast<std::ptrdiff_t>(node * nodes), nodes,
                    traffic_.begin() + static_cast<std::ptrdiff_t>(segment * columns_ + kind * nodes));
    }
}

std::vector<std::int64_t> SegmentCosts::nominal_ps(std::size_t node, const Speed& speed) const {
    std::vector<std::int64_t> nominal(plan_.times.total[node].begin(), plan_.times.total[node].end());
    if (!plan_.effects.coupled) return nominal;
    for (std::size_t segment = 0; segment < nominal.size(); ++segment) {
        const std::int64_t wait_ps = wait_ps_[node].empty() ? 0 : wait_ps_[node][segment];
        const Price price{.compute_ps = plan_.effects.segments.compute_ps[segment], .wait_ps = wait_ps};
        nominal[segment] = numasim::nominal_ps(plan_.effects, price, speed);
    }
    return nominal;
}

}  // namespace numasim
