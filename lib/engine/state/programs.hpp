// The programs of a plan's tasks as the engine goes through them: op after op, an END behind each program.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

constexpr std::uint8_t END = NS_OP_END;

struct Instruction {
    std::uint8_t op;    // an Op or END,
    std::uint32_t arg;  // and what that is about; of an END, the Kind of the task
};

class Programs {
public:
    explicit Programs(const Plan& plan);

    // The number of a program's first instruction.
    std::uint32_t first(std::uint32_t row) const { return first_[row]; }
    Instruction instruction(std::uint32_t at) const { return {ops_[at], args_[at]}; }

    // The number among the graph's ops of instruction `at`, which is of the program of `row`.
    static std::size_t op_of(std::uint32_t at, std::uint32_t row) { return at - row; }

    // It will be asked for before long.
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
