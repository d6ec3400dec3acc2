// Idle workers whose probes are known to fail: they sleep through them, without an event each (model 1.5).
//
// What a probe of random picks finds depends on one queue alone, at one moment. So a worker that has found nothing
// draws its next rounds beforehand, up to the first probe of a queue that holds a task now, counts them as failed and
// sleeps until they are over; then it draws the next ones. Every probe is noted at its queue. While a queue holds a
// task, the next of the sleepers to probe it has an event at the round in which it does, and wakes if the task is still
// there. Whoever wakes early takes back what it has counted and not done.
#pragma once

#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "idle/thief_marks.hpp"
#include "state/run.hpp"

namespace numasim {

class ForeseenProbes : private QueueAttendant {
public:
    ForeseenProbes(Run& run, Polling& polling, const ThiefMarks& marks);

    // The worker's next event is a poll: let it sleep for as long as it can only fail.
    void sleep(Worker& w);

    // Its poll is due: whether it goes on sleeping; else it is awake.
    bool sleeps_on(Worker& w) { return sleepers_[w.id].asleep && turn_over(w); }

    // Something may change what it does, at the event at hand; where it sleeps, it goes on event by event.
    void wake(std::uint32_t worker) {
        if (!sleepers_[worker].asleep) return;
        rouse(run_.team[worker]);
        attend_left();
    }

    // After every event: where nobody is at work, who looks for work may find out that there is none (model 1.6).
    void happened() {
        if (asleep_ != 0 && !run_.clock.anybody_is_busy()) wake_all();
    }
    // Marks of watches may have been set.
    void marked() {
        if (asleep_ != 0 && marks_.any()) wake_all();
    }

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    // The rounds that a sleeping worker has counted beforehand; it had failed `fails` times before them, and
    // `fails_awake` times when it fell asleep.
    struct Sleeper {
        bool asleep = false;
        std::int64_t event_ps = 0;
        std::int64_t fails = 0, fails_awake = 0;
        std::int64_t most = LEAST_PROBES;    // that it foresees at a time
        std::vector<std::int64_t> polls;     // when each of the rounds begins, and the one after them
        std::vector<std::uint32_t> picks;    // the queues that they probe
        std::vector<std::uint32_t> attends;  // queues with tasks for whose probes it has an event, and others

        std::size_t rounds() const { return polls.size() - 1; }
    };

    // A probe that takes effect at `look_ps`, if its worker still sleeps as it did.
    struct Note {
        std::int64_t look_ps;
        std::uint32_t worker, nap;

        bool operator<(const Note& other) const {
            return look_ps != other.look_ps ? look_ps < other.look_ps : worker < other.worker;
        }
    };

    struct Queue {
        std::vector<Note> notes;  // in any order, some of them void
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
    void wake_all();
    std::size_t rounds_over(const Worker& w) const;
    void take_back(Worker& w, std::size_t done);
    void enter_round(Worker& w, std::int64_t poll_ps);
    void count_asleep(std::ptrdiff_t more);

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

    Run& run_;
    Polling& polling_;
    const ThiefMarks& marks_;
    std::vector<Sleeper> sleepers_;        // [workers]
    std::vector<std::uint32_t> naps_;      // [workers] how often it has woken
    std::vector<Queue> queues_;            // [queues]
    std::vector<std::int64_t> probes_ps_;  // that the picks at hand take
    std::vector<std::uint32_t> left_;      // queues that somebody has had an event for who is awake now
    std::size_t asleep_ = 0;
};

}  // namespace numasim
