// What children will be read for is fetched while their parent works: their programs, segments and accesses.
//
// It is a chain of four look-ups, each of them a likely miss in the caches of the machine that simulates. Every child
// that is foreseen takes those before it one look-up further, so that none of them waits for the one before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/access_table.hpp"
#include "state/programs.hpp"

namespace numasim {

class TaskPrefetch {
public:
    TaskPrefetch(const Programs& programs, const AccessTable& accesses) : programs_(programs), accesses_(accesses) {}

    // A task will be spawned before long.
    void expect(std::uint32_t row) {
        programs_.expect(row);
        chain_[at_] = row;
        find_op(chain_[(at_ - APART) % CHILDREN]);
        find_segment(chain_[(at_ - 2 * APART) % CHILDREN]);
        accesses_.prefetch_accesses(chain_[(at_ - 3 * APART) % CHILDREN]);
        at_ = (at_ + 1) % CHILDREN;
    }

private:
    static constexpr std::size_t APART = 4, CHILDREN = 4 * APART;

    // The first op of a row.
    void find_op(std::uint32_t& entry) const {
        entry = programs_.first(entry);
        programs_.expect_instruction(entry);
    }

    // The segment that an op runs; where it does something else, any.
    void find_segment(std::uint32_t& entry) const {
        const Instruction first = programs_.instruction(entry);
        entry = first.op == RUN ? first.arg : 0;
        accesses_.prefetch(entry);
    }

    const Programs& programs_;
    const AccessTable& accesses_;
    std::array<std::uint32_t, CHILDREN> chain_{};  // rows, then ops, then segments
    std::size_t at_ = 0;
};

}  // namespace numasim
