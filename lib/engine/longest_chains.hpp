// The longest chains of work of a task graph: bounds in which no engine has a part (model 8, item 1).
//
// A task starts when it has been spawned and its predecessors have finished. It ends with its own program, waits for
// children included. Segment s takes `segment_ps[s]`, and nothing else takes time. Synchronisation objects are ignored.
// Times stay at 2^63 - 1 where they would exceed it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"

namespace numasim {

// [rows] how long the subtree of each row takes until its last task ends, in a graph without dependences.
std::vector<std::int64_t> subtree_chains_ps(const Graph& graph, const std::int64_t* segment_ps);

// [phases] how long one pass of each phase takes with an unlimited number of workers.
std::vector<std::int64_t> longest_chains_ps(const Plan& plan, const std::int64_t* segment_ps);

}  // namespace numasim
