// What the engine is given: everything of a plan, in the structures of the schema (numasim/schema/plan_fields.py), with
// arrays that are borrowed from NumPy for the time of a run.
#pragma once

#include <span>
#include <vector>

#include "../schema/generated/plan_names.hpp"
#include "policy/backoff.h"
#include "policy/ranges.h"
#include "policy/thresholds.h"
#include "spans.hpp"
#include "sync/barriers.h"
#include "sync/locks.h"

namespace numasim {

using Paths = ns_paths;
using RegionNodes = ns_node_lists;

constexpr std::int64_t MILLION = NS_MILLION;

}  // namespace numasim
