// From the dict that numasim/engine/native.py makes to a Plan in which every index is in bounds.
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// What is computed from the arrays of a plan.
struct Computed {
    std::vector<std::int64_t> size, child;
    std::vector<std::uint32_t> segments, segment;  // [rows] of the subtree, [ops]
    std::vector<std::uint64_t> mask;               // [segments of the strategy][words]
};

// The arrays of the plan live as long as `reader` and `computed`. Throws BadPlan.
Plan read_plan(Reader& reader, Computed& computed);

}  // namespace numasim
