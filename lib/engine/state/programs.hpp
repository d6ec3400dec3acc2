// The programs of a plan's tasks as one sequence of instructions. Each program is followed by an END.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

constexpr std::uint8_t END = NS_OP_END;

struct Instruction {
    std::uint8_t op;    // an Op or END
    std::uint32_t arg;  // the op's argument; for END the Kind of the task
};

class Programs {
public:
    // If the plan skips ahead, there are no programs: the engine needs only sums over trees.
    explicit Programs(const Plan& plan) {
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

    // The number of a program's first instruction.
    std::uint32_t first(std::uint32_t row) const { return first_[row]; }
    Instruction instruction(std::uint32_t at) const { return {ops_[at], args_[at]}; }

    // The number, among the ops of the graph, of instruction number `at`, which is in the program of `row`.
    static std::size_t op_of(std::uint32_t at, std::uint32_t row) { return at - row; }

    // Prefetch a row that will soon be read; an instruction that will soon be read.
    void expect(std::uint32_t row) const { __builtin_prefetch(first_.data() + row); }
    void expect_instruction(std::uint32_t at) const {
        __builtin_prefetch(ops_.data() + at);
        __builtin_prefetch(args_.data() + at);
    }

private:
    std::vector<std::uint32_t> first_;  // [rows]
    std::vector<std::uint8_t> ops_;     // [ops + rows]
    std::vector<std::uint32_t> args_;   // [ops + rows]
};

}  // namespace numasim
