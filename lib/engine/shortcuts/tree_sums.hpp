// What whole subtrees of a task graph amount to, at whatever pace: local time, tasks, bytes, longest chain (model 1.7).
//
// Children's rows are higher than their parents', so one pass from the last row up sees every child before its parents;
// it does not matter whether a row is one task or stands for all equal subtrees. WAIT ops divide a program into groups;
// the last group ends with the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan.hpp"

namespace numasim {

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
    void check_op(std::size_t row, std::uint8_t code, std::uint32_t arg, const SegmentTimes& times) const;
    void divide();
    Sums spans_ps(I64s segment_ps) const;
    Sums traffic_sums(I64s traffic) const;

    const Graph& graph_;
    std::size_t columns_, rows_;
    Sums first_group_;  // [rows + 1]
    Sums group_end_;    // [groups]
    Sums tasks_, span_ps_;
    Sums traffic_;                                       // [rows * columns] or empty
    std::vector<std::shared_ptr<const Sums>> local_ps_;  // [nodes], shared by nodes with equal times
};

}  // namespace numasim
