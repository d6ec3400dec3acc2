// What children will be read for is fetched while their parent works: their programs, segments and accesses.
//
// It is a chain of four look-ups, each of them a likely miss in the caches of the machine that simulates. Every child
// that is foreseen takes those before it one look-up further, so that none of them waits for the one before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/access_prices.hpp"
#include "plan.hpp"

namespace numasim {

class TaskPrefetch {
public:
    TaskPrefetch(const Graph& graph, const AccessPrices& memory) : graph_(graph), memory_(memory) {}

    // A task will be spawned before long.
    void expect(std::uint32_t row) {
        __builtin_prefetch(graph_.op_ptr.data() + row);
        __builtin_prefetch(graph_.kind.data() + row);
        chain_[at_] = row;
        find_op(chain_[(at_ - APART) % CHILDREN]);
        find_segment(chain_[(at_ - 2 * APART) % CHILDREN]);
        memory_.prefetch_accesses(chain_[(at_ - 3 * APART) % CHILDREN]);
        at_ = (at_ + 1) % CHILDREN;
    }

private:
    static constexpr std::size_t APART = 4, CHILDREN = 4 * APART;

    // The first op of a row.
    void find_op(std::uint32_t& entry) const {
        entry = static_cast<std::uint32_t>(graph_.op_ptr[entry]);
        __builtin_prefetch(graph_.op_code.data() + entry);
        __builtin_prefetch(graph_.op_arg.data() + entry);
    }

    // The segment that an op runs; where it does something else, any.
    void find_segment(std::uint32_t& entry) const {
        const bool runs = entry < graph_.op_code.size() && graph_.op_code[entry] == RUN;
        entry = runs ? graph_.op_arg[entry] : 0;
        memory_.prefetch(entry);
    }

    const Graph& graph_;
    const AccessPrices& memory_;
    std::array<std::uint32_t, CHILDREN> chain_{};  // rows, then ops, then segments
    std::size_t at_ = 0;
};

}  // namespace numasim
