#include "engine/work_source.hpp"

#include "policy/ranges.h"

namespace numasim {

// ---- phases -------------------------------------------------------------------------------------------------------

bool WorkSource::start_phase() {
    while (phase_ < plan_.phases.size() && iteration_ == plan_.phases[phase_].repeat) {
        ++phase_;
        iteration_ = 0;
    }
    queues_.start_iteration(iteration_);
    phase_start_ps_ = clock_.now_ps();
    return phase_ < plan_.phases.size();
}

void WorkSource::deal() {
    unfinished_ = 0;
    give_roots();
    if (phase().family >= 0) give_range(static_cast<std::size_t>(phase().family));
    if (unfinished_ == 0) end_phase_after_instant();
}

void WorkSource::give_roots() {
    const std::size_t roots = phase().roots.size();
    unfinished_ = static_cast<std::int64_t>(roots);
    for (std::size_t r = 0; r < roots; ++r) {
        const std::uint32_t frame = frames_.new_root(phase(), r);
        team_[ns_dealt_to(phase().deal, r, roots, plan_.workers)].agenda.push_back(frame);
    }
}

void WorkSource::give_range(std::size_t family) {
    const std::uint64_t first = ranges_.first(family), count = ranges_.count(family);
    unfinished_ += static_cast<std::int64_t>(count);
    if (plan_.maker != Maker::NONE) {
        start_production(first, count);
    } else if (plan_.own_dispatch) {
        for (const Worker& w : team_) {
            const ns_items items = ns_dealt_items(phase().deal, w.id, plan_.workers, first, count);
            queues_.put_items(static_cast<std::uint32_t>(w.own), items);
        }
    } else {
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto item = static_cast<Task>(first + i);
            const std::int32_t q = dispatcher_.place(ns_dealt_to(phase().deal, i, count, plan_.workers), item);
            if (q >= 0) queues_.put(static_cast<std::uint32_t>(q), item);
        }
    }
}

void WorkSource::end_phase(std::int64_t span_ps) {
    if (Watch* const watch = recorder_.watch())
        watch->tell(Watched::PHASE, phases_ended_, phase_start_ps_, clock_.now_ps());
    recorder_.step(RELEASE, 0, phases_ended_, 0);
    span_ps_ += span_ps;
    ++phases_ended_;
    ++iteration_;
}

void WorkSource::wait_at_barrier(Worker& w) {
    w.counters.add_barrier(clock_.now_ps() - phase_start_ps_);
    if (recorder_.watch() == nullptr) return;
    w.began_ps = phase_start_ps_;
    recorder_.watch()->stretch(w, Watched::BARRIER, clock_.now_ps());
}

// ---- production ---------------------------------------------------------------------------------------------------

// By an extra producer, or as the first work of worker 0.
void WorkSource::start_production(std::uint64_t first, std::uint64_t count) {
    if (plan_.maker == Maker::MASTER) {
        team_.front().stack.push_back(PRODUCTION);
        next_item_ = first;
        to_make_ = count;
        return;
    }
    Producer& p = producers_.emplace_back();
    p.node = team_.front().node;
    p.next = first;
    p.left = count;
    make_next(p);
}

// How long the next item takes, and the decision where the last one went.
std::int64_t WorkSource::making_ps(const Producer& p) const {
    return plan_.costs.push_ps + (p.looked ? plan_.costs.locate_ps : 0);
}

void WorkSource::make_next(Producer& p) {
    const std::int64_t step_ps = making_ps(p);
    p.due_ps = clock_.after(step_ps);
    p.overhead_ps += step_ps;
    clock_.set(clock_.producer(), p.due_ps, PUT, clock_.producer());
}

bool WorkSource::produce() {
    Producer& p = producers_.back();
    clock_.clear(clock_.producer());
    if (Watch* const watch = recorder_.watch())
        watch->tell(Watched::OVERHEAD, clock_.producer(), p.due_ps - making_ps(p), p.due_ps);
    const std::int32_t q = dispatcher_.place(clock_.producer(), static_cast<Task>(p.next));
    p.looked = dispatcher_.looked();
    const std::int32_t lock = sync_.queue_lock(q);
    if (lock == NO_LOCK) return put_item(p, q);
    p.target = q;
    sync_.request(static_cast<std::uint32_t>(lock), clock_.producer(), Then::PRODUCE);
    return false;
}

bool WorkSource::produce_locked(std::uint32_t lock, std::int64_t waiting_since_ps) {
    Producer& p = producers_.back();
    p.overhead_ps += clock_.now_ps() - waiting_since_ps;
    if (Watch* const watch = recorder_.watch())
        watch->tell(Watched::OVERHEAD, clock_.producer(), waiting_since_ps, clock_.now_ps());
    sync_.release(lock, clock_.producer());
    return put_item(p, queues_.has_room(static_cast<std::uint32_t>(p.target)) ? p.target : NS_UNKNOWN);
}

// The item becomes visible in a queue, or the producer begins to wait for room: true.
bool WorkSource::put_item(Producer& p, std::int32_t q) {
    const auto item = static_cast<Task>(p.next);
    if (q >= 0) {
        queues_.put(static_cast<std::uint32_t>(q), item);
        recorder_.detail(PUT, clock_.producer(), item, q);
        ++p.next;
        --p.left;
    }
    if (p.left == 0) return false;
    if (q >= 0 && queues_.contents().total() < plan_.room) {
        make_next(p);
        return false;
    }
    p.waiting = true;
    p.waiting_since = clock_.now_ps();
    return true;
}

void WorkSource::end_wait(Producer& p) {
    p.waiting = false;
    p.parked_ps += clock_.now_ps() - p.waiting_since;
    if (Watch* const watch = recorder_.watch())
        watch->tell(Watched::PARKED, clock_.producer(), p.waiting_since, clock_.now_ps());
    make_next(p);
}

void WorkSource::pass_items(std::int64_t made, std::int64_t since_ps) {
    Producer& p = producers_.back();
    unfinished_ -= made;
    p.next += static_cast<std::uint64_t>(made);
    p.left -= static_cast<std::uint64_t>(made);
    p.overhead_ps += made * plan_.costs.push_ps;
    p.parked_ps += since_ps - p.waiting_since - made * plan_.costs.push_ps;
    p.waiting_since = since_ps;
}

std::int64_t WorkSource::next_item_ps() const {
    std::int64_t due = NEVER_PS;
    for (const Producer& p : producers_) {
        if (p.left != 0 && !p.waiting) due = std::min(due, p.due_ps);
    }
    return due;
}

}  // namespace numasim
