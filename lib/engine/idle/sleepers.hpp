// Idle workers whose rounds are known to fail sleep here: they have no events of their own (model 1.5). If probes take
// no locks, each worker sleeps by itself (ForeseenProbes). If probes take locks, all workers that search under one lock
// sleep together (LockedRounds). A run uses at most one of the two ways.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "idle/foreseen_probes.hpp"
#include "idle/locked_rounds.hpp"
#include "idle/polling.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"

namespace numasim {

// Return the way in which idle workers of a run sleep. It is nullptr (no worker sleeps) if rounds have more steps than
// a poll and its probes, or if queues may hold copies of tasks.
inline std::unique_ptr<Sleeping> kind_of(Run& run, SyncObjects& sync, Polling& polling, std::ptrdiff_t& sleeping) {
    const Plan& plan = run.plan;
    const bool may_sleep = plan.skip && plan.one_queue_each && !plan.backoff_after_probe && !run.queues.has_copies();
    if (!may_sleep) return nullptr;
    if (plan.locks_probes) return std::make_unique<LockedRounds>(run, sync, polling, sleeping);
    return std::make_unique<ForeseenProbes>(run, polling, sleeping);
}

class Sleepers {
public:
    Sleepers(Run& run, SyncObjects& sync, Polling& polling)
        : clock_(run.clock), locks_(run.plan.locks_probes), kind_(kind_of(run, sync, polling, sleeping_)) {}

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

    std::ptrdiff_t sleeping_ = 0;  // number of sleepers; a member of this class for fast checks after every event
    const Clock& clock_;
    const bool locks_;                      // probes take locks
    const std::unique_ptr<Sleeping> kind_;  // nullptr where no worker may ever sleep
};

}  // namespace numasim
