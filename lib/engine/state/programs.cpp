#include "state/programs.hpp"

namespace numasim {

// A plan that skips ahead adds up whole trees, and never goes through a program.
Programs::Programs(const Plan& plan) {
    const Graph& graph = plan.graph;
    if (plan.skipping) return;
    const std::size_t rows = graph.kind.size(), ops = graph.op_code.size();
    first_.reserve(rows);
    ops_.reserve(ops + rows);
    args_.reserve(ops + rows);
    for (std::size_t row = 0; row < rows; ++row) {
        first_.push_back(static_cast<std::uint32_t>(ops_.size()));
        const std::int64_t first = graph.op_ptr[row], end = graph.op_ptr[row + 1];
        ops_.insert(ops_.end(), graph.op_code.begin() + first, graph.op_code.begin() + end);
        args_.insert(args_.end(), graph.op_arg.begin() + first, graph.op_arg.begin() + end);
        ops_.push_back(END);
        args_.push_back(graph.kind[row]);
    }
}

}  // namespace numasim
