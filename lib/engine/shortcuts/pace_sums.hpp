// What whole subtrees of a task graph, and parts of programs, take a worker at its pace: on its node, at its speed
// (model 1.7 and 2.6).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "plan.hpp"
#include "shortcuts/segment_costs.hpp"
#include "shortcuts/tree_sums.hpp"

namespace numasim {

class PaceSums {
public:
    // The arguments must outlive the object. Throws std::overflow_error where sums pass 63 bits.
    PaceSums(const Graph& graph, const TreeSums& sums, std::vector<std::int64_t> segment_ps);

    const std::vector<std::int64_t>& segments_ps() const { return segment_ps_; }
    std::int64_t segment_ps(std::uint32_t segment) const { return segment_ps_[segment]; }

    // The serial time from the start of a group to the end of its program, and of a whole subtree.
    std::int64_t rest_ps(std::int64_t group) const { return rest_ps_[static_cast<std::size_t>(group)]; }
    std::int64_t serial_ps(std::uint32_t row) const { return rest_ps(sums_.first_group(row)); }

    // The serial time of the ops of one group from `begin` to before `end`, and of the children alone that they spawn.
    std::int64_t ops_ps(std::int64_t begin, std::int64_t end) const;
    std::int64_t children_ps(std::int64_t begin, std::int64_t end) const;

private:
    // Running sums over all ops, of which one in `BETWEEN` is kept. They may pass 63 bits; their differences do not.
    struct RunningSums {
        std::vector<std::uint64_t> of_ops, of_children;
    };

    static constexpr std::int64_t BETWEEN = 16;

    std::int64_t op_ps(std::int64_t op) const;
    std::int64_t child_ps(std::int64_t op) const;
    const RunningSums& running() const;
    template <typename OfOp>
    std::int64_t sum(std::int64_t begin, std::int64_t end, std::vector<std::uint64_t> RunningSums::* kept,
                     OfOp of_op) const;

    const Graph& graph_;
    const TreeSums& sums_;
    const std::vector<std::int64_t> segment_ps_;
    std::vector<std::int64_t> rest_ps_;             // [groups]
    mutable std::unique_ptr<RunningSums> running_;  // once it is asked for
};

// The paces of a run. Two at which every segment takes equally long are one.
class Paces {
public:
    Paces(const Graph& graph, const TreeSums& sums, const SegmentCosts& costs)
        : graph_(graph), sums_(sums), costs_(costs) {}

    const PaceSums& at(std::size_t node, const Speed& speed);

private:
    const Graph& graph_;
    const TreeSums& sums_;
    const SegmentCosts& costs_;
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::shared_ptr<const PaceSums>> paces_;
};

}  // namespace numasim
