// The native engine makes one run of one plan, event by event. It gives the same results as the reference engine
// (engine/reference/reference.py) and consists of the same components.
//
// Each component keeps its state to itself and knows only the components before it in this list:
//
// - Run: the state on which all components work. Clock: the time, and the pending event of each actor; only the clock
//   changes these. Recorder: hashes of the run's records, rows for a watcher, a log for checks of the run. ItemRanges:
//   the ids and times of the items of implicit ranges; constant. TaskQueues: the tasks in each queue, and what the
//   strategy remembers of each worker. Team: the workers; each section of a worker's record belongs to one component.
//   Frames: tasks that have begun, joins, dependences, the longest chain of work.
// - MemorySystem: how long work waits for memory: pages, and in coupled runs caches, bandwidth and speeds.
// - SyncObjects: locks, atomic words, conditions, barriers.
// - Transactions: attempts at transactions, and the objects that each attempt has opened.
// - Dispatcher: the queue to which a new task goes.
// - WorkSource: phases, roots, ranges, the producer; how many tasks are left.
// - Thief: takes from the own queue, rounds of probes, steals, back-off.
// - Executor: ops, segments, spawns, joins.
//
// Shortcuts (idle/, shortcuts/) pass over events whose outcome is known, and change no result. They come between
// WorkSource and Thief, and SteadyProduction after the Executor. `Plan::skip` turns on Polling (single polls that must
// fail), Sleepers (all rounds of idle workers that must fail) and SteadyProduction (a producer and workers in steady
// state). `Plan::skipping` turns on SkipAhead (whole phases in which only steals matter) and StealBatches (many steals
// of items with equal times).
//
// The engine takes one event after the other off the clock and hands the event to its component. If another component
// must go on, the first component returns to the engine an actor that has got a lock, or a worker that has something to
// run. The engine also begins and ends phases. Read Clock, WorkSource, Executor and Thief first.
//
// Decisions that the model leaves to an engine are explained in the files of the reference engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "executor.hpp"
#include "record/measures.hpp"
#include "shortcuts/steady.hpp"

namespace numasim {

constexpr std::int64_t EVENTS_BETWEEN_PAUSES = (1 << 20) - 1;

class Engine;

// A controller of the strategy. It acts before the first iteration of a run and after each iteration (model 4.12).
struct Boundary {
    virtual ~Boundary() = default;
    virtual void begin(Engine& engine) = 0;
    virtual void end_iteration(Engine& engine) = 0;
};

class Engine {
public:
    // `pause` is called from time to time during a run. An exception from `pause` ends the run. With a watcher, the
    // plan must not skip events.
    Engine(const Prepared& plan, std::uint64_t seed, const Listener* listener, const Watcher* watcher,
           std::function<void()> pause, bool keep_log, Boundary* boundary)
        : boundary_(boundary),
          executor_(plan, seed, listener, watcher, std::move(pause), keep_log),
          steady_(executor_.run, executor_.memory, executor_.source) {
        if (boundary_ != nullptr) executor_.run.measures.emplace(plan.plan.graph.rows, plan.plan.nodes);
    }

    // Make the whole run. If the run throws (a deadlock, a time that is too late), the listener and the watcher still
    // get all earlier records.
    [[gnu::noinline]] void run() {
        try {
            begin();
            while (run_phase()) {
            }
        } catch (const std::runtime_error&) {  // a deadlock, or a time that is too late
            executor_.run.recorder.flush();
            throw;
        }
        executor_.memory.sum_traffic();
        executor_.run.recorder.flush();
    }

    // A run step by step: call `begin`, then `run_phase` for each run of a phase until `run_phase` returns false. The
    // bodies of a phase's tasks are known before the phase runs.
    void begin() {
        if (boundary_ != nullptr) boundary_->begin(*this);
    }

    [[gnu::noinline]] bool run_phase() {
        if (!start_phase()) return false;
        while (!phase_over_) {
            const EventKey event = executor_.run.clock.next();
            if (executor_.memory.settles_before(event)) {
                executor_.memory.settle();
                if (executor_.skipping.active()) executor_.skipping.follow_speeds();
                continue;
            }
            if (event == NO_EVENT) throw Deadlock(executor_.source.unfinished(), executor_.run.clock.now_ps());
            executor_.run.clock.advance(event);
            if ((executor_.run.clock.events() & EVENTS_BETWEEN_PAUSES) == 0) executor_.run.pause();
            handle(event);
            executor_.sleepers.happened();
        }
        return true;
    }

    // ---- for a `Boundary`

    // All measures until now, in one array: the time, [tasks] the time of each task, [tasks, nodes] the bytes of each
    // task, [nodes, nodes] the bytes between nodes, [workers] the time that each worker has executed tasks.
    std::vector<std::int64_t> told() const {
        const Run& run = executor_.run;
        const TaskMeasures& measures = *run.measures;
        const std::int64_t* const bytes = executor_.memory.pages().node_bytes;
        std::vector<std::int64_t> told;
        told.reserve(1 + measures.ps().size() + measures.bytes().size() + run.plan.nodes * run.plan.nodes +
                     run.team.size());
        told.push_back(run.clock.now_ps());
        told.insert(told.end(), measures.ps().begin(), measures.ps().end());
        told.insert(told.end(), measures.bytes().begin(), measures.bytes().end());
        told.insert(told.end(), bytes, bytes + std::size_t{run.plan.nodes} * run.plan.nodes);
        for (const Worker& w : run.team) {
            const ns_counters& c = w.counters;
            told.push_back(c.work_local_ps + c.inflation_numa_ps + c.inflation_contention_ps + c.inflation_smt_ps);
        }
        return told;
    }

    // ---- results; bytes only after the memory system has summed its traffic
    Components& parts() { return executor_; }
    const Components& parts() const { return executor_; }
    const std::vector<PhaseRow>& phase_rows() const { return phase_rows_.rows(); }
    std::int64_t passed_items() const { return steady_.passed_items(); }

    // The largest number of tasks at any time that were spawned or dealt and had not finished.
    std::int64_t peak_tasks() const {
        return std::max(static_cast<std::int64_t>(executor_.run.frames.most()), executor_.run.queues.peak_total());
    }

    // The bytes of memory that the engine uses for `peak_tasks` tasks.
    std::size_t task_bytes() const {
        return executor_.run.frames.most() * sizeof(Frame) +
               static_cast<std::size_t>(executor_.run.queues.peak_entries()) * sizeof(ns_items);
    }

private:
    void handle(EventKey event) {
        const std::uint32_t actor = event_actor(event);
        switch (event_rank(event)) {
            case SEG_END: return end_segment(executor_.run.team[actor]);
            case GRANT: return grant(actor);
            case RELEASE: return executor_.sync.open(actor);
            case WAKE: return executor_.wake(executor_.run.team[actor]);
            case PUT:
                if (actor != executor_.run.clock.producer()) return executor_.end_put(executor_.run.team[actor]);
                if (executor_.source.produce()) steady_.producer_waits();
                return;
            case LOOK:
                if (executor_.thief.look(executor_.run.team[actor])) executor_.proceed(executor_.run.team[actor]);
                return;
            case POLL:
                if (executor_.run.team[actor].sleep != Sleep::AWAKE) {
                    if (executor_.resting->settle(executor_.run.team[actor]))
                        executor_.proceed(executor_.run.team[actor]);
                    return;
                }
                if (!executor_.sleepers.sleeps_on(executor_.run.team[actor]))
                    executor_.proceed(executor_.run.team[actor]);
                return;
            default: return end_phase();
        }
    }

    void end_segment(Worker& w) {
        if (!executor_.skipping.active()) return executor_.end_segment(w);
        if (executor_.skipping.end_run(w)) executor_.proceed(w);
    }

    [[gnu::noinline]] void grant(std::uint32_t lock) {
        const ns_waiter waiter = executor_.sync.grant(lock);
        const auto then = static_cast<Then>(waiter.then);
        if (then == Then::PRODUCE) {
            if (executor_.source.produce_locked(lock, waiter.since_ps)) steady_.producer_waits();
            return;
        }
        Worker& w = executor_.run.team[waiter.actor];
        if (then == Then::SEARCH) {
            if (executor_.thief.lock_granted(w, lock)) executor_.proceed(w);
            return;
        }
        if (then == Then::ENQUEUE) return executor_.put_locked(w);
        if (then == Then::ATOMIC) executor_.sync.release(lock, w.id);
        executor_.sync.stop_spinning(w);
        executor_.proceed(w);
    }

    [[gnu::noinline]] bool start_phase() {
        if (!executor_.source.start_phase()) return false;
        phase_over_ = false;
        executor_.memory.start_phase(executor_.source.phase_number(), executor_.source.turn());
        executor_.transactions.start_turn(executor_.source.turn());
        executor_.run.plan.skipping ? executor_.skipping.start_phase() : executor_.source.deal();
        executor_.memory.part_team(executor_.source.team_size());
        if (HelperThreads* const helpers = executor_.memory.helpers();
            helpers != nullptr && !executor_.source.phase().serial)
            for (Worker& w : executor_.run.team) helpers->start_phase(w);
        if (executor_.resting != nullptr) executor_.resting->wake_team(executor_.source.team_size());
        executor_.source.set_starting(true);
        for (std::size_t i = 0; i < executor_.source.team_size(); ++i) {
            if (executor_.run.team[i].sleep != Sleep::AWAKE) continue;
            if (!executor_.run.clock.is_busy(executor_.run.team[i]))
                executor_.proceed(executor_.run.team[i]);  // a busy worker has a serial run (skipped_work.hpp) already
        }
        executor_.source.set_starting(false);
        return true;
    }

    [[gnu::noinline]] void end_phase() {
        executor_.run.clock.clear(executor_.run.clock.end_of_instant());
        const bool serial = executor_.source.phase().serial;
        executor_.sleepers.end_phase();
        if (executor_.run.plan.locks_search) executor_.sync.free_search_locks();
        executor_.run.queues.drop_claimed();
        for (Worker& w : executor_.run.team) {
            if (!serial || w.id == 0) {
                executor_.thief.retire(w);
                continue;
            }
            Resting* const resting = executor_.resting.get();
            executor_.source.wait_at_barrier(
                w, resting != nullptr ? resting->sit_out(w, executor_.source.row().time_ps) : 0);
        }
        executor_.source.end_phase(executor_.run.plan.skipping ? executor_.skipping.take_span_ps()
                                                               : executor_.run.frames.take_span_ps());
        if (executor_.run.plan.threshold_time == ThresholdTime::PHASE) {
            for (Worker& w : executor_.run.team) executor_.thief.compute_thresholds(w);
        }
        count_phase();
        phase_over_ = true;
        if (executor_.source.next_step()) end_iteration();
    }

    // Add a row for the phase that ends. The row has sums since the start of the run.
    [[gnu::noinline]] void count_phase() {
        if (phase_rows_.full()) return;
        MemorySystem& memory = executor_.memory;
        memory.sum_traffic();
        PhaseRow row = executor_.source.row();
        auto& [tasks, local, remote, cached, attempts, success, attempts_remote, success_remote] = row.sums;
        const std::size_t nodes = executor_.run.plan.nodes;
        const std::int64_t* bytes = memory.pages().node_bytes;
        for (std::size_t node = 0; node < nodes; ++node) {
            for (std::size_t home = 0; home < nodes; ++home) (node == home ? local : remote) += *bytes++;
        }
        if (memory.traffic() != nullptr) cached = memory.traffic()->cached_bytes;
        for (const Worker& w : executor_.run.team) {
            tasks += w.counters.tasks;
            attempts += w.counters.steal_attempts;
            success += w.counters.steal_success;
            attempts_remote += w.counters.steal_attempts_remote;
            success_remote += w.counters.steal_success_remote;
        }
        phase_rows_.add(row);
    }

    // Let the controller act after an iteration, before the next iteration begins.
    [[gnu::noinline]] void end_iteration() {
        if (boundary_ == nullptr) return;
        executor_.memory.sum_traffic();
        boundary_->end_iteration(*this);
        executor_.run.measures->clear();
    }

    Boundary* const boundary_;  // or nullptr
    Executor executor_;
    SteadyProduction steady_;
    PhaseRows phase_rows_;
    bool phase_over_ = false;
};

}  // namespace numasim
