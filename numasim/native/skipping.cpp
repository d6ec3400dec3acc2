// Skipping ahead: what the engine does with the strands of workers (model 1.7).
#include "engine.hpp"

namespace numasim {

void Engine::start_strands(const Phase& phase) {
    if (phase.family >= 0) {
        ahead_ = ranges_.get();
        const ItemTimes& times = times_of_phase();
        const auto count = static_cast<std::uint64_t>(plan_.families[static_cast<std::size_t>(phase.family)].count);
        for (Worker& w : workers_) {
            const ns_items dealt = ns_dealt_items(phase.deal, w.id, plan_.workers, 0, count);
            if (dealt.count == 0) continue;
            ranges_->start(w, times, {static_cast<std::int64_t>(dealt.first), dealt.step, dealt.count}, now_);
            follow_strand(w);
        }
    } else {
        ahead_ = trees_.get();
        for (std::size_t r = 0; r < phase.roots.size(); ++r) {
            Worker& w = workers_[ns_dealt_to(phase.deal, r, phase.roots.size(), plan_.workers)];
            trees_->start(w, static_cast<std::uint32_t>(phase.roots[r]), now_);
            follow_strand(w);
        }
    }
    outstanding_ = ahead_->finished() ? 0 : 1;
}

// Let the end of the worker's strand be its next event.
void Engine::follow_strand(Worker& w) { schedule(w, SEG_END, ahead_->end_ps(w.id) - now_); }

void Engine::on_strand_end(Worker& w) {
    const StrandEnd end = ahead_->ended(w, now_);
    if (end.extended != NOBODY) follow_strand(workers_[end.extended]);
    if (end.goes_on) return follow_strand(w);
    if (ahead_->finished()) {
        outstanding_ = 0;
        end_phase_after_instant();
    }
    proceed(w);
}

// Move the task at the far end of queue `q` to a thief.
void Engine::take_ahead(Worker& w, std::uint32_t q) {
    Worker& victim = owner_of(q);
    record_step(LOOK, w.id, q, 1);
    w.owed_ps += take_ps(w, q);
    w.fails = 0;
    end_idle(w);
    ahead_->steal(w, victim, now_);
    follow_strand(w);
    follow_strand(victim);
    if (events_ >= next_plunder_) pass_steals();
}

}  // namespace numasim
