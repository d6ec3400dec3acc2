// Sums over the subtrees of a task graph, for runs that skip ahead (model 1.7).
//
// Rows of children are higher than the rows of their parents. One pass from the last row up therefore sees all children
// before their parents, whether a row is one task or stands for all equal subtrees. The WAIT ops of a program divide it
// into groups of ops. The last group ends with the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "memory/access_prices.hpp"
#include "memory/speeds.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

// What the segments of a graph take and move, if only changes of speed can change that.
class SegmentCosts {
public:
    // The arguments must outlive the object. `nodes_used` are the nodes that have workers.
    SegmentCosts(const Run& run, ns_pages& pages, const std::vector<std::size_t>& nodes_used);
    SegmentCosts(const SegmentCosts&) = delete;

    // The times at full speed, and the times if all bytes were local. `traffic` has a row of `columns` numbers for each
    // segment: bytes by kind and home in a coupled run, else by home. It is empty if no segment moves bytes.
    const SegmentTimes& times() const { return times_; }
    std::size_t columns() const { return columns_; }

    // [segments] the times of segments on a node at this speed.
    std::vector<std::int64_t> nominal_ps(std::size_t node, const Speed& speed) const;

private:
    void price(const Run& run, ns_pages& pages, std::size_t node);
    void count_traffic(const Traffic& traffic, std::size_t node, std::size_t segment);

    const Plan& plan_;
    std::size_t columns_;
    SegmentTimes times_;
    std::vector<std::vector<std::int64_t>> wait_ps_, total_ps_,
        local_ps_;                          // [nodes][segments] in a coupled run with accesses
    std::vector<ns_i64s> totals_, locals_;  // [nodes] views of the same
    std::vector<std::int64_t> traffic_;     // [segments, columns] likewise
};

// Call `visit(code, arg)` for the ops of a row, from the first to the last.
template <typename Visit>
void each_op(const Graph& graph, std::size_t row, Visit visit) {
    const auto end = static_cast<std::size_t>(graph.op_ptr[row + 1]);
    for (auto op = static_cast<std::size_t>(graph.op_ptr[row]); op < end; ++op) {
        visit(graph.op_code[op], graph.op_arg[op]);
    }
}

// The groups of ops of all rows, and sums over subtrees that are the same on all nodes: tasks, bytes, longest chain.
class TreeSums {
public:
    // Segment s moves row s of `traffic`, `columns` numbers; nothing if `traffic` is empty. `local_ps` are the times of
    // segments if all bytes were local. Throws std::overflow_error for sums beyond 63 bits.
    TreeSums(const Graph& graph, I64s local_ps, I64s traffic, std::size_t columns);

    std::size_t groups() const { return group_end_.size(); }

    std::int64_t first_group(std::uint32_t row) const { return first_group_[row]; }

    // The op that ends a group: its WAIT op, or the end of the program.
    std::int64_t group_end(std::int64_t group) const { return group_end_[static_cast<std::size_t>(group)]; }

    bool is_last_group(std::uint32_t row, std::int64_t group) const { return group + 1 == first_group_[row + 1]; }

    std::int64_t tasks(std::uint32_t row) const { return tasks_[row]; }
    std::int64_t span_ps(std::uint32_t row) const { return span_ps_[row]; }

    // [columns] what a subtree moves, if segments move bytes.
    const std::int64_t* traffic(std::uint32_t row) const { return traffic_.data() + row * columns_; }

private:
    void divide(const Graph& graph);
    void add_up(const Graph& graph, I64s traffic);

    std::size_t columns_;
    std::vector<std::int64_t> first_group_;      // [rows + 1]
    std::vector<std::int64_t> group_end_;        // [groups]
    std::vector<std::int64_t> tasks_, span_ps_;  // [rows]
    std::vector<std::int64_t> traffic_;          // [rows * columns] or empty
};

// Sums of times over subtrees, and over parts of programs, at one pace: on one node at one speed (model 1.7 and 2.6).
class PaceSums {
public:
    // The arguments must outlive the object. Throws std::overflow_error for sums beyond 63 bits.
    PaceSums(const Graph& graph, const TreeSums& sums, std::vector<std::int64_t> segment_ps);

    const std::vector<std::int64_t>& segments_ps() const { return segment_ps_; }
    std::int64_t segment_ps(std::uint32_t segment) const { return segment_ps_[segment]; }

    // The serial time from the start of a group to the end of its program; the serial time of a whole subtree.
    std::int64_t rest_ps(std::int64_t group) const { return rest_ps_[static_cast<std::size_t>(group)]; }
    std::int64_t serial_ps(std::uint32_t row) const { return rest_ps(sums_.first_group(row)); }

    // The serial time of the ops `begin` to `end` - 1 of one group; that of the children alone that these ops spawn.
    std::int64_t ops_ps(std::int64_t begin, std::int64_t end) const;
    std::int64_t children_ps(std::int64_t begin, std::int64_t end) const;

private:
    // Prefix sums over all ops. One of every `BETWEEN` is kept. They may exceed 63 bits, but their differences do not.
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
    mutable std::unique_ptr<RunningSums> running_;  // computed when it is first needed
};

// The paces of a run. Paces at which every segment takes equally long share their sums.
class Paces {
public:
    Paces(const Graph& graph, const TreeSums& sums, const SegmentCosts& costs)
        : graph_(graph), sums_(sums), costs_(costs) {}

    // The pace on a node at this speed; the pace at which segments take these times.
    const PaceSums& at(std::size_t node, const Speed& speed);
    const PaceSums& of(std::vector<std::int64_t> segment_ps);

private:
    const Graph& graph_;
    const TreeSums& sums_;
    const SegmentCosts& costs_;
    std::vector<std::unique_ptr<const PaceSums>> made_;
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, const PaceSums*> by_speed_;
};

}  // namespace numasim
