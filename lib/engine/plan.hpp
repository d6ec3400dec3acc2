// The plan of a run in the structures of the schema (numasim/schema/plan_fields.py). Its arrays belong to NumPy and
// outlive the run.
#pragma once

#include <span>
#include <vector>

#include "generated/plan_names.hpp"
#include "policy/ranges.h"
#include "policy/round.h"
#include "policy/thresholds.h"
#include "sync/barriers.h"
#include "sync/locks.h"

namespace numasim {

using I64s = ns_i64s;
using U32s = ns_u32s;
using Paths = ns_paths;

constexpr std::int64_t MILLION = NS_MILLION;

}  // namespace numasim
