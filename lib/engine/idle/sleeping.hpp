// The interface of the two ways in which idle workers sleep: ForeseenProbes and LockedRounds (model 1.5).
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
    virtual void sleep(Worker& w) = 0;
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

    Run& run_;
    Polling& polling_;

private:
    std::ptrdiff_t& sleeping_;
    const std::size_t words_;              // 64-bit words of a watch
    std::vector<std::size_t> watches_;     // numbers of the watches of steal levels (not of dispatch rules)
    std::vector<std::uint64_t> no_marks_;  // [watches * words]
};

}  // namespace numasim
