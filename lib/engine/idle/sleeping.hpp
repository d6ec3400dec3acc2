// The interface of the ways in which idle workers sleep: Dozing, ForeseenProbes and LockedRounds (model 1.5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "state/run.hpp"

namespace numasim {

// The way in which idle workers of a run sleep: have no events while their rounds are known to fail.
class Sleeping : public QueueAttendant {
public:
    // `sleeping` is the variable that counts the sleepers.
    Sleeping(Run& run, Polling& polling, std::ptrdiff_t& sleeping)
        : run_(run),
          polling_(polling),
          sleeping_(sleeping),
          words_(ns_set_words(run.plan.steal.queue_count)),
          no_marks_(std::size_t{run.plan.steal.watches} * words_, 0) {
        for (std::uint32_t index = 0; index < run.plan.steal.steal_levels; ++index) {
            const std::uint8_t watch = run.plan.steal.level[index].watch;
            if (watch != NS_NONE8) watches_.push_back(watch);
        }
    }
    virtual ~Sleeping() = default;
    Sleeping(const Sleeping&) = delete;

    // The worker's next event is a poll. Let the worker sleep as long as its rounds can only fail.
    virtual void sleep(Worker&) {}
    // The worker begins its next round after `wait_ps`. Returns whether the worker sleeps from now on, without an
    // event.
    virtual bool doze(Worker&, std::int64_t) { return false; }
    // The number of live or awaited subtrees of a unit is about to change, so that a gate may open or close.
    virtual void move_gate(std::int32_t) {}
    // The poll of a worker is due. Returns whether the worker goes on sleeping.
    virtual bool sleeps_on(Worker&) { return false; }
    // The worker asks for a lock for its probe. Returns whether it sleeps from now on, and the request is made here.
    virtual bool request(Worker&, std::uint32_t) { return false; }
    // The present event may change what the worker does. Give the worker events again if it sleeps.
    virtual void wake(std::uint32_t worker) = 0;
    virtual void wake_all() = 0;

    // Whether a watch of a steal level is set for some queue. In this case no worker sleeps.
    bool is_marked() const {
        if (run_.queues.marked() == 0) return false;
        const std::uint64_t* const bits = run_.queues.view().watch;
        return std::ranges::any_of(watches_, [&](std::size_t watch) {
            const std::uint64_t* const marks = bits + watch * words_;
            return std::any_of(marks, marks + words_, [](std::uint64_t word) { return word != 0; });
        });
    }

protected:
    // Add `more` to the number of sleepers: workers, or circles of LockedRounds. While it is not 0, this object is told
    // of tasks that come into queues.
    void count(std::ptrdiff_t more) {
        sleeping_ += more;
        run_.queues.set_attendant(sleeping_ != 0 ? this : nullptr);
    }
    // What a thief sees of the run if no watch is set.
    ns_view unmarked_view() const {
        ns_view view = run_.queues.view();
        view.watch = no_marks_.data();
        return view;
    }
    bool is_ahead(std::int64_t ps, Rank rank, std::uint32_t worker) const {
        return event_key(ps, rank, worker) > run_.clock.event();
    }
    std::int64_t wait_ps(std::int64_t fails, bool probed = true) const {
        return ns_backoff_wait_ps(&run_.plan.backoff, fails, probed);
    }
    // Whether the worker waits in a nested join and may search its own queue only.
    bool is_bound(const Worker& w) const { return !w.stack.empty() && ns_joins_by_itself(&run_.plan); }

    // The round that began at `poll_ps` is under way. Count its probes that have failed by now. Send its next probe.
    void enter_round(Worker& w, std::int64_t poll_ps) {
        const ns_view quiet = unmarked_view();
        std::int64_t look_ps = poll_ps;
        w.probed = true;
        w.probes_nobody = false;
        ns_round_begin(&w.round);
        for (;;) {
            ns_round_next(&w.round, &run_.plan.steal, &run_.queues.actor(w.id), &quiet, &w.level, &w.target);
            const std::int64_t probe_ps = ns_probe_ps(&run_.plan, &w, w.target);
            w.counters.idle_steal_ps += probe_ps;
            look_ps += probe_ps;
            if (is_ahead(look_ps, LOOK, w.id)) return run_.clock.wake_for_look(w, look_ps, probe_ps);
            if (ns_is_attempt(&run_.plan, w.level)) polling_.count_failed(w, w.target, 1);
        }
    }

    Run& run_;
    Polling& polling_;

private:
    std::ptrdiff_t& sleeping_;
    const std::size_t words_;              // 64-bit words of a watch
    std::vector<std::size_t> watches_;     // numbers of the watches of steal levels (not of dispatch rules)
    std::vector<std::uint64_t> no_marks_;  // [watches * words]
};

}  // namespace numasim
