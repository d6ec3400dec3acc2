// Skipping ahead: a whole phase in which only steals and the ends of serial runs are events (model 1.7).
#pragma once

#include <memory>

#include "work_source.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skipped_ranges.hpp"
#include "shortcuts/skipped_trees.hpp"
#include "state/run.hpp"

namespace numasim {

class SkipAhead {
public:
    SkipAhead(Run& run, MemorySystem& memory, WorkSource& source);

    // Whether the phase is skipped over.
    bool active() const { return phase_ != nullptr; }
    // Give workers the roots or the range of the phase, as serial runs.
    void start_phase();

    // The end of a worker's run has come; true: it has nothing to do any more.
    bool end_run(Worker& w);

    // Speeds have changed at the end of an instant.
    void follow_speeds();

    // Whether queue `q` holds a task now; let `thief` have the one at its far end.
    bool holds_task(std::uint32_t q) { return phase_->holds_task(owner_of(q), run_.clock.now_ps()); }
    void steal(Worker& thief, std::uint32_t q);

    // The time before which no queue will hold a task; now, where one does.
    std::int64_t no_task_before_ps() { return phase_->no_task_before_ps(run_.team, run_.clock.now_ps()); }
    std::int64_t take_span_ps() { return phase_->take_span_ps(); }

    // The items of a phase that consists of a range, otherwise nullptr.
    SkippedRanges* ranges() { return phase_ == dealt_.get() ? dealt_.get() : nullptr; }
    Worker& owner_of(std::uint32_t q) { return run_.team[static_cast<std::size_t>(run_.plan.steal.queues[q].owner)]; }
    // The end of the worker's run has moved.
    void reschedule(Worker& w) { run_.clock.schedule(w, SEG_END, phase_->end_ps(w.id) - run_.clock.now_ps()); }

private:
    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::unique_ptr<SkippedTrees> trees_;   // where the plan skips ahead
    std::unique_ptr<SkippedRanges> dealt_;  // likewise
    SkippedWork* phase_ = nullptr;          // that of the phase
};

}  // namespace numasim
