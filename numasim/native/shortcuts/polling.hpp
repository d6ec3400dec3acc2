// Passing over polls that cannot succeed (model 1.5; engine/reference/shortcuts/polling.py), and finding out that none
// ever will.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/probes.hpp"
#include "engine/work_source.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"

namespace numasim {

class Polling {
public:
    Polling(Run& run, const MemorySystem& memory, const SyncObjects& sync, const WorkSource& source, Probes& probes,
            SkipAhead& skipping)
        : run_(run), memory_(memory), sync_(sync), source_(source), probes_(probes), skipping_(skipping) {}

    // The worker will poll after `wait_ps`: count the rounds that it could only fail in after that; the time that they
    // take. None where the plan does not skip.
    std::int64_t pass_over(Worker& w, std::int64_t wait_ps);

    // Whether anything but fruitless probes can ever happen.
    bool can_go_on() const;

    // The rounds of a worker while all queues are empty.
    const QuietRound& quiet_round(Worker& w) {
        if (!w.quiet.known) learn(w);
        return w.quiet;
    }

private:
    std::int64_t next_change_ps();
    bool can_find(const Worker& w) const;
    void learn(Worker& w);
    std::int64_t pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds);
    std::int64_t longest_round_ps(const Worker& w) const;

    Run& run_;
    const MemorySystem& memory_;
    const SyncObjects& sync_;
    const WorkSource& source_;
    Probes& probes_;
    SkipAhead& skipping_;
    std::vector<std::uint32_t> levels_, segments_;  // while a quiet round is learnt
    std::vector<std::uint32_t> picked_;             // by the rounds at hand
    std::vector<std::int64_t> times_picked_;        // likewise
};

}  // namespace numasim
