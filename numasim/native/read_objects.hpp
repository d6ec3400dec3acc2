// Reading and checking what new tasks are about (numasim/engine/native.py `_objects`).
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// `plan` has everything else already. Throws BadPlan.
TaskObjects read_objects(Reader& reader, const Plan& plan);

}  // namespace numasim
