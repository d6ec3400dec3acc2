// From the dict that numasim/engine/native.py makes to a Plan in which every index is in bounds.
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// The arrays of the plan live as long as `reader`. Throws BadPlan.
Plan read_plan(Reader& reader);

}  // namespace numasim
