// The source of work: phases with their roots and ranges, and the producer of a range's items (model 3.1, 3.5; A-1).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dispatcher.hpp"
#include "plan.hpp"
#include "record/measures.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"

namespace numasim {

// Tasks are left that no worker can ever run. `are_passed`: thieves pass the tasks to and fro without running them.
struct Deadlock : std::runtime_error {
    Deadlock(std::int64_t tasks_left, std::int64_t at_ps, bool are_passed = false)
        : std::runtime_error("no worker can run the tasks that are left"),
          tasks(tasks_left),
          time_ps(at_ps),
          passed(are_passed) {}
    std::int64_t tasks, time_ps;
    bool passed;
};

class WorkSource {
public:
    WorkSource(Run& run, SyncObjects& sync, Dispatcher& dispatcher)
        : run_(run), sync_(sync), dispatcher_(dispatcher), steps_(&run.plan) {}

    // ---- phases

    // Begin the present step (one run of a phase). Returns false if no step is left.
    [[gnu::noinline]] bool start_phase() {
        phase_start_ps_ = run_.clock.now_ps();
        if (!has_step()) return false;
        run_.queues.start_iteration(static_cast<std::uint32_t>(ns_steps_iteration(&steps_)));
        ns_live_start_phase(run_.controls.live(), &run_.plan, &phase());
        return true;
    }

    // Give workers the roots and the range of the phase.
    [[gnu::noinline]] void deal() {
        unfinished_ = 0;
        dispatcher_.start_phase(phase());
        give_roots();
        if (phase().family >= 0) give_range(static_cast<std::size_t>(phase().family));
        for (Worker& w : run_.team) std::ranges::reverse(w.backlog);
        if (unfinished_ == 0) end_phase_after_instant();
    }

    // End the phase, whose longest chain of work is `span_ps`.
    void end_phase(std::int64_t span_ps) {
        run_.recorder.row(Watched::PHASE, phases_ended_, phase_start_ps_);
        run_.step(RELEASE, 0, phases_ended_, 0);
        span_ps_ += span_ps;
        ++phases_ended_;
    }

    // Go on to the next step. Returns whether an iteration has ended with the step before.
    bool next_step() {
        const bool ends_iteration = ns_steps_ends_iteration(&steps_);
        ns_steps_next(&steps_);
        return ends_iteration;
    }

    // Whether there is a present step.
    bool has_step() const { return ns_steps_run(&steps_); }

    // A worker without a part in a serial phase has waited for worker 0 all the time, asleep for the last `asleep_ps`.
    void wait_at_barrier(Worker& w, std::int64_t asleep_ps) {
        const std::int64_t awake_until_ps = run_.clock.now_ps() - asleep_ps;
        w.counters.idle_barrier_ps += awake_until_ps - phase_start_ps_;
        w.counters.asleep_ps += asleep_ps;
        w.began_ps = phase_start_ps_;
        run_.recorder.stretch_to(awake_until_ps, w, Watched::BARRIER);
        if (asleep_ps == 0) return;
        w.began_ps = awake_until_ps;
        run_.recorder.stretch(w, Watched::PARKED);
    }

    const Phase& phase() const { return run_.plan.phases[phase_number()]; }
    std::size_t phase_number() const { return static_cast<std::size_t>(steps_.phase); }

    // The result row of the phase that ends now, without its sums.
    PhaseRow row() const {
        return {.phase = steps_.phase,
                .iteration = ns_steps_iteration(&steps_),
                .turn = ns_steps_turn(&steps_),
                .start_ps = phase_start_ps_,
                .time_ps = run_.clock.now_ps() - phase_start_ps_,
                .sums = {}};
    }

    std::int64_t turn() const { return ns_steps_turn(&steps_); }  // how often the present phase has run before
    std::size_t team_size() const { return phase().serial ? 1 : run_.team.size(); }  // workers in the phase
    // Whether a phase is starting: some workers have not begun the tasks that they were dealt.
    bool starting() const { return starting_; }
    void set_starting(bool starting) { starting_ = starting; }

    // ---- unfinished tasks of the phase

    std::int64_t unfinished() const { return unfinished_; }
    // How many tasks are made and have not finished, without the task that was made last.
    std::int64_t others_unfinished() const {
        std::uint64_t unmade = to_make_;
        for (const Producer& p : producers_) unmade += p.left;
        return unfinished_ - static_cast<std::int64_t>(unmade) - 1;
    }
    void set_unfinished(std::int64_t tasks) {
        unfinished_ = tasks;
        if (tasks == 0) end_phase_after_instant();
    }
    void task_added() { ++unfinished_; }
    void task_done() {
        if (--unfinished_ == 0) end_phase_after_instant();
    }

    // ---- production

    // Whether worker 0 has items left to make. `make_item` makes the next item.
    bool has_items_to_make() const { return to_make_ != 0; }
    Task make_item() {
        --to_make_;
        return static_cast<Task>(next_item_++);
    }

    // The producer's next item is due, or the producer has the lock of the item's queue. Returns whether the producer
    // begins to wait for room.
    [[gnu::noinline]] bool produce() {
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

    [[gnu::noinline]] bool produce_locked(std::uint32_t lock, std::int64_t waiting_since_ps) {
        Producer& p = producers_.back();
        p.overhead_ps += run_.clock.now_ps() - waiting_since_ps;
        run_.recorder.row(Watched::OVERHEAD, run_.clock.producer(), waiting_since_ps);
        sync_.release(lock, run_.clock.producer());
        return put_item(p, run_.queues.has_room(static_cast<std::uint32_t>(p.target)) ? p.target : NS_UNKNOWN);
    }

    // A task has left a queue. If the producer waits for room, it goes on.
    void room_made() {
        if (!producers_.empty() && producers_.back().waiting) end_wait(producers_.back());
    }

    // A shortcut: the producer has put `made` items without events, and has waited for room again since `since_ps`.
    [[gnu::noinline]] void pass_items(std::int64_t made, std::int64_t since_ps) {
        Producer& p = producers_.back();
        unfinished_ -= made;
        p.next += static_cast<std::uint64_t>(made);
        p.left -= static_cast<std::uint64_t>(made);
        p.overhead_ps += made * run_.plan.costs.push_ps;
        p.parked_ps += since_ps - p.waiting_since - made * run_.plan.costs.push_ps;
        p.waiting_since = since_ps;
    }

    // When the producer will put its next item; NEVER_PS if it waits or has no item left.
    [[gnu::noinline]] std::int64_t next_item_ps() const {
        std::int64_t due = NEVER_PS;
        for (const Producer& p : producers_) {
            if (p.left != 0 && !p.waiting) due = std::min(due, p.due_ps);
        }
        return due;
    }

    const std::vector<Producer>& producers() const { return producers_; }

    std::int64_t span_ps() const { return span_ps_; }

private:
    [[gnu::noinline]] void end_phase_after_instant() {
        run_.clock.set(run_.clock.end_of_instant(), run_.clock.now_ps(), END_OF_INSTANT, 0);
    }

    void give_roots() {
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

    // Put a dealt root or item into the queue that the dispatch rules choose for the worker. The first task for the
    // worker's own queue goes to its agenda instead: the worker begins it before it looks into the queue.
    void give(Worker& w, Task task) {
        const std::int32_t q = dispatcher_.place(w.id, task);
        if (q < 0) {
            w.backlog.emplace_back(1, task);
        } else if (q == w.own && w.agenda.empty() && dispatcher_.copies() == 0) {
            w.agenda.push_back(task);
        } else {
            dispatcher_.put(q, task);
        }
    }

    void give_range(std::size_t family) {
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

    // Let an extra producer make the items, or let worker 0 make them as its first work.
    void start_production(std::uint64_t first, std::uint64_t count) {
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

    // Start making the next item. With this step the producer also pays for the decision on the queue of the item
    // before, and the overhead that it owes.
    void make_next(Producer& p) {
        p.making_ps = run_.plan.costs.push_ps + (p.looked ? run_.plan.costs.locate_ps : 0) + p.owed_ps;
        p.owed_ps = 0;
        p.due_ps = run_.clock.after(p.making_ps);
        p.overhead_ps += p.making_ps;
        run_.clock.set(run_.clock.producer(), p.due_ps, PUT, run_.clock.producer());
    }

    // The producer's item appears in queue `q`, unless `q` < 0. Returns whether the producer begins to wait for room.
    [[gnu::noinline]] bool put_item(Producer& p, std::int32_t q) {
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

    [[gnu::noinline]] void end_wait(Producer& p) {
        p.waiting = false;
        p.parked_ps += run_.clock.now_ps() - p.waiting_since;
        run_.recorder.row(Watched::PARKED, run_.clock.producer(), p.waiting_since);
        make_next(p);
    }

    Run& run_;
    SyncObjects& sync_;
    Dispatcher& dispatcher_;
    Owned<ns_steps, ns_steps_create> steps_;
    std::int64_t phases_ended_ = 0;  // number of ended runs of phases
    std::int64_t phase_start_ps_ = 0, span_ps_ = 0;
    std::int64_t unfinished_ = 0;
    std::vector<std::uint32_t> free_roots_;  // roots of the phase without predecessors
    bool starting_ = false;
    std::uint64_t next_item_ = 0, to_make_ = 0;  // the items that worker 0 still makes
    std::vector<Producer> producers_;
};

}  // namespace numasim
