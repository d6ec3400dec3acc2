// What probes and steals cost, and how often they were tried: by worker and by pair of nodes (model 4.1, 4.2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "policy/backoff.h"
#include "record/recorder.hpp"
#include "state/clock.hpp"
#include "state/worker.hpp"

namespace numasim {

class Probes {
public:
    Probes(const Plan& plan, const Clock& clock, Recorder& recorder, Team& team)
        : plan_(plan),
          clock_(clock),
          recorder_(recorder),
          team_(team),
          attempts_(std::size_t{plan.nodes} * plan.nodes, 0),
          successes_(attempts_.size(), 0) {}

    bool is_remote(const Worker& w, std::uint32_t q) const {
        const std::int32_t home = plan_.steal.queues[q].home;
        return home >= 0 && home != w.node;
    }

    // Time from sending a probe of queue `q` to its taking effect.
    std::int64_t probe_ps(const Worker& w, std::uint32_t q) const {
        const std::int64_t step = is_remote(w, q) ? plan_.costs.probe_far_ps : plan_.costs.probe_near_ps;
        return std::max(plan_.costs.least_probe_ps, step + line_ps(w, q));
    }

    // Overhead of taking the first task of queue `q`.
    std::int64_t take_ps(const Worker& w, std::uint32_t q) const { return plan_.costs.take_ps + line_ps(w, q); }

    // The wait after `fails` fruitless rounds (or probes) in a row; `probed`: the last one probed somebody.
    std::int64_t backoff_ps(std::int64_t fails, bool probed) const {
        return ns_backoff_wait_ps(&plan_.backoff, fails, probed);
    }

    // Whether probes of a level count as attempts to steal.
    bool is_attempt(std::uint32_t level) const { return (plan_.steal.level[level].flags & NS_FLAG_ATTEMPT) != 0; }
    bool takes_back(std::uint32_t level, std::uint32_t q) const {
        const ns_queue& queue = plan_.steal.queues[q];
        return (is_attempt(level) ? queue.steal_end : queue.own_end) != 0;
    }

    // Count one attempt, which brought `tasks` tasks, or failed.
    void count(Worker& w, std::uint32_t q, std::int64_t tasks) {
        count(w, q, 1, tasks != 0, tasks);
        if (tasks != 0) {
            if (Watch* const watch = recorder_.watch())
                watch->tell(Watched::STEAL, w.id, clock_.now_ps(), clock_.now_ps(), q, victim(q), tasks);
        } else {
            count_failed(w, q, 1);
        }
    }
    void count(Worker& w, std::uint32_t q, std::int64_t attempts, std::int64_t successes, std::int64_t tasks) {
        const bool remote = is_remote(w, q);
        const std::int32_t home = remote ? plan_.steal.queues[q].home : w.node;
        const std::size_t pair = static_cast<std::size_t>(w.node) * plan_.nodes + static_cast<std::size_t>(home);
        attempts_[pair] += attempts;
        successes_[pair] += successes;
        w.counters.add_attempts(attempts, successes, tasks, remote);
    }
    // Failed attempts of the open idle episode.
    void count_failed(Worker& w, std::uint32_t q, std::int64_t attempts) const {
        w.failed += attempts;
        w.failed_remote += is_remote(w, q) ? attempts : 0;
    }
    // Rounds that probed nobody.
    void count_no_victim(Worker& w, std::int64_t rounds) const {
        const std::int64_t attempts = plan_.backoff_counts_empty ? rounds : 0;
        w.counters.add_no_victim(rounds, attempts);
        w.failed += attempts;
    }

    const std::vector<std::int64_t>& attempts() const { return attempts_; }    // [nodes * nodes]
    const std::vector<std::int64_t>& successes() const { return successes_; }  // [nodes * nodes]

private:
    std::int64_t line_ps(const Worker& w, std::uint32_t q) const {
        if (!plan_.costs.line) return 0;
        return plan_.line_ps[std::size_t{w.id} * plan_.workers + static_cast<std::size_t>(plan_.steal.queues[q].owner)];
    }

    // The worker whose own queue `q` is, or -1.
    std::int64_t victim(std::uint32_t q) const {
        const std::int32_t owner = plan_.steal.queues[q].owner;
        return team_[static_cast<std::size_t>(owner)].own == static_cast<std::int32_t>(q) ? owner : -1;
    }

    const Plan& plan_;
    const Clock& clock_;
    Recorder& recorder_;
    const Team& team_;
    std::vector<std::int64_t> attempts_, successes_;
};

}  // namespace numasim
