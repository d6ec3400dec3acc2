// The longest chain of work of each phase, from the graph alone: a bound that no engine has a part in (model 8, item
// 1).
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

// [phases] how long one pass takes with an unlimited number of workers if segment s takes `segment_ps[s]` and nothing
// else takes time: a task starts when it has been spawned and its predecessors have finished, and ends with its own
// program, waits for children included. Synchronisation objects are ignored.
std::vector<std::int64_t> longest_chains_ps(const Plan& plan, const std::int64_t* segment_ps);

}  // namespace numasim
