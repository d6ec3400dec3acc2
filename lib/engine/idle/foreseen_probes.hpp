// Idle workers whose probes are known to fail sleep through them, without an event for each (model 1.5).
//
// What a probe of a random pick finds depends on one queue at one moment. A worker that has found nothing draws its
// next rounds beforehand, up to the first probe of a queue that holds a task now. It counts these rounds as failed,
// sleeps until they are over, and then draws the next ones. Every drawn probe is noted at its queue. While a queue
// holds a task, the sleeper that probes the queue next has an event at the round of that probe, and wakes if the task
// is still there. A sleeper that wakes early takes back the rounds that it has counted but not made.
#pragma once

#include <cstdint>
#include <vector>

#include "idle/sleepers.hpp"

namespace numasim {

class ForeseenProbes final : public Sleeping {
public:
    ForeseenProbes(Run& run, Polling& polling, std::ptrdiff_t& sleeping);

    void sleep(Worker& w) override;
    bool sleeps_on(Worker& w) override { return sleepers_[w.id].asleep && turn_over(w); }
    void wake(std::uint32_t worker) override {
        if (!sleepers_[worker].asleep) return;
        rouse(run_.team[worker]);
        attend_left();
    }
    void wake_all() override;

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    // The rounds that a sleeping worker has counted beforehand. The worker had failed `fails` times before these
    // rounds, and `fails_awake` times when it fell asleep.
    struct Sleeper {
        bool asleep = false;
        std::int64_t event_ps = 0;
        std::int64_t fails = 0, fails_awake = 0;
        std::int64_t most = LEAST_PROBES;  // probes that are drawn at a time
        std::vector<std::int64_t> polls;   // when each of the rounds begins, and the round after them
        std::vector<std::uint32_t> picks;  // the queues that the rounds probe
        std::vector<std::uint32_t>
            attends;  // queues with tasks, for whose probes the worker has an event; some may be empty now

        std::size_t rounds() const { return polls.size() - 1; }
    };

    // A probe that takes effect at `look_ps`. The note is void once its worker has woken.
    struct Note {
        std::int64_t look_ps;
        std::uint32_t worker, nap;

        bool operator<(const Note& other) const {
            return look_ps != other.look_ps ? look_ps < other.look_ps : worker < other.worker;
        }
    };

    struct Queue {
        std::vector<Note> notes;  // in any order; some are void
        std::uint32_t owner = NOBODY;
    };

    bool may_sleep(Worker& w);
    void foresee(Worker& w, std::int64_t poll_ps);
    void draw(const Worker& w, std::size_t rounds);
    bool foresee_round(Worker& w, std::size_t first);
    void note(std::uint32_t q, const Note& note);
    bool turn_over(Worker& w);
    std::size_t next_found(const Worker& w, std::size_t round) const;

    void rouse(Worker& w);
    std::size_t rounds_over(const Worker& w) const;
    void take_back(Worker& w, std::size_t done);
    void enter_round(Worker& w, std::int64_t poll_ps);

    void filled(std::uint32_t q) override;
    void attend(std::uint32_t q);
    void attend_left();
    const Note* next_note(std::uint32_t q) const;
    bool is_valid(const Note& note) const {
        return naps_[note.worker] == note.nap && is_ahead(note.look_ps, LOOK, note.worker);
    }
    bool is_ahead(std::int64_t ps, Rank rank, std::uint32_t worker) const {
        return event_key(ps, rank, worker) > run_.clock.event();
    }
    std::int64_t wait_ps(std::int64_t fails) const { return ns_backoff_wait_ps(&run_.plan.backoff, fails, true); }

    static constexpr std::int64_t LEAST_PROBES = 8;

    std::vector<Sleeper> sleepers_;        // [workers]
    std::vector<std::uint32_t> naps_;      // [workers] how often each has woken
    std::vector<Queue> queues_;            // [queues]
    std::vector<std::int64_t> probes_ps_;  // how long the probes of the picks take
    std::vector<std::uint32_t> left_;      // queues for whose probes workers had events that are awake now
};

}  // namespace numasim
