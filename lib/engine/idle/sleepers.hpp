// Idle workers whose rounds are known to fail sleep here: they have no events of their own (model 1.5). A run uses at
// most one of three ways. If probes take locks, all workers that search under one lock sleep together (LockedRounds).
// If each worker has one queue, all levels are always open, and workers wait between rounds, each worker sleeps until
// the next of its probes that may succeed (ForeseenProbes). Else each worker sleeps while it can reach no task
// (Dozing).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "idle/dozing.hpp"
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
    if (!plan.skip || plan.backoff_after_probe || run.queues.has_copies()) return nullptr;
    if (plan.locks_probes && !plan.one_queue_each) return nullptr;
    if (plan.locks_probes) return std::make_unique<LockedRounds>(run, sync, polling, sleeping);
    if (plan.one_queue_each && !polling.levels_change() && ns_backoff_wait_ps(&plan.backoff, 1, true) != 0)
        return std::make_unique<ForeseenProbes>(run, polling, sleeping);
    if (!all_levels_of_me(plan.steal)) return nullptr;
    return std::make_unique<Dozing>(run, polling, sleeping);
}

class Sleepers {
public:
    Sleepers(Run& run, SyncObjects& sync, Polling& polling)
        : clock_(run.clock),
          queues_(run.queues),
          gate_(run.plan.steal.gate),
          locks_(run.plan.locks_probes),
          kind_(kind_of(run, sync, polling, sleeping_)),
          dozes_(dynamic_cast<Dozing*>(kind_.get()) != nullptr) {}

    // Whether the worker sleeps from now on, instead of beginning a round after `wait_ps`.
    bool doze(Worker& w, std::int64_t wait_ps) {
        return dozes_ && !(w.quiet.reaches_all && queues_.total() != 0) && kind_->doze(w, wait_ps);
    }

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
    // `ns_live_begin` and `ns_live_finish`: workers whose gate opens or closes wake before.
    void begin_live(ns_live_subtrees& live, std::uint32_t worker, std::uint32_t row) {
        if (any() && ns_live_begins(&live, row)) {
            kind_->move_gate(gate_[worker]);
            kind_->move_gate(ns_live_label(&live, row));
        }
        ns_live_begin(&live, worker, row);
    }
    bool finish_live(ns_live_subtrees& live, std::uint32_t row) {
        if (any() && ns_live_ends(&live, row)) kind_->move_gate(live.unit[live.root[row]]);
        return ns_live_finish(&live, row);
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
    const TaskQueues& queues_;
    const std::int32_t* const gate_;        // [workers] the unit of each worker
    const bool locks_;                      // probes take locks
    const std::unique_ptr<Sleeping> kind_;  // nullptr where no worker may ever sleep
    const bool dozes_;                      // `kind_` is Dozing
};

}  // namespace numasim
