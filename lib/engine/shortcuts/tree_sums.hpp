// Sums over the subtrees of a task graph, for runs that skip ahead (model 1.7).
//
// Rows of children are higher than the rows of their parents. A pass from the last row to the first therefore sees all
// children before their parents, also if a row stands for several equal subtrees. The WAIT ops of a task's program
// divide its ops into groups. The last group ends with the program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "checked.hpp"
#include "longest_chains.hpp"
#include "memory/access_prices.hpp"
#include "memory/speeds.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

// The times and bytes of the segments of a graph. Only the speeds of workers can change these times.
class SegmentCosts {
public:
    // The arguments must outlive the object. `nodes_used` are the nodes that have workers.
    SegmentCosts(const Run& run, ns_pages& pages, const std::vector<std::size_t>& nodes_used)
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

    SegmentCosts(const SegmentCosts&) = delete;

    // The times at full speed, and the times if all bytes were local. `traffic` has a row of `columns` numbers for each
    // segment: bytes by kind of traffic and home in a coupled run, else by home. It is empty if no segment moves bytes.
    const SegmentTimes& times() const { return times_; }
    std::size_t columns() const { return columns_; }

    // [segments] the times of segments for a worker of `node` with this speed.
    std::vector<std::int64_t> nominal_ps(std::size_t node, const Speed& speed) const {
        std::vector<std::int64_t> nominal(plan_.times.total[node].begin(), plan_.times.total[node].end());
        if (!plan_.effects.coupled) return nominal;
        for (std::size_t segment = 0; segment < nominal.size(); ++segment) {
            const std::int64_t wait_ps = wait_ps_[node].empty() ? 0 : wait_ps_[node][segment];
            const Price price{.compute_ps = plan_.effects.segments.compute_ps[segment], .wait_ps = wait_ps};
            nominal[segment] = numasim::nominal_ps(plan_.effects, price, speed);
        }
        return nominal;
    }

private:
    // Price every segment for a worker of `node`. Any order will do: there are no caches, and homes are known.
    void price(const Run& run, ns_pages& pages, std::size_t node) {
        const AccessTable& table = run.prepared.accesses;
        Traffic traffic(plan_.nodes);
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

    // Keep the bytes that a segment moves, which are the same on all nodes.
    void count_traffic(const Traffic& traffic, std::size_t node, std::size_t segment) {
        const std::size_t nodes = plan_.nodes;
        for (std::size_t kind = 0; kind < TRAFFIC_KINDS; ++kind) {
            std::copy_n(traffic.bytes[kind].begin() + static_cast<std::ptrdiff_t>(node * nodes), nodes,
                        traffic_.begin() + static_cast<std::ptrdiff_t>(segment * columns_ + kind * nodes));
        }
    }

    const Plan& plan_;
    std::size_t columns_;
    SegmentTimes times_;
    std::vector<std::vector<std::int64_t>> wait_ps_, total_ps_,
        local_ps_;                          // [nodes][segments] in a coupled run with accesses
    std::vector<ns_i64s> totals_, locals_;  // [nodes] views of `total_ps_` and `local_ps_`
    std::vector<std::int64_t> traffic_;     // [segments, columns] in a coupled run
};

// Call `visit(code, arg)` for the ops of a row, from the first to the last.
template <typename Visit>
void each_op(const Graph& graph, std::size_t row, Visit visit) {
    const auto end = static_cast<std::size_t>(graph.op_ptr[row + 1]);
    for (auto op = static_cast<std::size_t>(graph.op_ptr[row]); op < end; ++op) {
        visit(graph.op_code[op], graph.op_arg[op]);
    }
}

// The groups of ops of all rows. The tasks, bytes and longest chain of each subtree, which are the same on all nodes.
class TreeSums {
public:
    // Segment s moves the bytes in row s of `traffic`, which has `columns` columns; none if `traffic` is empty.
    // `local_ps` are the times of segments if all bytes were local. Throws std::overflow_error for sums beyond 63 bits.
    TreeSums(const Graph& graph, I64s local_ps, I64s traffic, std::size_t columns)
        : columns_(columns),
          tasks_(static_cast<std::size_t>(graph.rows)),
          span_ps_(subtree_chains_ps(graph, local_ps.data())),
          traffic_(traffic.empty() ? 0 : tasks_.size() * columns) {
        divide(graph);
        add_up(graph, traffic);
    }

    std::size_t groups() const { return group_end_.size(); }

    std::int64_t first_group(std::uint32_t row) const { return first_group_[row]; }

    // The op that ends a group: its WAIT op, or the end of the program.
    std::int64_t group_end(std::int64_t group) const { return group_end_[static_cast<std::size_t>(group)]; }

    bool is_last_group(std::uint32_t row, std::int64_t group) const { return group + 1 == first_group_[row + 1]; }

    std::int64_t tasks(std::uint32_t row) const { return tasks_[row]; }
    std::int64_t span_ps(std::uint32_t row) const { return span_ps_[row]; }

    // [columns] the bytes of a subtree, if segments move bytes.
    const std::int64_t* traffic(std::uint32_t row) const { return traffic_.data() + row * columns_; }

private:
    void divide(const Graph& graph) {
        first_group_.reserve(tasks_.size() + 1);
        for (std::size_t row = 0; row < tasks_.size(); ++row) {
            first_group_.push_back(static_cast<std::int64_t>(group_end_.size()));
            std::int64_t op = graph.op_ptr[row];
            each_op(graph, row, [&](std::uint8_t code, std::uint32_t) {
                if (code == WAIT) group_end_.push_back(op);
                ++op;
            });
            group_end_.push_back(op);
        }
        first_group_.push_back(static_cast<std::int64_t>(group_end_.size()));
    }

    // Add up the tasks and the bytes of each subtree.
    void add_up(const Graph& graph, I64s traffic) {
        for (std::size_t row = tasks_.size(); row-- > 0;) {
            tasks_[row] = graph.kind[row] == TASK;
            each_op(graph, row, [&](std::uint8_t code, std::uint32_t arg) {
                if (code == WAIT) return;
                if (code != RUN) tasks_[row] = sum_ps(tasks_[row], tasks_[arg]);
                if (traffic_.empty()) return;
                std::int64_t* const whole = &traffic_[row * columns_];
                const std::int64_t* const part = (code == RUN ? traffic.data() : traffic_.data()) + arg * columns_;
                for (std::size_t column = 0; column < columns_; ++column) {
                    whole[column] = sum_ps(whole[column], part[column]);
                }
            });
        }
    }

    std::size_t columns_;
    std::vector<std::int64_t> first_group_;      // [rows + 1]
    std::vector<std::int64_t> group_end_;        // [groups]
    std::vector<std::int64_t> tasks_, span_ps_;  // [rows]
    std::vector<std::int64_t> traffic_;          // [rows * columns] or empty
};

// Sums of times over subtrees and over parts of programs at one pace. A pace is the times of all segments for a worker
// of one node at one speed (model 1.7 and 2.6).
class PaceSums {
public:
    // The arguments must outlive the object. Throws std::overflow_error for sums beyond 63 bits.
    PaceSums(const Graph& graph, const TreeSums& sums, std::vector<std::int64_t> segment_ps)
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

    const std::vector<std::int64_t>& segments_ps() const { return segment_ps_; }
    std::int64_t segment_ps(std::uint32_t segment) const { return segment_ps_[segment]; }

    // `rest_ps`: the serial time from the start of a group to the end of its program. `serial_ps`: of a whole subtree.
    std::int64_t rest_ps(std::int64_t group) const { return rest_ps_[static_cast<std::size_t>(group)]; }
    std::int64_t serial_ps(std::uint32_t row) const { return rest_ps(sums_.first_group(row)); }

    // The serial time of the ops `begin` to `end` - 1 of one group; below, of the children that these ops spawn.
    std::int64_t ops_ps(std::int64_t begin, std::int64_t end) const {
        return sum(begin, end, &RunningSums::of_ops, [this](std::int64_t op) { return op_ps(op); });
    }

    std::int64_t children_ps(std::int64_t begin, std::int64_t end) const {
        return sum(begin, end, &RunningSums::of_children, [this](std::int64_t op) { return child_ps(op); });
    }

private:
    // Prefix sums over all ops, of which every `BETWEEN`-th is kept. A sum may exceed 63 bits; a difference does not.
    struct RunningSums {
        std::vector<std::uint64_t> of_ops, of_children;
    };

    static constexpr std::int64_t BETWEEN = 16;

    std::int64_t op_ps(std::int64_t op) const {
        const auto at = static_cast<std::size_t>(op);
        return graph_.op_code[at] == RUN ? segment_ps_[graph_.op_arg[at]] : child_ps(op);
    }

    std::int64_t child_ps(std::int64_t op) const {
        const auto at = static_cast<std::size_t>(op);
        return graph_.op_code[at] == SPAWN ? serial_ps(graph_.op_arg[at]) : 0;
    }

    const RunningSums& running() const {
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
        running_->of_ops.push_back(of_ops);  // the sum over all ops
        running_->of_children.push_back(of_children);
        return *running_;
    }

    // A sum over few ops is computed op by op. For many ops, kept prefix sums cover all but a few ops at both ends.
    template <typename OfOp>
    std::int64_t sum(std::int64_t begin, std::int64_t end, std::vector<std::uint64_t> RunningSums::* kept,
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

    const Graph& graph_;
    const TreeSums& sums_;
    const std::vector<std::int64_t> segment_ps_;
    std::vector<std::int64_t> rest_ps_;             // [groups]
    mutable std::unique_ptr<RunningSums> running_;  // computed when it is first needed
};

// The paces of a run. Paces with equal times for every segment share one `PaceSums`.
class Paces {
public:
    Paces(const Graph& graph, const TreeSums& sums, const SegmentCosts& costs)
        : graph_(graph), sums_(sums), costs_(costs) {}

    // The pace for a worker of `node` with this speed; below, the pace with these times of segments.
    const PaceSums& at(std::size_t node, const Speed& speed) {
        const PaceSums*& pace = by_speed_[{node, speed.compute_ppm, speed.memory_ppm}];
        if (pace == nullptr) pace = &of(costs_.nominal_ps(node, speed));
        return *pace;
    }

    const PaceSums& of(std::vector<std::int64_t> segment_ps) {
        const auto same =
            std::ranges::find_if(made_, [&](const auto& each) { return each->segments_ps() == segment_ps; });
        if (same != made_.end()) return **same;
        return *made_.emplace_back(std::make_unique<const PaceSums>(graph_, sums_, std::move(segment_ps)));
    }

private:
    const Graph& graph_;
    const TreeSums& sums_;
    const SegmentCosts& costs_;
    std::vector<std::unique_ptr<const PaceSums>> made_;
    std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, const PaceSums*> by_speed_;
};

}  // namespace numasim
