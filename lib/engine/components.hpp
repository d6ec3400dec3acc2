// All that stands above the Executor, in one piece: the components that search for work, and what they work on.
//
// The Executor goes through every event, and is made on top of this piece: each component is at a constant distance
// from it. With references to them, which have to be loaded again after stores, event by event a tenth of the time is
// lost.
#pragma once

#include <functional>
#include <utility>

#include "dispatcher.hpp"
#include "sync_objects.hpp"
#include "thief.hpp"
#include "transactions.hpp"
#include "work_source.hpp"
#include "idle/polling.hpp"
#include "idle/sleepers.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"

namespace numasim {

struct Components {
    Components(const Prepared& plan, std::uint64_t seed, const Listener* listener, Watch* watch,
               std::function<void()> pause, bool keep_log)
        : run(plan, seed, listener, watch, std::move(pause), keep_log),
          memory(run),
          sync(run, memory),
          transactions(run, memory),
          dispatcher(run, memory),
          source(run, sync, dispatcher),
          skipping(run, memory, source),
          polling(run, memory, source, skipping),
          sleepers(run, sync, polling),
          batches(run, skipping, polling),
          thief(run, memory, sync, source, skipping, polling, sleepers, batches) {}
    Components(const Components&) = delete;

    Run run;
    MemorySystem memory;
    SyncObjects sync;
    Transactions transactions;
    Dispatcher dispatcher;
    WorkSource source;
    SkipAhead skipping;
    Polling polling;
    Sleepers sleepers;
    StealBatches batches;
    Thief thief;
};

}  // namespace numasim
