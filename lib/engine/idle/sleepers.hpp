// Idle workers whose rounds are known to fail have no events of their own (model 1.5). If probes take no locks, each
// worker sleeps by itself (ForeseenProbes). If probes take locks, all workers that search under one lock sleep together
// (LockedRounds). A run has at most one of these two.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "idle/polling.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"

namespace numasim {

// How idle workers of a run sleep.
class Sleeping : public QueueAttendant {
public:
    // `sleeping` is where sleepers are counted.
    Sleeping(Run& run, Polling& polling, std::ptrdiff_t& sleeping);
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
    bool is_marked() const;

protected:
    // Count `more` sleepers: workers, or circles of workers. While there are any, they are told of tasks that come into
    // queues.
    void count(std::ptrdiff_t more) {
        sleeping_ += more;
        run_.queues.set_attendant(sleeping_ != 0 ? this : nullptr);
    }
    // What a thief sees while no watch is set.
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

class Sleepers {
public:
    Sleepers(Run& run, SyncObjects& sync, Polling& polling);

    void sleep(Worker& w) {
        if (kind_) kind_->sleep(w);
    }
    bool sleeps_on(Worker& w) { return any() && kind_->sleeps_on(w); }
    bool request(Worker& w, std::uint32_t lock) { return any() && kind_->request(w, lock); }
    void wake(std::uint32_t worker) {
        if (any()) kind_->wake(worker);
    }
    // After every event: if no worker is busy, workers that look for work may find that no work is left (model 1.6).
    void happened() {
        if (any() && !clock_.anybody_is_busy()) kind_->wake_all();
    }
    // Watches may have been set.
    void marked() {
        if (any() && kind_->is_marked()) kind_->wake_all();
    }
    // A phase ends: the locks of the search are about to be taken from all workers.
    void end_phase() {
        if (locks_ && any()) kind_->wake_all();
    }

private:
    bool any() const { return sleeping_ != 0; }

    std::ptrdiff_t sleeping_ = 0;  // is here, and not behind `kind_`, for the fast checks of every event
    const Clock& clock_;
    const bool locks_;                      // probes take locks
    const std::unique_ptr<Sleeping> kind_;  // nullptr where no worker may ever sleep
};

}  // namespace numasim
