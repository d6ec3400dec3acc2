// Passing over polls that cannot succeed (model 1.5; engine/reference/polling.py).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

class Polling {
public:
    Polling(Run& run, const MemorySystem& memory, const WorkSource& source, SkipAhead& skipping)
        : run_(run), memory_(memory), source_(source), skipping_(skipping) {}

    // The worker will poll after `wait_ps`. Count the rounds after that which can only fail. Returns the time that they
    // take, which is 0 if the plan does not skip.
    std::int64_t pass_over(Worker& w, std::int64_t wait_ps);

    // Count failed attempts at a queue. A negative number takes back counted attempts.
    void count_failed(Worker& w, std::uint32_t q, std::int64_t attempts);

    // Whether the present phase is skipped over, without events of tasks.
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
    std::int64_t pass_over_laps(Worker& w, std::int64_t poll_ps, std::int64_t until_ps);
    std::int64_t pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds);
    void count_picks(const Worker& w, std::size_t probe, std::uint64_t first, std::int64_t rounds);
    std::int64_t probing_ps(const Worker& w, std::size_t probe) const;
    std::int64_t longest_round_ps(const Worker& w) const;

    // A lap: the rounds of a worker until it draws the same victims again (ns_begin_lap).
    struct Lap {
        std::uint64_t begin = 0;  // the number of the worker's first draw in the lap
        std::vector<std::int64_t>
            times;  // how often each probe of the rounds picks each of its queues; empty: not computed
        std::int64_t probing_ps = 0;  // of all probes of the lap
    };

    const Lap& lap_of(const Worker& w);
    static std::int64_t rounds_to_lap(const Worker& w) { return NS_LAP_ROUNDS - (w.fails - 1) % NS_LAP_ROUNDS; }
    std::span<const std::uint32_t> candidates(std::uint32_t segment) const {
        const ns_plan& steal = run_.plan.steal;
        return {steal.queue + steal.seg[segment], steal.queue + steal.seg[segment + 1]};
    }

    Run& run_;
    const MemorySystem& memory_;
    const WorkSource& source_;
    SkipAhead& skipping_;
    std::vector<std::uint32_t> levels_, segments_;  // scratch of `learn`
    std::vector<std::uint32_t> picked_;             // scratch: picks of the present rounds
    std::vector<std::int64_t> times_picked_;        // scratch: how often each queue is picked
    std::vector<Lap> laps_;                         // [workers] if any lap was needed
};

}  // namespace numasim
