// What the segments of a task graph take and move where no event but a change of speeds changes that (model 1.7).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/access_prices.hpp"
#include "memory/speeds.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class SegmentCosts {
public:
    // The arguments must outlive the object; `nodes_used` are the nodes that have workers.
    SegmentCosts(const Run& run, ns_pages& pages, const std::vector<std::size_t>& nodes_used);
    SegmentCosts(const SegmentCosts&) = delete;

    // Times at full speed, and if all bytes were local. What a segment moves is a row of `columns` bytes: by kind and
    // home in a coupled run, else by home; nothing where no segment moves any.
    const SegmentTimes& times() const { return times_; }
    std::size_t columns() const { return columns_; }

    // [segments] what they take on a node at this speed.
    std::vector<std::int64_t> nominal_ps(std::size_t node, const Speed& speed) const;

private:
    void price(const Run& run, ns_pages& pages, std::size_t node);
    void count_traffic(const Traffic& traffic, std::size_t node, std::size_t segment);

    const Plan& plan_;
    std::size_t columns_;
    SegmentTimes times_;
    std::vector<std::vector<std::int64_t>> wait_ps_, total_ps_, local_ps_;  // [nodes] of a coupled run with accesses
    std::vector<ns_i64s> totals_, locals_;                                  // [nodes] the same
    std::vector<std::int64_t> traffic_;                                     // [segments, columns] likewise
};

}  // namespace numasim
