// Idle workers doze while they can reach no task: no probe of their rounds has an event (model 1.5).
//
// A worker reaches the queues that its rounds may probe, and its own queue. Which queues its rounds may probe depends
// on the steal levels that are open: on the iteration, on switches, and on the gate of the worker's unit (model 4.14).
// A worker that has found nothing, while all queues that it reaches are empty, gets no event. Its rounds are counted
// later, all at once, when something happens that may change a round: a task comes into a queue that the worker
// reaches, a subtree of its unit begins or ends, its join ends, a watch is set, or the phase ends. The worker then goes
// on with the round that is under way at that time, event by event, until it dozes again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "idle/sleeping.hpp"

namespace numasim {

class Dozing final : public Sleeping {
public:
    Dozing(Run& run, Polling& polling, std::ptrdiff_t& sleeping)
        : Sleeping(run, polling, sleeping),
          waits_(wait_ps(1) != 0),
          words_(ns_set_words(run.plan.workers)),
          reaches_(run.plan.workers),
          dozing_(words_),
          who_reaches_all_(words_),
          who_reaches_(words_ * run.plan.steal.queue_count) {
        for (const Worker& w : run.team) {
            if (ns_meets_gate(&run.plan.steal, &run.queues.actor(w.id))) gated_.push_back(w.id);
        }
    }

    bool doze(Worker& w, std::int64_t wait_ps) override {
        if (!run_.clock.anybody_is_busy() || polling_.skips() || is_marked() || is_bound(w)) return false;
        const QuietRound& quiet = polling_.quiet_round(w);
        // a round without probes that begins at once is over at once
        if (!quiet.known || quiet.probes < 0 || (quiet.probes == 0 && wait_ps == 0) || !reaches_nothing(w))
            return false;
        run_.clock.schedule_idle(w, POLL, wait_ps);
        run_.clock.clear(w.id);
        ns_set_put(dozing_.data(), w.id, true);
        count(1);
        return true;
    }

    // Count the rounds that are over, and give the worker its next event.
    void wake(std::uint32_t worker) override {
        if (!ns_set_has(dozing_.data(), worker)) return;
        ns_set_put(dozing_.data(), worker, false);
        count(-1);
        Worker& w = run_.team[worker];
        const bool probes = w.quiet.probes != 0;
        const std::int64_t fails = w.fails, due_ps = w.step.due_ps(), now_ps = run_.clock.now_ps();
        const std::int64_t until_ps = now_ps + !is_ahead(now_ps, probes ? LOOK : POLL, worker);
        const std::int64_t poll_ps = due_ps + polling_.count_rounds(w, due_ps, until_ps);
        if (poll_ps > LATEST_PS) refuse_time();
        // without a wait, a round begins in the event that ends the round before
        if ((waits_ || !probes) && event_key(poll_ps, POLL, worker) >= run_.clock.event()) {
            run_.clock.wake_for_poll(w, poll_ps, w.fails == fails ? 0 : wait_ps(w.fails, probes));
        } else {
            enter_round(w, poll_ps);
        }
    }

    void wake_all() override { wake_each(dozing_.data(), dozing_.data()); }

    void move_gate(std::int32_t unit) override {
        for (const std::uint32_t worker : gated_) {
            if (run_.plan.steal.gate[worker] == unit) wake(worker);
        }
    }

private:
    // The queues that a worker reaches while the steal levels of the set `open` are open.
    struct Reach {
        bool known = false, all = false;  // `all`: perhaps all queues, and `queues` is empty
        std::uint64_t open = 0;
        std::vector<std::uint32_t> queues;
    };

    bool reaches_nothing(Worker& w) {
        Reach& reach = reaches_[w.id];
        if (!reach.known || reach.open != w.quiet.open) learn(w, reach);
        if (reach.all) return run_.queues.total() == 0;
        return std::ranges::all_of(reach.queues, [this](std::uint32_t q) { return run_.queues.length(q) == 0; });
    }

    void learn(Worker& w, Reach& reach) {
        for (const std::uint32_t q : reach.queues) ns_set_put(&who_reaches_[q * words_], w.id, false);
        reach = Reach{true, false, w.quiet.open, {}};
        if (w.own != NS_UNKNOWN) reach.queues.push_back(static_cast<std::uint32_t>(w.own));
        std::uint32_t before = UINT32_MAX;
        for (const std::uint32_t segment : w.quiet.segments) {
            const auto queues = polling_.candidates(segment);
            reach.all = reach.all || queues.size() + 1 >= run_.plan.steal.queue_count;
            if (segment != before) reach.queues.insert(reach.queues.end(), queues.begin(), queues.end());
            before = segment;
        }
        if (reach.all) reach.queues.clear();
        w.quiet.reaches_all = reach.all && !polling_.levels_change();
        ns_set_put(who_reaches_all_.data(), w.id, reach.all);
        for (const std::uint32_t q : reach.queues) ns_set_put(&who_reaches_[q * words_], w.id, true);
    }

    // A task has come into queue `q`.
    void filled(std::uint32_t q) override {
        is_marked() ? wake_all() : wake_each(who_reaches_all_.data(), &who_reaches_[q * words_]);
    }

    // Wake the dozing workers of two sets.
    void wake_each(const std::uint64_t* one, const std::uint64_t* other) {
        for (std::size_t at = 0; at < words_; ++at) {
            for (std::uint64_t left = dozing_[at] & (one[at] | other[at]); left != 0; left &= left - 1)
                wake(static_cast<std::uint32_t>(64 * at + static_cast<std::size_t>(std::countr_zero(left))));
        }
    }

    const bool waits_;                            // workers wait between rounds
    const std::size_t words_;                     // 64-bit words of a set of workers
    std::vector<Reach> reaches_;                  // [workers]
    std::vector<std::uint32_t> gated_;            // workers whose rounds depend on a gate
    std::vector<std::uint64_t> dozing_;           // [words]
    std::vector<std::uint64_t> who_reaches_all_;  // [words]
    std::vector<std::uint64_t> who_reaches_;      // [queues * words] the workers that reach each queue
};

}  // namespace numasim
