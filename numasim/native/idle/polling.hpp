// Passing over polls that cannot succeed (model 1.5; engine/reference/shortcuts/polling.py).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/work_source.hpp"
#include "memory/memory_system.hpp"
#include "policy/backoff.h"
#include "search/probes.h"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"

namespace numasim {

class Polling {
public:
    Polling(Run& run, const MemorySystem& memory, const WorkSource& source, SkipAhead& skipping)
        : run_(run), memory_(memory), source_(source), skipping_(skipping) {}

    // The worker will poll after `wait_ps`: count the rounds that it could only fail in after that; the time that they
    // take. None where the plan does not skip.
    std::int64_t pass_over(Worker& w, std::int64_t wait_ps);

    // Count attempts that fail, or (below zero) take back that they have been counted.
    void count_failed(Worker& w, std::uint32_t q, std::int64_t attempts);

    // Whether the phase is skipped over, without events of tasks.
    bool skips() const { return skipping_.active(); }

    // The rounds of a worker while all queues are empty.
    const QuietRound& quiet_round(Worker& w) {
        if (!w.quiet.known) learn(w);
        return w.quiet;
    }

private:
    std::int64_t next_change_ps();
    void learn(Worker& w);
    std::int64_t wait_ps(std::int64_t fails, bool probed) const {
        return ns_backoff_wait_ps(&run_.plan.backoff, fails, probed);
    }
    std::int64_t pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds);
    std::int64_t longest_round_ps(const Worker& w) const;

    Run& run_;
    const MemorySystem& memory_;
    const WorkSource& source_;
    SkipAhead& skipping_;
    std::vector<std::uint32_t> levels_, segments_;  // while a quiet round is learnt
    std::vector<std::uint32_t> picked_;             // by the rounds at hand
    std::vector<std::int64_t> times_picked_;        // likewise
};

}  // namespace numasim
