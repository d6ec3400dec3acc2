// Idle workers whose rounds are known to fail, without an event each (model 1.5): by themselves where probes take no
// locks, together where they take one.
#pragma once

#include <cstdint>

#include "idle/foreseen_probes.hpp"
#include "idle/locked_rounds.hpp"
#include "idle/thief_marks.hpp"

namespace numasim {

class Sleepers {
public:
    Sleepers(Run& run, SyncObjects& sync, Polling& polling)
        : marks_(run), foreseen_(run, polling, marks_), locked_(run, sync, polling, marks_) {}
    Sleepers(const Sleepers&) = delete;

    // The worker's next event is a poll: let it sleep for as long as it can only fail.
    void sleep(Worker& w) {
        foreseen_.sleep(w);
        locked_.sleep(w);
    }

    // Its poll is due: whether it goes on sleeping; else it is awake.
    bool sleeps_on(Worker& w) { return foreseen_.sleeps_on(w); }

    // It asks for a lock of its search, now: whether others see to that who use that lock without events.
    bool request(Worker& w, std::uint32_t lock) { return locked_.request(w, lock); }

    // Something may change what it does, at the event at hand; where it sleeps, it goes on event by event.
    void wake(std::uint32_t worker) {
        foreseen_.wake(worker);
        locked_.wake(worker);
    }

    // After every event: where nobody is at work, who looks for work may find out that there is none (model 1.6).
    void happened() {
        foreseen_.happened();
        locked_.happened();
    }
    // Marks of watches may have been set.
    void marked() {
        foreseen_.marked();
        locked_.marked();
    }
    // Locks of the search are about to be taken from all.
    void end_phase() { locked_.wake_all(); }

private:
    ThiefMarks marks_;
    ForeseenProbes foreseen_;
    LockedRounds locked_;
};

}  // namespace numasim
