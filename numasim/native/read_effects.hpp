// From the dict that numasim/engine/native_effects.py makes to Effects in which every index is in bounds.
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// What is read before, the machine's workers and nodes, segments, accesses and families, is in `plan`. Throws BadPlan.
Effects read_effects(Reader& reader, const Plan& plan);

}  // namespace numasim
