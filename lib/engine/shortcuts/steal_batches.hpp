// Steals in bulk: while long queues stay long and empty queues stay empty, the result of a probe does not depend on its
// time (model 1.8, for thieves).
//
// If some workers have run out of like items and others have many left, thieves do not influence each other: each draws
// victims, finds a task exactly if the victim's queue is long, and executes it. The thieves are therefore followed one
// by one, without a common clock, up to a time at which no long queue should be empty yet. The result is used only if
// none is empty then.
#pragma once

#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"

namespace numasim {

class StealBatches {
public:
    StealBatches(Run& run, SkipAhead& skipping, Polling& polling) : run_(run), skipping_(skipping), polling_(polling) {}

    // A steal has succeeded. Pass over the following steals if possible, unless that was tried a short time ago.
    void after_steal() {
        if (run_.clock.events() >= next_try_) pass();
    }

private:
    // The steals of one thief.
    struct StealBatch {
        std::uint32_t thief;
        std::vector<std::int64_t> tries, got;  // [queues]
        std::int64_t waited_ps = 0, end_ps = 0;
        std::uint64_t hash = 0;  // of the thief's records
    };

    // A thief's rounds up to a success: the queues that it has probed. The last one was long.
    struct Search {
        std::vector<std::uint32_t> probed;
        std::int64_t time_ps = 0, waited_ps = 0;
        std::uint64_t failed_remote = 0;
    };

    void pass();
    bool sort_workers();
    std::int64_t queues_last_ps() const;
    std::int64_t stolen_item_ps() const;
    bool pass_until(std::int64_t until_ps);
    void follow(StealBatch& batch, std::int64_t until_ps);
    bool find_task(Search& search, const Worker& w, std::int64_t start_ps, std::int64_t until_ps,
                   const std::vector<std::int64_t>& step_ps);
    void commit(const StealBatch& batch);
    std::uint32_t queue_count() const { return run_.plan.steal.queue_count; }

    Run& run_;
    SkipAhead& skipping_;
    Polling& polling_;
    SkippedRanges* items_ = nullptr;      // of the present phase
    std::vector<std::uint8_t> long_;      // [queues] whether each holds many items
    std::vector<std::uint32_t> thieves_;  // the workers that steal
    std::int64_t next_try_ = 0;           // in events
};

}  // namespace numasim
