// Skipping ahead: a phase whose only events are steals and ends of serial runs (skipped_work.hpp; model 1.7).
#pragma once

#include <algorithm>
#include <memory>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "shortcuts/skipped_ranges.hpp"
#include "shortcuts/skipped_trees.hpp"
#include "shortcuts/skipped_work.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

class SkipAhead {
public:
    SkipAhead(Run& run, MemorySystem& memory, WorkSource& source) : run_(run), memory_(memory), source_(source) {
        if (!run.plan.skipping) return;
        run.recorder.lose_details();
        trees_ = std::make_unique<SkippedTrees>(run, memory);
        dealt_ = std::make_unique<SkippedRanges>(run, memory);
    }

    // Whether the present phase skips ahead.
    bool active() const { return phase_ != nullptr; }

    // Deal the roots or the range of the phase to workers, as serial runs.
    [[gnu::noinline]] void start_phase() {
        const Phase& phase = source_.phase();
        if (phase.family >= 0) {
            phase_ = dealt_.get();
            const auto family = static_cast<std::size_t>(phase.family);
            dealt_->start_phase(family);
            for (Worker& w : run_.team) {
                const ns_items dealt =
                    ns_dealt_items(phase.deal, w.id, run_.plan.workers, 0, run_.ranges.count(family));
                if (dealt.count == 0) continue;
                dealt_->start(w, {static_cast<std::int64_t>(dealt.first), dealt.step, dealt.count},
                              run_.clock.now_ps());
                reschedule(w);
            }
        } else {
            phase_ = trees_.get();
            trees_->take_speeds();
            for (std::size_t r = 0; r < phase.roots.size(); ++r) {
                Worker& w = run_.team[ns_dealt_to(phase.deal, r, phase.roots.size(), run_.plan.workers)];
                trees_->start(w, static_cast<std::uint32_t>(phase.roots[r]), run_.clock.now_ps());
                reschedule(w);
            }
        }
        source_.set_unfinished(phase_->finished() ? 0 : 1);
    }

    // A worker's run has ended. Returns whether the worker has nothing to do now.
    [[gnu::noinline]] bool end_run(Worker& w) {
        const RunEnd end = phase_->ended(w, run_.clock.now_ps());
        if (end.extended != NOBODY) reschedule(run_.team[end.extended]);
        if (end.goes_on) {
            reschedule(w);
            return false;
        }
        if (phase_->finished()) source_.set_unfinished(0);
        return true;
    }

    // Speeds of workers have changed at the end of an instant. The ends of these workers' runs move.
    [[gnu::noinline]] void follow_speeds() {
        for (const std::uint32_t worker : memory_.respeeded()) {
            Worker& w = run_.team[worker];
            if (phase_->change_speed(w, run_.clock.now_ps())) reschedule(w);
        }
    }

    // `holds_task`: whether queue `q` holds a task now. `steal`: give `thief` the task at the queue's far end.
    bool holds_task(std::uint32_t q) { return phase_->holds_task(owner_of(q), run_.clock.now_ps()); }

    [[gnu::noinline]] void steal(Worker& thief, std::uint32_t q) {
        Worker& victim = owner_of(q);
        phase_->steal(thief, victim, run_.clock.now_ps());
        reschedule(thief);
        reschedule(victim);
    }

    // A time before which no queue will hold a task; the present time if a queue holds a task.
    std::int64_t no_task_before_ps() { return phase_->no_task_before_ps(run_.team, run_.clock.now_ps()); }
    std::int64_t take_span_ps() { return phase_->take_span_ps(); }

    // The state of the present phase if the phase consists of a range, else nullptr.
    SkippedRanges* ranges() { return phase_ == dealt_.get() ? dealt_.get() : nullptr; }
    Worker& owner_of(std::uint32_t q) { return run_.team[static_cast<std::size_t>(run_.plan.steal.queues[q].owner)]; }
    // The end of the worker's run has moved.
    void reschedule(Worker& w) { run_.clock.schedule(w, SEG_END, phase_->end_ps(w.id) - run_.clock.now_ps()); }

private:
    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::unique_ptr<SkippedTrees> trees_;   // if the plan skips ahead
    std::unique_ptr<SkippedRanges> dealt_;  // if the plan skips ahead
    SkippedWork* phase_ = nullptr;          // `trees_` or `dealt_`, as the present phase has roots or a range
};

}  // namespace numasim
