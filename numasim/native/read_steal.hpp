// The compiled strategy of a plan, with every index in bounds (numasim/strategy/plan.py).
#pragma once

#include "plan.hpp"
#include "reader.hpp"

namespace numasim {

// `refill` is that of the plan; what is computed from the tables lives in `mask`. Throws BadPlan.
ns_plan read_steal(Reader& reader, std::uint32_t workers, std::uint32_t nodes, std::int64_t refill,
                   std::vector<std::uint64_t>& mask);

ns_threshold_rules read_thresholds(Reader& reader);

ns_backoff read_backoff(Reader& reader);

}  // namespace numasim
