#include "shortcuts/tree_sums.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "checked.hpp"

namespace numasim {

namespace {

// For each of `nodes_used` what `make` makes of its times; nodes with equal times share it.
std::vector<std::shared_ptr<const TreeSums::Sums>> by_node(const ns_i64_lists& times,
                                                           const std::vector<std::size_t>& nodes_used,
                                                           const std::function<TreeSums::Sums(I64s)>& make) {
    std::vector<std::shared_ptr<const TreeSums::Sums>> made(times.size());
    for (const std::size_t node : nodes_used) {
        const auto same = std::find_if(nodes_used.begin(), nodes_used.end(), [&](std::size_t other) {
            return made[other] && std::ranges::equal(times[node], times[other]);
        });
        made[node] = same != nodes_used.end() ? made[*same] : std::make_shared<const TreeSums::Sums>(make(times[node]));
    }
    return made;
}

}  // namespace

TreeSums::TreeSums(const Graph& graph, const SegmentTimes& times, std::size_t columns,
                   const std::vector<std::size_t>& nodes_used)
    : graph_(graph), columns_(columns), rows_(static_cast<std::size_t>(graph.rows)) {
    for (std::size_t row = 0; row < rows_; ++row) {
        each_op(graph_, row, [&](std::uint8_t code, std::uint32_t arg) { check_op(row, code, arg, times); });
    }
    divide();
    const auto nothing = [](std::size_t) { return std::int64_t{0}; };
    local_ps_ = by_node(times.local, nodes_used, [&](I64s segment_ps) {
        return add_up(nothing, [&](std::size_t segment) { return segment_ps[segment]; });
    });
    tasks_ = add_up([this](std::size_t row) { return std::int64_t{graph_.kind[row] == TASK}; }, nothing);
    span_ps_ = spans_ps(times.local[nodes_used.front()]);
    if (!times.traffic.empty()) traffic_ = traffic_sums(times.traffic);
}

void TreeSums::check_op(std::size_t row, std::uint8_t code, std::uint32_t arg, const SegmentTimes& times) const {
    const bool valid = code == RUN     ? arg < static_cast<std::uint64_t>(times.segments)
                       : code == SPAWN ? arg > row && arg < rows_
                                       : code == WAIT;
    if (!valid) throw std::invalid_argument("a program that cannot be skipped over: an op is out of place");
}

void TreeSums::divide() {
    first_group_.reserve(rows_ + 1);
    for (std::size_t row = 0; row < rows_; ++row) {
        first_group_.push_back(static_cast<std::int64_t>(group_end_.size()));
        std::int64_t op = graph_.op_ptr[row];
        each_op(graph_, row, [&](std::uint8_t code, std::uint32_t) {
            if (code == WAIT) group_end_.push_back(op);
            ++op;
        });
        group_end_.push_back(op);
    }
    first_group_.push_back(static_cast<std::int64_t>(group_end_.size()));
}

// [rows] the sums over each subtree of what a row has by itself and of what its segments have.
template <typename OfRow, typename OfSegment>
TreeSums::Sums TreeSums::add_up(OfRow of_row, OfSegment of_segment) const {
    Sums sums(rows_);
    for (std::size_t row = rows_; row-- > 0;) {
        sums[row] = of_row(row);
        each_op(graph_, row, [&](std::uint8_t code, std::uint32_t arg) {
            if (code != WAIT) sums[row] = sum_ps(sums[row], code == RUN ? of_segment(arg) : sums[arg]);
        });
    }
    return sums;
}

TreeSums::Sums TreeSums::spans_ps(I64s segment_ps) const {
    Sums span(rows_);
    for (std::size_t row = rows_; row-- > 0;) {
        std::int64_t path = 0, joined = 0;
        each_op(graph_, row, [&](std::uint8_t code, std::uint32_t arg) {
            if (code == RUN) path = sum_ps(path, segment_ps[arg]);
            if (code == SPAWN) joined = std::max(joined, sum_ps(path, span[arg]));
            if (code == WAIT) path = std::max(path, joined);
        });
        span[row] = std::max(path, joined);
    }
    return span;
}

TreeSums::Sums TreeSums::traffic_sums(I64s traffic) const {
    Sums sums(rows_ * columns_);
    for (std::size_t row = rows_; row-- > 0;) {
        std::int64_t* const whole = &sums[row * columns_];
        each_op(graph_, row, [&](std::uint8_t code, std::uint32_t arg) {
            if (code == WAIT) return;
            const std::int64_t* const part = (code == RUN ? traffic.data() : sums.data()) + arg * columns_;
            for (std::size_t column = 0; column < columns_; ++column)
                whole[column] = sum_ps(whole[column], part[column]);
        });
    }
    return sums;
}

}  // namespace numasim
