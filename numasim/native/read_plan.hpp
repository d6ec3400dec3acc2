// From the dict that numasim/engine/native.py makes to a Plan in which every index is in bounds.
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// What is computed from a graph's arrays.
struct GraphNumbers {
    std::vector<std::int64_t> size, child;
};

// The arrays of the plan live as long as `reader` and `numbers`. Throws BadPlan.
Plan read_plan(Reader& reader, GraphNumbers& numbers);

}  // namespace numasim
