// The core (lib/core), and the plan of a run in the structures of the schema (numasim/schema/plan_fields.py). The
// plan's arrays belong to NumPy and outlive the run.
#pragma once

#include <cassert>
#include <cstdbool>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "generated/plan_names.hpp"

extern "C" {  // the core is in C
#include "base/bitset.h"
#include "base/wide.h"
#include "execution/live_subtrees.h"
#include "execution/steps.h"
#include "execution/task_numbers.h"
#include "execution/worker_state.h"
#include "generated/counters.h"
#include "memory/page_map.h"
#include "memory/pages.h"
#include "plan/plan_reader.h"
#include "policy/dispatch.h"
#include "policy/draws.h"
#include "policy/ranges.h"
#include "policy/round.h"
#include "policy/thresholds.h"
#include "sync/barriers.h"
#include "sync/locks.h"
}

namespace numasim {

using I64s = ns_i64s;
using U32s = ns_u32s;
using Paths = ns_paths;

constexpr std::int64_t MILLION = NS_MILLION;

// A structure of the core whose member `memory` is released at the end. `create` returns whether memory sufficed.
template <typename T, auto create>
struct Owned : T {
    template <typename... Given>
    explicit Owned(Given... given) : T{} {
        if (create(this, given...)) return;
        ns_pieces_release(&this->memory);
        throw std::bad_alloc();
    }
    ~Owned() { ns_pieces_release(&this->memory); }
    Owned(const Owned&) = delete;
};

}  // namespace numasim
