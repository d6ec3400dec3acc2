// Skipping ahead: in a whole phase only steals and the ends of serial runs are events (model 1.7).
#pragma once

#include <memory>

#include "memory/memory_system.hpp"
#include "shortcuts/skipped_ranges.hpp"
#include "shortcuts/skipped_trees.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

class SkipAhead {
public:
    SkipAhead(Run& run, MemorySystem& memory, WorkSource& source);

    // Whether the present phase is skipped over.
    bool active() const { return phase_ != nullptr; }
    // Give workers the roots or the range of the phase as serial runs.
    void start_phase();

    // A worker's run has ended. Returns whether the worker has nothing to do now.
    bool end_run(Worker& w);

    // Speeds have changed at the end of an instant.
    void follow_speeds();

    // Whether a queue holds a task now; give `thief` the task at the far end of the queue.
    bool holds_task(std::uint32_t q) { return phase_->holds_task(owner_of(q), run_.clock.now_ps()); }
    void steal(Worker& thief, std::uint32_t q);

    // A time before which no queue will hold a task; the present time if one holds a task.
    std::int64_t no_task_before_ps() { return phase_->no_task_before_ps(run_.team, run_.clock.now_ps()); }
    std::int64_t take_span_ps() { return phase_->take_span_ps(); }

    // The ranges, if the phase consists of a range, otherwise nullptr.
    SkippedRanges* ranges() { return phase_ == dealt_.get() ? dealt_.get() : nullptr; }
    Worker& owner_of(std::uint32_t q) { return run_.team[static_cast<std::size_t>(run_.plan.steal.queues[q].owner)]; }
    // The end of the worker's run has moved.
    void reschedule(Worker& w) { run_.clock.schedule(w, SEG_END, phase_->end_ps(w.id) - run_.clock.now_ps()); }

private:
    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::unique_ptr<SkippedTrees> trees_;   // if the plan skips ahead
    std::unique_ptr<SkippedRanges> dealt_;  // likewise
    SkippedWork* phase_ = nullptr;          // the one of the present phase
};

}  // namespace numasim
