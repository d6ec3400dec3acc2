// Idle workers whose probes are known to fail: they sleep through them, without an event each (model 1.5).
//
// What a probe of random picks finds depends on one queue alone, at one moment. So a worker that has found nothing
// draws its next rounds beforehand, up to the first probe of a queue that holds a task now, and sleeps until that
// round; every other probe is noted at its queue. When a task comes into a queue, the worker with the next probe noted
// there is made to wake for it. Rounds that were slept through are counted when the worker wakes.
#pragma once

#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "state/run.hpp"

namespace numasim {

class ForeseenProbes : private QueueAttendant {
public:
    ForeseenProbes(Run& run, Polling& polling);

    // The worker's next event is a poll: let it sleep for as long as it can only fail.
    void sleep(Worker& w);

    // Its poll is due: count the rounds before it.
    void poll(const Worker& w) { wake(w.id); }
    // Something may change what it does, at the event at hand; where it sleeps, it goes on event by event.
    void wake(std::uint32_t worker) {
        if (sleepers_[worker].asleep) rouse(run_.team[worker]);
    }

    // A probe of a queue has taken effect; the worker has found something to do; marks of watches may have been set.
    void looked(std::uint32_t q) {
        if (asleep_ != 0 && run_.queues.length(q) != 0 && !is_attended(q)) attend(q);
    }
    void stopped(const Worker& w) {
        if (!sleepers_[w.id].attends.empty()) pass_on(w);
    }
    // After every event: where nobody is at work, who looks for work may find out that there is none (model 1.6).
    void happened() {
        if (asleep_ != 0 && !run_.clock.anybody_is_busy()) wake_all();
    }
    void marked() {
        if (asleep_ != 0 && thieves_see_marks()) wake_all();
    }

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    // While it is asleep, its next round begins at `poll_ps`, its next event is at `event_ps`; its `sleeps` are counted
    // when it wakes; it has failed `fails` times before.
    struct Sleeper {
        bool asleep = false;
        std::uint32_t sleeps = 0;
        std::int64_t poll_ps = 0, event_ps = 0, fails = 0;
        std::int64_t most = 8;  // probes that it foresees: about twice as many as it slept through the last time
        std::vector<std::uint32_t> attends;  // queues
    };

    // A probe that takes effect at `look_ps`, in a round that begins at `poll_ps`.
    struct Probe {
        std::int64_t look_ps, poll_ps;
        std::uint32_t worker, sleeps;

        bool operator>(const Probe& other) const {
            return look_ps != other.look_ps ? look_ps > other.look_ps : worker > other.worker;
        }
    };

    // One of the round at hand.
    struct Pick {
        std::uint32_t q;
        std::int64_t look_ps;
    };

    struct Queue {
        std::vector<Probe> probes;  // a heap, the next one first
        Probe attended{0, 0, NOBODY, 0};
        std::uint32_t owner = NOBODY;
    };

    void rouse(Worker& w);
    bool may_sleep(Worker& w);
    bool thieves_see_marks() const;
    std::int64_t foresee(Worker& w, std::int64_t poll_ps);
    bool is_ahead(std::int64_t ps, Rank rank, std::uint32_t worker) const {
        return ns_event_key_of(ps, rank, worker) > run_.clock.event();
    }
    bool is_valid(const Probe& probe) const;
    bool is_attended(std::uint32_t q) const;
    void attend(std::uint32_t q);
    void filled(std::uint32_t q) override;
    void count_asleep(std::ptrdiff_t more);
    void pass_on(const Worker& w);
    void wake_all();
    void enter_round(Worker& w, std::int64_t poll_ps);
    void note(std::uint32_t q, const Probe& probe);

    Run& run_;
    Polling& polling_;
    std::vector<Sleeper> sleepers_;  // [workers]
    std::vector<Queue> queues_;      // [queues]
    std::vector<std::uint32_t> watches_;  // that steal levels go by
    std::vector<std::uint64_t> no_marks_;
    std::vector<Pick> round_;
    std::size_t asleep_ = 0;
};

}  // namespace numasim
