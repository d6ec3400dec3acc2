#include "shortcuts/pace_sums.hpp"

#include <algorithm>

#include "checked.hpp"

namespace numasim {

PaceSums::PaceSums(const Graph& graph, const TreeSums& sums, std::vector<std::int64_t> segment_ps)
    : graph_(graph), sums_(sums), segment_ps_(std::move(segment_ps)), rest_ps_(sums.groups()) {
    for (auto row = static_cast<std::size_t>(graph.rows); row-- > 0;) {
        const auto first = static_cast<std::size_t>(sums.first_group(static_cast<std::uint32_t>(row)));
        std::size_t group = first;
        each_op(graph, row, [&](std::uint8_t code, std::uint32_t arg) {
            if (code == WAIT) {
                ++group;
            } else {
                rest_ps_[group] = sum_ps(rest_ps_[group], code == RUN ? segment_ps_[arg] : serial_ps(arg));
            }
        });
        for (; group > first; --group) rest_ps_[group - 1] = sum_ps(rest_ps_[group - 1], rest_ps_[group]);
    }
}

std::int64_t PaceSums::ops_ps(std::int64_t begin, std::int64_t end) const {
    return sum(begin, end, &RunningSums::of_ops, [this](std::int64_t op) { return op_ps(op); });
}

std::int64_t PaceSums::children_ps(std::int64_t begin, std::int64_t end) const {
    return sum(begin, end, &RunningSums::of_children, [this](std::int64_t op) { return child_ps(op); });
}

std::int64_t PaceSums::op_ps(std::int64_t op) const {
    const auto at = static_cast<std::size_t>(op);
    return graph_.op_code[at] == RUN ? segment_ps_[graph_.op_arg[at]] : child_ps(op);
}

std::int64_t PaceSums::child_ps(std::int64_t op) const {
    const auto at = static_cast<std::size_t>(op);
    return graph_.op_code[at] == SPAWN ? serial_ps(graph_.op_arg[at]) : 0;
}

// Few ops are added up; of many, those that lie between two running sums are not looked at.
template <typename OfOp>
std::int64_t PaceSums::sum(std::int64_t begin, std::int64_t end, std::vector<std::uint64_t> RunningSums::* kept,
                           OfOp of_op) const {
    const auto add_up = [&](std::int64_t from, std::int64_t to) {
        std::uint64_t total = 0;
        for (std::int64_t op = from; op < to; ++op) total += static_cast<std::uint64_t>(of_op(op));
        return total;
    };
    if (end - begin <= 2 * BETWEEN) return static_cast<std::int64_t>(add_up(begin, end));
    const std::vector<std::uint64_t>& sums = running().*kept;
    const auto before = [&](std::int64_t op) {
        return sums[static_cast<std::size_t>(op / BETWEEN)] + add_up(op / BETWEEN * BETWEEN, op);
    };
    return static_cast<std::int64_t>(before(end) - before(begin));
}

const PaceSums::RunningSums& PaceSums::running() const {
    if (running_) return *running_;
    running_ = std::make_unique<RunningSums>();
    std::uint64_t of_ops = 0, of_children = 0;
    for (std::int64_t op = 0; op < static_cast<std::int64_t>(graph_.op_code.size()); ++op) {
        if (op % BETWEEN == 0) {
            running_->of_ops.push_back(of_ops);
            running_->of_children.push_back(of_children);
        }
        of_ops += static_cast<std::uint64_t>(op_ps(op));
        of_children += static_cast<std::uint64_t>(child_ps(op));
    }
    running_->of_ops.push_back(of_ops);  // an end that is a multiple comes here too
    running_->of_children.push_back(of_children);
    return *running_;
}

const PaceSums& Paces::at(std::size_t node, const Speed& speed) {
    std::shared_ptr<const PaceSums>& pace = paces_[{node, speed.compute_ppm, speed.memory_ppm}];
    if (pace) return *pace;
    std::vector<std::int64_t> segment_ps = costs_.nominal_ps(node, speed);
    for (const auto& [where, other] : paces_) {
        if (other && other->segments_ps() == segment_ps) pace = other;
    }
    if (!pace) pace = std::make_shared<const PaceSums>(graph_, sums_, std::move(segment_ps));
    return *pace;
}

}  // namespace numasim
