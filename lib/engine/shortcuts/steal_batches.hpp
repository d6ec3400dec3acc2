// Steals in bulk: while long queues stay long and empty ones stay empty, what comes of a probe does not depend on when
// it is sent (model 1.8, for thieves).
//
// Where some workers have run out of like items and others have many left, each thief's course is its own: it draws
// victims, finds a task exactly where the victim's queue is long, and executes it. So the thieves are followed one by
// one, without a common clock, to a time before which no long queue should have run dry; only if none has, it is taken
// over.
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

    // A steal has succeeded: pass over those that follow, if that can be done and has not been tried just now.
    void after_steal() {
        if (run_.clock.events() >= next_try_) pass();
    }

private:
    // One thief's steals.
    struct StealBatch {
        std::uint32_t thief;
        std::vector<std::int64_t> tries, got;  // [queues]
        std::int64_t waited_ps = 0, end_ps = 0;
        std::uint64_t hash = 0;  // of its records
    };

    // A thief's rounds up to a success: the queues that it probed, the last of which was long.
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
    SkippedRanges* items_ = nullptr;      // of the phase at hand
    std::vector<std::uint8_t> long_;      // [queues] which hold many items
    std::vector<std::uint32_t> thieves_;  // the workers that steal
    std::int64_t next_try_ = 0;           // in events
};

}  // namespace numasim
