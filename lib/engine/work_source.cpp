#include "work_source.hpp"

namespace numasim {

// ---- phases -------------------------------------------------------------------------------------------------------

bool WorkSource::start_phase() {
    phase_start_ps_ = run_.clock.now_ps();
    if (!has_step()) return false;
    run_.queues.start_iteration(static_cast<std::uint32_t>(ns_steps_iteration(&steps_)));
    ns_live_start_phase(run_.controls.live(), &run_.plan, &phase());
    return true;
}

bool WorkSource::next_step() {
    const bool ends_iteration = ns_steps_ends_iteration(&steps_);
    ns_steps_next(&steps_);
    return ends_iteration;
}

void WorkSource::deal() {
    unfinished_ = 0;
    dispatcher_.start_phase(phase());
    give_roots();
    if (phase().family >= 0) give_range(static_cast<std::size_t>(phase().family));
    for (Worker& w : run_.team) std::ranges::reverse(w.backlog);
    if (unfinished_ == 0) end_phase_after_instant();
}

void WorkSource::give_roots() {
    const std::size_t roots = phase().roots.size();
    unfinished_ = static_cast<std::int64_t>(roots);
    free_roots_.clear();
    for (std::size_t r = 0; r < roots; ++r) {
        const std::uint32_t frame = run_.frames.new_root(phase(), r);
        if (!run_.frames.have_dependences() || !run_.frames.must_wait(frame)) free_roots_.push_back(frame);
    }
    for (std::size_t r = 0; r < free_roots_.size(); ++r) {
        const std::uint32_t root = free_roots_[r];
        Worker& w = run_.team[ns_dealt_to(ns_deal_of(&phase()), r, free_roots_.size(), run_.plan.workers)];
        if (ns_begins_root(phase().serial, run_.plan.graph.kind[run_.frames[root].row])) {
            w.agenda.push_back(root);
        } else {
            give(w, root);
        }
    }
}

// Put a dealt root or item where the worker's dispatch rules say. The first one that would go into the worker's own
// queue is begun instead, before the worker looks into that queue.
void WorkSource::give(Worker& w, Task task) {
    const std::int32_t q = dispatcher_.place(w.id, task);
    if (q < 0) {
        w.backlog.emplace_back(1, task);
    } else if (q == w.own && w.agenda.empty() && dispatcher_.copies() == 0) {
        w.agenda.push_back(task);
    } else {
        dispatcher_.put(q, task);
    }
}

void WorkSource::give_range(std::size_t family) {
    const std::uint64_t first = run_.ranges.first(family), count = run_.ranges.count(family);
    unfinished_ += static_cast<std::int64_t>(count);
    if (phase().serial) {
        run_.team.front().agenda.push_items(static_cast<Task>(first), count);
    } else if (run_.plan.maker != Maker::NONE) {
        start_production(first, count);
    } else if (run_.plan.own_never_full) {
        for (Worker& w : run_.team) {
            ns_items items = ns_dealt_items(phase().deal, w.id, run_.plan.workers, first, count);
            if (items.count != 0 && w.agenda.empty())
                w.agenda.push_back(static_cast<Task>(ns_items_take_front(&items)));
            if (items.count != 0) run_.queues.put_items(static_cast<std::uint32_t>(w.own), items);
        }
    } else {
        for (std::uint64_t i = 0; i < count; ++i) {
            give(run_.team[ns_dealt_to(phase().deal, i, count, run_.plan.workers)], static_cast<Task>(first + i));
        }
    }
}

void WorkSource::end_phase(std::int64_t span_ps) {
    run_.recorder.row(Watched::PHASE, phases_ended_, phase_start_ps_);
    run_.step(RELEASE, 0, phases_ended_, 0);
    span_ps_ += span_ps;
    ++phases_ended_;
}

PhaseRow WorkSource::row() const {
    return {.phase = steps_.phase,
            .iteration = ns_steps_iteration(&steps_),
            .turn = ns_steps_turn(&steps_),
            .start_ps = phase_start_ps_,
            .time_ps = run_.clock.now_ps() - phase_start_ps_,
            .sums = {}};
}

void WorkSource::wait_at_barrier(Worker& w, std::int64_t asleep_ps) {
    const std::int64_t awake_until_ps = run_.clock.now_ps() - asleep_ps;
    w.counters.idle_barrier_ps += awake_until_ps - phase_start_ps_;
    w.counters.asleep_ps += asleep_ps;
    w.began_ps = phase_start_ps_;
    run_.recorder.stretch_to(awake_until_ps, w, Watched::BARRIER);
    if (asleep_ps == 0) return;
    w.began_ps = awake_until_ps;
    run_.recorder.stretch(w, Watched::PARKED);
}

// ---- production ---------------------------------------------------------------------------------------------------

// Let an extra producer make the items, or worker 0 as its first work.
void WorkSource::start_production(std::uint64_t first, std::uint64_t count) {
    if (run_.plan.maker == Maker::MASTER) {
        run_.team.front().stack.push_back(PRODUCTION);
        next_item_ = first;
        to_make_ = count;
        return;
    }
    Producer& p = producers_.emplace_back();
    p.node = run_.team.front().node;
    p.next = first;
    p.left = count;
    make_next(p);
}

// The next item takes its time, that of the decision on the queue of the last item, and what the producer owes.
void WorkSource::make_next(Producer& p) {
    p.making_ps = run_.plan.costs.push_ps + (p.looked ? run_.plan.costs.locate_ps : 0) + p.owed_ps;
    p.owed_ps = 0;
    p.due_ps = run_.clock.after(p.making_ps);
    p.overhead_ps += p.making_ps;
    run_.clock.set(run_.clock.producer(), p.due_ps, PUT, run_.clock.producer());
}

bool WorkSource::produce() {
    Producer& p = producers_.back();
    run_.clock.clear(run_.clock.producer());
    run_.recorder.row(Watched::OVERHEAD, run_.clock.producer(), p.due_ps - p.making_ps);
    const std::int32_t q = dispatcher_.place(run_.clock.producer(), static_cast<Task>(p.next));
    p.looked = dispatcher_.looked();
    const std::int32_t lock = ns_queue_lock(&run_.plan, q);
    if (lock == NS_NO_LOCK) return put_item(p, q);
    p.target = q;
    sync_.request(static_cast<std::uint32_t>(lock), run_.clock.producer(), Then::PRODUCE);
    return false;
}

bool WorkSource::produce_locked(std::uint32_t lock, std::int64_t waiting_since_ps) {
    Producer& p = producers_.back();
    p.overhead_ps += run_.clock.now_ps() - waiting_since_ps;
    run_.recorder.row(Watched::OVERHEAD, run_.clock.producer(), waiting_since_ps);
    sync_.release(lock, run_.clock.producer());
    return put_item(p, run_.queues.has_room(static_cast<std::uint32_t>(p.target)) ? p.target : NS_UNKNOWN);
}

// The item becomes visible in queue `q`. Returns whether the producer begins to wait for room.
bool WorkSource::put_item(Producer& p, std::int32_t q) {
    if (q >= 0) {
        dispatcher_.put(p, run_.clock.producer(), q, static_cast<Task>(p.next));
        ++p.next;
        --p.left;
    }
    if (p.left == 0) return false;
    if (q >= 0 && run_.queues.total() < run_.plan.room) {
        make_next(p);
        return false;
    }
    p.waiting = true;
    p.waiting_since = run_.clock.now_ps();
    return true;
}

void WorkSource::end_wait(Producer& p) {
    p.waiting = false;
    p.parked_ps += run_.clock.now_ps() - p.waiting_since;
    run_.recorder.row(Watched::PARKED, run_.clock.producer(), p.waiting_since);
    make_next(p);
}

void WorkSource::pass_items(std::int64_t made, std::int64_t since_ps) {
    Producer& p = producers_.back();
    unfinished_ -= made;
    p.next += static_cast<std::uint64_t>(made);
    p.left -= static_cast<std::uint64_t>(made);
    p.overhead_ps += made * run_.plan.costs.push_ps;
    p.parked_ps += since_ps - p.waiting_since - made * run_.plan.costs.push_ps;
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
