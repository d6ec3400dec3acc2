#include "shortcuts/skip_ahead.hpp"

#include <algorithm>

#include "plan.hpp"
#include "shortcuts/skipped_work.hpp"

namespace numasim {

std::int64_t SkippedWork::no_task_before_ps(std::span<Worker> workers, std::int64_t now_ps) {
    if (finished()) return now_ps;
    if (now_ps < no_task_before_ps_) return no_task_before_ps_;
    if (holds_task(workers[holder_], now_ps)) return now_ps;
    const auto holder = std::ranges::find_if(workers, [&](Worker& w) { return holds_task(w, now_ps); });
    if (holder != workers.end()) {
        holder_ = holder->id;
        return now_ps;
    }
    no_task_before_ps_ = next_change_ps();
    return std::max(no_task_before_ps_, now_ps);
}

SkipAhead::SkipAhead(Run& run, MemorySystem& memory, WorkSource& source) : run_(run), memory_(memory), source_(source) {
    if (!run.plan.skipping) return;
    run.recorder.lose_details();
    trees_ = std::make_unique<SkippedTrees>(run, memory);
    dealt_ = std::make_unique<SkippedRanges>(run, memory);
}

void SkipAhead::start_phase() {
    const Phase& phase = source_.phase();
    if (phase.family >= 0) {
        phase_ = dealt_.get();
        const auto family = static_cast<std::size_t>(phase.family);
        dealt_->start_phase(family);
        for (Worker& w : run_.team) {
            const ns_items dealt = ns_dealt_items(phase.deal, w.id, run_.plan.workers, 0, run_.ranges.count(family));
            if (dealt.count == 0) continue;
            dealt_->start(w, {static_cast<std::int64_t>(dealt.first), dealt.step, dealt.count}, run_.clock.now_ps());
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

bool SkipAhead::end_run(Worker& w) {
    const RunEnd end = phase_->ended(w, run_.clock.now_ps());
    if (end.extended != NOBODY) reschedule(run_.team[end.extended]);
    if (end.goes_on) {
        reschedule(w);
        return false;
    }
    if (phase_->finished()) source_.set_unfinished(0);
    return true;
}

void SkipAhead::follow_speeds() {
    for (const std::uint32_t worker : memory_.respeeded()) {
        Worker& w = run_.team[worker];
        if (phase_->change_speed(w, run_.clock.now_ps())) reschedule(w);
    }
}

void SkipAhead::steal(Worker& thief, std::uint32_t q) {
    Worker& victim = owner_of(q);
    phase_->steal(thief, victim, run_.clock.now_ps());
    reschedule(thief);
    reschedule(victim);
}

}  // namespace numasim
