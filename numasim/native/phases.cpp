// Phases: what is given to whom when one starts, and how the books are closed when it ends
// (numasim/engine/reference.py).
#include <algorithm>

#include "engine.hpp"

namespace numasim {

void Engine::start_phase() {
    while (phase_ < plan_.phases.size() && iteration_ == plan_.phases[phase_].repeat) {
        ++phase_;
        iteration_ = 0;
    }
    if (phase_ == plan_.phases.size()) {
        finished_ = true;
        return;
    }
    const Phase& phase = plan_.phases[phase_];
    pages_.start_phase(phase_);
    phase_start_ = now_;
    phase_span_ps_ = 0;
    if (plan_.skipping) {
        start_strands(phase);
    } else {
        give_roots(phase);
        if (phase.family >= 0) give_range(phase);
    }
    if (outstanding_ == 0) end_phase_after_instant();
    team_ = phase.serial ? 1 : workers_.size();
    if (flows_) part_team();
    starting_ = true;
    for (std::size_t i = 0; i < team_; ++i) {
        if (busy_until_[i] == INT64_MAX) proceed(workers_[i]);  // others are in the middle of a strand already
    }
    starting_ = false;
}

// Who has no part in the phase rests.
void Engine::part_team() {
    for (Worker& w : workers_) {
        w.rests = w.id >= team_;
        tell_activity(w);
    }
}

void Engine::give_roots(const Phase& phase) {
    outstanding_ = static_cast<std::int64_t>(phase.roots.size());
    for (std::size_t r = 0; r < phase.roots.size(); ++r) {
        const std::int64_t root = phase.roots[r];
        if (has_successors_) reset(root);
        const std::uint32_t frame =
            new_frame(static_cast<std::uint32_t>(root), phase.ids[r], phase.segments[r], NO_FRAME);
        workers_[ns_dealt_to(phase.deal, r, phase.roots.size(), plan_.workers)].agenda.push_back(frame);
    }
}

// Bring the dependences of the tasks below `root` back to their beginning.
void Engine::reset(std::int64_t root) {
    for (std::int64_t task = root; task < root + plan_.graph.size[static_cast<std::size_t>(root)]; ++task) {
        dependences_[static_cast<std::size_t>(task)] = {0, predecessors_[static_cast<std::size_t>(task)], NO_FRAME};
    }
}

void Engine::give_range(const Phase& phase) {
    const auto family = static_cast<std::size_t>(phase.family);
    const std::uint64_t first = family_base_[family], count = family_base_[family + 1] - first;
    outstanding_ += static_cast<std::int64_t>(count);
    if (plan_.maker != Maker::NONE) {
        start_producer(first, count);
    } else if (plan_.own_dispatch) {
        for (const Worker& w : workers_) {
            const ns_items items = ns_dealt_items(phase.deal, w.id, plan_.workers, first, count);
            queues_.push_items(static_cast<std::uint32_t>(w.own), items);
            if (items.count != 0) watch_length(static_cast<std::uint32_t>(w.own));
        }
    } else {
        for (std::uint64_t item = first; item < first + count; ++item) {
            const std::int32_t q =
                place(ns_dealt_to(phase.deal, item - first, count, plan_.workers), static_cast<Task>(item));
            if (q >= 0) push(static_cast<std::uint32_t>(q), static_cast<Task>(item));
        }
    }
}

void Engine::end_phase_after_instant() { clock_.set(hook(), event_key(now_, END_OF_INSTANT, 0)); }

void Engine::on_phase_end() {
    clock_.clear(hook());
    const bool serial = plan_.phases[phase_].serial;
    if (locks_search_) free_search_locks();
    for (Worker& w : workers_) {
        if (serial && w.id != 0) {
            wait_at_barrier(w);
        } else {
            retire(w);
        }
    }
    if (watch_ != nullptr) watch_->tell(Watched::PHASE, phases_ended_, phase_start_, now_);
    record_step(RELEASE, 0, phases_ended_, 0);
    span_ps_ += plan_.skipping ? ahead_->take_span_ps() : phase_span_ps_;
    if (plan_.threshold_time == ThresholdTime::PHASE) {
        for (Worker& w : workers_) compute_thresholds(w);
    }
    ++phases_ended_;
    ++iteration_;
    start_phase();
}

// The worker has waited for worker 0 throughout the phase.
void Engine::wait_at_barrier(Worker& w) {
    w.counters.idle_barrier_ps += now_ - phase_start_;
    if (watch_ == nullptr) return;
    w.began_ps = phase_start_;
    watch_->stretch(w, Watched::BARRIER, now_);
}

// Close the books of a worker at the end of a phase: nothing of it is pending any more.
void Engine::retire(Worker& w) {
    if (w.idle) {
        take_back(w, w.due_ps - now_);
        end_idle(w);
        clock_.clear(w.id);
    }
    w.rank = POLL;
    busy_until_[w.id] = INT64_MAX;
    w.fails = w.owed_ps = 0;
}

// Uncount the part of the pending probe or wait that lies behind the end of the phase.
void Engine::take_back(Worker& w, std::int64_t left_ps) {
    const std::int64_t cut = std::min(left_ps, w.step_ps);
    (w.rank == LOOK ? w.counters.idle_steal_ps : w.counters.idle_backoff_ps) -= cut;
    w.counters.overhead_ps -= left_ps - cut;
}

}  // namespace numasim
