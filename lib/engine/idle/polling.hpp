// Passing over polls that cannot find a task: counting them without events (model 1.5; engine/reference/polling.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "checked.hpp"
#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

constexpr std::int32_t LONGEST_ROUND = 4096;  // most probes of a round that is passed over
constexpr std::int64_t TURNS_BETWEEN_PAUSES = 4096;
constexpr std::int64_t MANY_ROUNDS = 32, MOST_ROUNDS = 1024;  // bounds on the rounds that are counted together
constexpr std::int64_t MOST_CHOICES = 4;                      // most queues to choose from per counted round

// Map the random numbers `first`, `first + step`, ... of a stream to [0, size).
NUMASIM_VECTORS static void pick(std::uint64_t base, std::uint64_t first, std::uint64_t step, std::uint32_t size,
                                 std::int64_t count, std::uint32_t* picked) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t number = ns_draw(base, first + static_cast<std::uint64_t>(i) * step);
        picked[i] = static_cast<std::uint32_t>(((number >> 32) * size + ((number & UINT32_MAX) * size >> 32)) >> 32);
    }
}

inline bool all_levels_of_me(const ns_plan& steal) {
    return std::all_of(steal.level, steal.level + steal.steal_levels,
                       [](const ns_level& level) { return level.anchor == NS_ANCHOR_ME; });
}

class Polling {
public:
    Polling(Run& run, const MemorySystem& memory, const WorkSource& source, SkipAhead& skipping)
        : run_(run),
          memory_(memory),
          source_(source),
          skipping_(skipping),
          levels_change_(!std::all_of(run.plan.steal.level, run.plan.steal.level + run.plan.steal.steal_levels,
                                      [](const ns_level& level) { return ns_is_unconditional(&level); })) {}

    // The worker will begin a round after `wait_ps`. Count this round and the following rounds as long as they can only
    // fail. Returns the time of the counted rounds; 0 if the plan does not skip.
    [[gnu::noinline]] std::int64_t pass_over(Worker& w, std::int64_t wait_ps) {
        if (run_.queues.marked() != 0 || (run_.queues.total() != 0 && !run_.plan.sees_marks_only)) return 0;
        const std::int64_t until_ps = next_change_ps();
        if (!run_.plan.skip || memory_.settles()) return 0;  // work may end earlier than is known now
        return pass_over(w, run_.clock.after(w.owed_ps + wait_ps), until_ps);
    }

    // Count failed attempts to steal from queue `q`. A negative number takes back attempts that have been counted.
    [[gnu::noinline]] void count_failed(Worker& w, std::uint32_t q, std::int64_t attempts) {
        ns_count_attempts(&run_.steals, &run_.plan, &w, q, attempts, 0, 0);
        ns_count_failed(&run_.plan, &w, q, attempts);
    }

    // Whether some level is open only at times, by its iterations, a switch or a gate.
    bool levels_change() const { return levels_change_; }

    // Whether the present phase skips ahead (SkipAhead): its tasks have no events.
    bool skips() const { return skipping_.active(); }

    // The probes of a round of the worker while all queues are empty and no gate, switch or iteration changes.
    const QuietRound& quiet_round(Worker& w) {
        if (!w.quiet.known || (levels_change_ && open_levels(w) != w.quiet.open)) learn(w);
        return w.quiet;
    }

    // Count the rounds of the worker from the round at `poll_ps` on that end before `until_ps`, as `quiet_round` has
    // last given them. The queues that the rounds probe are empty. Returns the time of the counted rounds.
    std::int64_t count_rounds(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        if (poll_ps >= until_ps) return 0;
        return w.quiet.probes == 0 ? pass_over_waits(w, poll_ps, until_ps) : pass_over_probes(w, poll_ps, until_ps);
    }

    // The queues of a segment.
    std::span<const std::uint32_t> candidates(std::uint32_t segment) const {
        const ns_plan& steal = run_.plan.steal;
        return {steal.queue + steal.seg[segment], steal.queue + steal.seg[segment + 1]};
    }

private:
    // The time of the next event that can bring a task into a queue or end a join. Throws Deadlock if there is none.
    std::int64_t next_change_ps() {
        if (source_.unfinished() == 0) return run_.clock.now_ps();
        if (skipping_.active()) return skipping_.no_task_before_ps();
        if (source_.starting()) return run_.clock.now_ps();
        std::int64_t due = source_.next_item_ps();
        // if no worker is busy, the next end of work that the clock knows is one that has happened in this instant
        if (run_.clock.anybody_is_busy()) due = std::min(due, run_.clock.first_busy_end_ps());
        for (const std::uint32_t w : run_.joins.over()) due = std::min(due, run_.team[w].step.due_ps());
        const auto holds_unit = [](const Worker& w) { return w.reserved != NOTHING_RESERVED; };
        if (std::any_of(run_.team.begin(), run_.team.end(), holds_unit)) return run_.clock.now_ps();
        if (due == NEVER_PS) throw Deadlock(source_.unfinished(), run_.clock.now_ps());
        return due;
    }

    [[gnu::noinline]] void learn(Worker& w) {
        levels_.resize(LONGEST_ROUND);
        segments_.resize(LONGEST_ROUND);
        QuietRound& quiet = w.quiet;
        quiet.open = open_levels(w);
        quiet.probes = ns_quiet_round(&run_.plan.steal, &run_.queues.actor(w.id), quiet.open, levels_.data(),
                                      segments_.data(), LONGEST_ROUND);
        const std::int32_t count = std::max(quiet.probes, 0);
        quiet.levels.assign(levels_.begin(), levels_.begin() + count);
        quiet.segments.assign(segments_.begin(), segments_.begin() + count);
        quiet.known = all_levels_of_me(run_.plan.steal);
        quiet.longest_ps = longest_round_ps(w);
        quiet.choices = 0;
        for (const std::uint32_t segment : quiet.segments)
            quiet.choices += static_cast<std::int64_t>(candidates(segment).size());
        if (w.id < laps_.size()) laps_[w.id].times.clear();
    }

    std::uint64_t open_levels(const Worker& w) const {
        const ns_view seen = run_.queues.view();
        return ns_open_levels(&run_.plan.steal, &run_.queues.actor(w.id), &seen);
    }

    std::int64_t wait_ps(std::int64_t fails, bool probed) const {
        return ns_backoff_wait_ps(&run_.plan.backoff, fails, probed);
    }

    // Count the rounds from `poll_ps` on that end before `until_ps`. Returns the time of the counted rounds.
    [[gnu::noinline]] std::int64_t pass_over(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        until_ps = std::min(until_ps, LATEST_PS);
        if (poll_ps >= until_ps || run_.plan.locks_probes || run_.plan.backoff_after_probe ||
            (!w.stack.empty() && ns_joins_by_itself(&run_.plan)))
            return 0;
        return quiet_round(w).probes < 0 ? 0 : count_rounds(w, poll_ps, until_ps);
    }

    // Pass over rounds without probes, which consist of waits only.
    std::int64_t pass_over_waits(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        std::int64_t at = poll_ps, rounds = 0;
        while (at < until_ps) {
            const std::int64_t wait = wait_ps(w.fails + rounds + 1, false);
            const bool lasting = wait == wait_ps(w.fails + rounds + 63, false);
            const std::int64_t more = lasting ? (until_ps - at - 1) / wait + 1 : 1;
            rounds += more;
            at += more * wait;
        }
        if (rounds >= rounds_to_lap(w) && ns_has_laps(&run_.plan.steal))
            run_.queues.actor(w.id).victims.drawn = w.lap_begin;
        w.fails += rounds;
        ns_count_empty_rounds(&run_.plan, &w, rounds);
        w.counters.idle_backoff_ps += at - poll_ps;
        return at - poll_ps;
    }

    // Pass over rounds of random picks, with one random number for each probe.
    std::int64_t pass_over_probes(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        std::int64_t at = poll_ps;
        for (std::int64_t turn = 1;; ++turn) {
            if (turn % TURNS_BETWEEN_PAUSES == 0) run_.pause();
            if (const std::int64_t laps_end = pass_over_laps(w, at, until_ps); laps_end != at) {
                at = laps_end;
            } else if (const std::int64_t many_end = pass_over_many(w, at, until_ps); many_end != at) {
                at = many_end;
            } else if (const std::int64_t one_end = pass_over_one(w, at, until_ps); one_end != at) {
                at = one_end;
            } else {
                return at - poll_ps;
            }
        }
    }

    // Pass over one round if its last probe takes effect before `until_ps`. Returns when the wait after the round ends.
    std::int64_t pass_over_one(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        ns_actor& actor = run_.queues.actor(w.id);
        const std::size_t probes = w.quiet.segments.size();
        const ns_stream before = actor.victims;
        std::int64_t look = poll_ps;
        picked_.resize(std::max(picked_.size(), probes));
        for (std::size_t i = 0; i < probes; ++i) {
            picked_[i] = ns_segment_draw(&run_.plan.steal, w.quiet.segments[i], &actor.victims);
            look += ns_probe_ps(&run_.plan, &w, picked_[i]);
        }
        if (look >= until_ps) {
            actor.victims = before;
            return poll_ps;
        }
        for (std::size_t i = 0; i < probes; ++i) {
            if (ns_is_attempt(&run_.plan, w.quiet.levels[i])) count_failed(w, picked_[i], 1);
        }
        ns_begin_lap(&run_.plan.steal, ++w.fails, &w.lap_begin, &actor.victims);
        const std::int64_t wait = wait_ps(w.fails, true);
        w.counters.idle_steal_ps += look - poll_ps;
        w.counters.idle_backoff_ps += wait;
        return look + wait;
    }

    // Pass over the rounds that end before `until_ps` even with the slowest probes, if there are many such rounds with
    // equal waits. Then only the number of picks of each queue matters, not their order.
    std::int64_t pass_over_many(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        const std::int64_t wait = wait_ps(w.fails + 1, true);
        const std::int64_t probe = std::max(run_.plan.costs.least_probe_ps,
                                            std::min(run_.plan.costs.probe_near_ps, run_.plan.costs.probe_far_ps));
        const std::int64_t shortest_ps = static_cast<std::int64_t>(w.quiet.segments.size()) * probe;
        if (until_ps - poll_ps < MANY_ROUNDS * (shortest_ps + wait) || wait != wait_ps(w.fails + 63, true))
            return poll_ps;
        const std::int64_t possible = (until_ps - poll_ps - 1) / (w.quiet.longest_ps + wait);
        const std::int64_t rounds = std::min({MOST_ROUNDS, possible, rounds_to_lap(w)});
        if (rounds < MANY_ROUNDS || rounds * MOST_CHOICES < w.quiet.choices) return poll_ps;
        std::int64_t probing = 0;
        for (std::size_t i = 0; i < w.quiet.segments.size(); ++i) probing += pass_over_probe(w, i, rounds);
        run_.queues.actor(w.id).victims.drawn += static_cast<std::uint64_t>(rounds) * w.quiet.segments.size();
        w.fails += rounds;
        ns_begin_lap(&run_.plan.steal, w.fails, &w.lap_begin, &run_.queues.actor(w.id).victims);
        w.counters.idle_steal_ps += probing;
        w.counters.idle_backoff_ps += rounds * wait;
        return poll_ps + probing + rounds * wait;
    }

    // Pass over all whole laps that end before `until_ps`, if a lap begins now and all waits are equal. All laps pick
    // the same queues, and `laps_` keeps how often.
    std::int64_t pass_over_laps(Worker& w, std::int64_t poll_ps, std::int64_t until_ps) {
        if (w.fails % NS_LAP_ROUNDS != 1 || !ns_has_laps(&run_.plan.steal)) return poll_ps;
        const std::int64_t wait = wait_ps(w.fails + 1, true);
        if (wait != wait_ps(w.fails + 63, true)) return poll_ps;
        if ((until_ps - poll_ps - 1) / NS_LAP_ROUNDS <= w.quiet.longest_ps + wait) return poll_ps;
        const Lap& lap = lap_of(w);
        const std::int64_t lap_ps = lap.probing_ps + NS_LAP_ROUNDS * wait;
        const std::int64_t laps = (until_ps - poll_ps - 1) / lap_ps;
        const std::int64_t* times = lap.times.data();
        for (std::size_t i = 0; i < w.quiet.segments.size(); ++i) {
            for (const std::uint32_t q : candidates(w.quiet.segments[i])) {
                if (ns_is_attempt(&run_.plan, w.quiet.levels[i])) count_failed(w, q, laps * *times);
                ++times;
            }
        }
        w.fails += laps * NS_LAP_ROUNDS;
        w.counters.idle_steal_ps += laps * lap.probing_ps;
        w.counters.idle_backoff_ps += laps * NS_LAP_ROUNDS * wait;
        return poll_ps + laps * lap_ps;
    }

    // Count probe number `probe` of each of the next `rounds` rounds. Returns the time of these probes.
    std::int64_t pass_over_probe(Worker& w, std::size_t probe, std::int64_t rounds) {
        count_picks(w, probe, run_.queues.actor(w.id).victims.drawn, rounds);
        const std::span<const std::uint32_t> queues = candidates(w.quiet.segments[probe]);
        if (ns_is_attempt(&run_.plan, w.quiet.levels[probe])) {
            for (std::size_t i = 0; i < queues.size(); ++i) count_failed(w, queues[i], times_picked_[i]);
        }
        return probing_ps(w, probe);
    }

    // Count how often probe number `probe` picks each queue in `rounds` rounds. It begins with random number `first`.
    void count_picks(const Worker& w, std::size_t probe, std::uint64_t first, std::int64_t rounds) {
        const std::size_t step = w.quiet.segments.size();
        const auto size = static_cast<std::uint32_t>(candidates(w.quiet.segments[probe]).size());
        const std::uint64_t base = run_.queues.actor(w.id).victims.base;
        picked_.resize(std::max(picked_.size(), static_cast<std::size_t>(MOST_ROUNDS)));
        times_picked_.assign(size, 0);
        for (std::int64_t done = 0; done < rounds; done += MOST_ROUNDS) {
            const std::int64_t count = std::min(MOST_ROUNDS, rounds - done);
            pick(base, first + probe + static_cast<std::uint64_t>(done) * step, step, size, count, picked_.data());
            for (std::int64_t i = 0; i < count; ++i) ++times_picked_[picked_[static_cast<std::size_t>(i)]];
        }
    }

    // The time of the probes that `count_picks` has counted.
    std::int64_t probing_ps(const Worker& w, std::size_t probe) const {
        const std::span<const std::uint32_t> queues = candidates(w.quiet.segments[probe]);
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < queues.size(); ++i)
            sum += times_picked_[i] * ns_probe_ps(&run_.plan, &w, queues[i]);
        return sum;
    }

    std::int64_t longest_round_ps(const Worker& w) const {
        std::int64_t sum = 0;
        for (const std::uint32_t segment : w.quiet.segments) {
            std::int64_t longest = 0;
            for (const std::uint32_t q : candidates(segment))
                longest = std::max(longest, ns_probe_ps(&run_.plan, &w, q));
            sum += longest;
        }
        return sum;
    }

    // A lap: the rounds of a worker until it draws the same victims again (ns_begin_lap).
    struct Lap {
        std::uint64_t begin = 0;  // the number of the worker's first random number in the lap
        std::vector<std::int64_t>
            times;                    // for each probe of a round: how often it picks each queue; empty: not computed
        std::int64_t probing_ps = 0;  // the time of all probes of the lap
    };

    // The worker's lap, computed when it is first needed.
    const Lap& lap_of(const Worker& w) {
        laps_.resize(run_.plan.workers);
        Lap& lap = laps_[w.id];
        if (!lap.times.empty() && lap.begin == w.lap_begin) return lap;
        lap.begin = w.lap_begin;
        lap.times.clear();
        lap.probing_ps = 0;
        for (std::size_t i = 0; i < w.quiet.segments.size(); ++i) {
            count_picks(w, i, w.lap_begin, NS_LAP_ROUNDS);
            lap.times.insert(lap.times.end(), times_picked_.begin(), times_picked_.end());
            lap.probing_ps += probing_ps(w, i);
        }
        return lap;
    }

    static std::int64_t rounds_to_lap(const Worker& w) { return NS_LAP_ROUNDS - (w.fails - 1) % NS_LAP_ROUNDS; }

    Run& run_;
    const MemorySystem& memory_;
    const WorkSource& source_;
    SkipAhead& skipping_;
    const bool levels_change_;                      // see `levels_change`
    std::vector<std::uint32_t> levels_, segments_;  // scratch of `learn`
    std::vector<std::uint32_t> picked_;             // scratch: picks of the present rounds
    std::vector<std::int64_t> times_picked_;        // scratch: how often each queue is picked
    std::vector<Lap> laps_;                         // [workers] if any lap was needed
};

}  // namespace numasim
