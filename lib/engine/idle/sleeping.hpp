// How idle workers sleep whose rounds are known to fail (model 1.5): the interface of ForeseenProbes and LockedRounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "state/run.hpp"

namespace numasim {

// How idle workers of a run sleep.
class Sleeping : public QueueAttendant {
public:
    // `sleeping` is where sleepers are counted.
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
    // The worker asks for a lock of its search now. Returns whether the sleepers take over the request.
    virtual bool request(Worker&, std::uint32_t) { return false; }
    // The event at hand may change what the worker does. Give the worker events again if it sleeps.
    virtual void wake(std::uint32_t worker) = 0;
    virtual void wake_all() = 0;

    // Whether a watch of a steal level is set. While one is set, no worker sleeps.
    bool is_marked() const {
        if (run_.queues.marked() == 0) return false;
        const std::uint64_t* const bits = run_.queues.view().watch;
        return std::ranges::any_of(watches_, [&](std::size_t watch) {
            const std::uint64_t* const marks = bits + watch * words_;
            return std::any_of(marks, marks + words_, [](std::uint64_t word) { return word != 0; });
        });
    }

protected:
    // Count `more` sleepers: workers, or circles of workers. While there are any, they are told of tasks that come into
    // queues.
    void count(std::ptrdiff_t more) {
        sleeping_ += more;
        run_.queues.set_attendant(sleeping_ != 0 ? this : nullptr);
    }
    // The view of a thief while no watch is set.
    ns_view unmarked_view() const {
        ns_view view = run_.queues.view();
        view.watch = no_marks_.data();
        return view;
    }

    Run& run_;
    Polling& polling_;

private:
    std::ptrdiff_t& sleeping_;
    const std::size_t words_;              // of a watch
    std::vector<std::size_t> watches_;     // of steal levels; the other watches belong to dispatch rules
    std::vector<std::uint64_t> no_marks_;  // [watches * words]
};

}  // namespace numasim
