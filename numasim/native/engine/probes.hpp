// What probes and steals cost, and how often they were tried: by worker and by pair of nodes (model 4.1, 4.2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "policy/backoff.h"
#include "state/run.hpp"

namespace numasim {

class Probes {
public:
    explicit Probes(Run& run)
        : run_(run), attempts_(std::size_t{run.plan.nodes} * run.plan.nodes, 0), successes_(attempts_.size(), 0) {}

    bool is_remote(const Worker& w, std::uint32_t q) const {
        const std::int32_t home = run_.plan.steal.queues[q].home;
        return home >= 0 && home != w.node;
    }

    // Time from sending a probe of queue `q` to its taking effect.
    std::int64_t probe_ps(const Worker& w, std::uint32_t q) const {
        const std::int64_t step = is_remote(w, q) ? run_.plan.costs.probe_far_ps : run_.plan.costs.probe_near_ps;
        return std::max(run_.plan.costs.least_probe_ps, step + line_ps(w, q));
    }

    // Overhead of taking the first task of queue `q`.
    std::int64_t take_ps(const Worker& w, std::uint32_t q) const { return run_.plan.costs.take_ps + line_ps(w, q); }

    // The wait after `fails` fruitless rounds (or probes) in a row; `probed`: the last one probed somebody.
    std::int64_t backoff_ps(std::int64_t fails, bool probed) const {
        return ns_backoff_wait_ps(&run_.plan.backoff, fails, probed);
    }

    // Whether probes of a level count as attempts to steal.
    bool is_attempt(std::uint32_t level) const { return (run_.plan.steal.level[level].flags & NS_FLAG_ATTEMPT) != 0; }
    bool takes_back(std::uint32_t level, std::uint32_t q) const {
        const ns_queue& queue = run_.plan.steal.queues[q];
        return (is_attempt(level) ? queue.steal_end : queue.own_end) != 0;
    }

    // Count one attempt, which brought `tasks` tasks, or failed.
    void count(Worker& w, std::uint32_t q, std::int64_t tasks) {
        count(w, q, 1, tasks != 0, tasks);
        if (tasks != 0) {
            if (Watch* const watch = run_.recorder.watch())
                watch->tell(Watched::STEAL, w.id, run_.clock.now_ps(), run_.clock.now_ps(), q, victim(q), tasks);
        } else {
            count_failed(w, q, 1);
        }
    }
    void count(Worker& w, std::uint32_t q, std::int64_t attempts, std::int64_t successes, std::int64_t tasks) {
        const bool remote = is_remote(w, q);
        const std::int32_t home = remote ? run_.plan.steal.queues[q].home : w.node;
        const std::size_t pair = static_cast<std::size_t>(w.node) * run_.plan.nodes + static_cast<std::size_t>(home);
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
        const std::int64_t attempts = run_.plan.backoff_counts_empty ? rounds : 0;
        w.counters.add_no_victim(rounds, attempts);
        w.failed += attempts;
    }

    const std::vector<std::int64_t>& attempts() const { return attempts_; }    // [nodes * nodes]
    const std::vector<std::int64_t>& successes() const { return successes_; }  // [nodes * nodes]

private:
    std::int64_t line_ps(const Worker& w, std::uint32_t q) const {
        if (!run_.plan.costs.line) return 0;
        return run_.plan
            .line_ps[std::size_t{w.id} * run_.plan.workers + static_cast<std::size_t>(run_.plan.steal.queues[q].owner)];
    }

    // The worker whose own queue `q` is, or -1.
    std::int64_t victim(std::uint32_t q) const {
        const std::int32_t owner = run_.plan.steal.queues[q].owner;
        return run_.team[static_cast<std::size_t>(owner)].own == static_cast<std::int32_t>(q) ? owner : -1;
    }

    Run& run_;
    std::vector<std::int64_t> attempts_, successes_;
};

}  // namespace numasim
