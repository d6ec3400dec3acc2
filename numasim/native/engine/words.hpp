// Names of core/sync in the engine.
#pragma once

#include <cstdint>

#include "plan.hpp"
#include "sync/objects.h"

namespace numasim {

static_assert(+LOCK_WORD == +NS_SYNC_LOCK && +ATOMIC_WORD == +NS_SYNC_ATOMIC && +CONDITION_WORD == +NS_SYNC_CONDITION &&
              +BARRIER_WORD == +NS_SYNC_BARRIER);

// What an actor goes on with when it has a lock.
enum class Then : std::uint32_t { PROCEED, ATOMIC, SEARCH, ENQUEUE, PRODUCE };

// What one word has counted: a row of the table of shared words.
using WordCounts = ns_sync_counts;

struct DestroySync {
    void operator()(ns_sync* sync) const { ns_sync_destroy(sync); }
};

}  // namespace numasim
