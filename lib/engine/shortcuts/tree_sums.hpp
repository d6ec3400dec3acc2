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

// What the segments of a task graph take and move where no event but a change of speeds changes that (model 1.7).

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

// What whole subtrees of a task graph amount to, at whatever pace: local time, tasks, bytes, longest chain (model 1.7).
//
// Children's rows are higher than their parents', so one pass from the last row up sees every child before its parents;
// it does not matter whether a row is one task or stands for all equal subtrees. WAIT ops divide a program into groups;
// the last group ends with the program.

// Call `visit(code, arg)` for the ops of a row, from the first to the last.
template <typename Visit>
void each_op(const Graph& graph, std::size_t row, Visit visit) {
    const auto end = static_cast<std::size_t>(graph.op_ptr[row + 1]);
    for (auto op = static_cast<std::size_t>(graph.op_ptr[row]); op < end; ++op) {
        visit(graph.op_code[op], graph.op_arg[op]);
    }
}

class TreeSums {
public:
    using Sums = std::vector<std::int64_t>;

    // `columns` numbers say what a segment moves; `nodes_used` are the nodes that have workers. Throws
    // std::invalid_argument for a program that spawns rows before its own or calls tasks, std::overflow_error where
    // sums pass 63 bits.
    TreeSums(const Graph& graph, const SegmentTimes& times, std::size_t columns,
             const std::vector<std::size_t>& nodes_used);

    std::size_t groups() const { return group_end_.size(); }

    std::int64_t first_group(std::uint32_t row) const { return first_group_[row]; }

    // The op that ends a group: its WAIT, or the end of the program.
    std::int64_t group_end(std::int64_t group) const { return group_end_[static_cast<std::size_t>(group)]; }

    bool is_last_group(std::uint32_t row, std::int64_t group) const { return group + 1 == first_group_[row + 1]; }

    // [rows] serial time of each subtree if all bytes were local.
    const std::int64_t* local_ps(std::size_t node) const { return local_ps_[node]->data(); }

    std::int64_t tasks(std::uint32_t row) const { return tasks_[row]; }
    std::int64_t span_ps(std::uint32_t row) const { return span_ps_[row]; }

    // [columns] what a subtree moves, where segments move anything.
    const std::int64_t* traffic(std::uint32_t row) const { return traffic_.data() + row * columns_; }

private:
    template <typename OfRow, typename OfSegment>
    Sums add_up(OfRow of_row, OfSegment of_segment) const;
    void divide();
    Sums traffic_sums(I64s traffic) const;

    const Graph& graph_;
    std::size_t columns_, rows_;
    Sums first_group_;  // [rows + 1]
    Sums group_end_;    // [groups]
    Sums tasks_, span_ps_;
    Sums traffic_;                                       // [rows * columns] or empty
    std::vector<std::shared_ptr<const Sums>> local_ps_;  // [nodes], shared by nodes with equal times
};

// What whole subtrees of a task graph, and parts of programs, take a worker at its pace: on its node, at its speed
// (model 1.7 and 2.6).

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
