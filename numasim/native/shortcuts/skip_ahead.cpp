#include "shortcuts/skip_ahead.hpp"

#include "policy/ranges.h"

namespace numasim {

SkipAhead::SkipAhead(const Plan& plan, Clock& clock, Recorder& recorder, const ItemRanges& ranges, Team& team,
                     MemorySystem& memory, WorkSource& source)
    : plan_(plan), clock_(clock), items_(ranges), team_(team), source_(source) {
    if (!plan.skipping) return;
    recorder.lose_details();
    trees_ = std::make_unique<SkippedTrees>(plan.graph, plan.times, plan.node, plan.nodes, memory.bytes());
    ranges_ = std::make_unique<SkippedRanges>(plan.workers, plan.nodes, plan.costs.pop_ps, memory.bytes());
}

void SkipAhead::start_phase() {
    const Phase& phase = source_.phase();
    if (phase.family >= 0) {
        phase_ = ranges_.get();
        const auto family = static_cast<std::size_t>(phase.family);
        for (Worker& w : team_) {
            const ns_items dealt = ns_dealt_items(phase.deal, w.id, plan_.workers, 0, items_.count(family));
            if (dealt.count == 0) continue;
            ranges_->start(w, items_.times(family), {static_cast<std::int64_t>(dealt.first), dealt.step, dealt.count},
                           clock_.now_ps());
            reschedule(w);
        }
    } else {
        phase_ = trees_.get();
        for (std::size_t r = 0; r < phase.roots.size(); ++r) {
            Worker& w = team_[ns_dealt_to(phase.deal, r, phase.roots.size(), plan_.workers)];
            trees_->start(w, static_cast<std::uint32_t>(phase.roots[r]), clock_.now_ps());
            reschedule(w);
        }
    }
    source_.set_unfinished(phase_->finished() ? 0 : 1);
}

bool SkipAhead::end_run(Worker& w) {
    const RunEnd end = phase_->ended(w, clock_.now_ps());
    if (end.extended != NOBODY) reschedule(team_[end.extended]);
    if (end.goes_on) {
        reschedule(w);
        return false;
    }
    if (phase_->finished()) source_.set_unfinished(0);
    return true;
}

void SkipAhead::steal(Worker& thief, std::uint32_t q) {
    Worker& victim = owner_of(q);
    phase_->steal(thief, victim, clock_.now_ps());
    reschedule(thief);
    reschedule(victim);
}

}  // namespace numasim
