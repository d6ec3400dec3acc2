// The native engine: one run of one plan, event by event, equal to the reference engine (engine/reference/reference.py)
// and composed of the same components.
//
// Each component keeps its state to itself and knows, by references that it is constructed with (the Executor, by what
// it is made on top of), only components that stand above it in this list:
//
//   Run            what all components work on, each part through its own functions:
//     Clock          what time it is, which event is pending for each actor; nobody else writes either
//     Recorder       hashes of records, rows for a watch, the log for the checks
//     ItemRanges     implicit ranges: ids and times of their items; constant
//     TaskQueues     what waits in queues, and what the strategy remembers of each worker
//     Team           the workers; each section of a worker's record belongs to one component
//     Frames         tasks that have begun, joins, dependences, the longest chain of work
//   MemorySystem   what work waits for memory: pages, and where the plan is coupled caches, bandwidth, speeds
//   SyncObjects    locks, atomic words, conditions, barriers
//   Transactions   attempts, and who has opened which objects
//   Dispatcher     the queue that a new task goes to
//   WorkSource     phases, roots, ranges, the producer; how many tasks are left
//   Thief          own queue, rounds of probes, steals, back-off
//   Executor       ops, segments, spawns, joins
//
// Shortcuts (idle/, shortcuts/) pass over events whose outcome is known, and change no result. They stand between
// WorkSource and Thief, SteadyProduction behind Executor. `Plan::skip` switches Polling (polls that must fail),
// Sleepers (idle workers whose rounds are known to fail) and SteadyProduction (a producer and workers in steady state)
// on, `Plan::skipping` SkipAhead (whole phases in which only steals matter) and StealBatches (many steals of like
// items).
//
// The engine takes one event after the other off the clock and hands it to its component. What a component cannot go on
// with by itself it returns to the engine: who has been granted a lock, who has something to run. The engine also
// begins and ends phases, in which most components take part. So read Clock, WorkSource, Executor, Thief first.
//
// What the model leaves to an engine is decided in the reference engine's files.
#pragma once

#include <cstdint>
#include <functional>

#include "executor.hpp"
#include "record/measures.hpp"
#include "shortcuts/steady.hpp"

namespace numasim {

class Engine;

// What happens before the first iteration of a run and between two: a controller of the strategy (model 4.12).
struct Boundary {
    virtual ~Boundary() = default;
    virtual void begin(Engine& engine) = 0;
    virtual void end_iteration(Engine& engine) = 0;
};

class Engine {
public:
    // `pause` is called now and then during a run; what it throws ends the run. A run that is watched goes through
    // every event: its plan must not be one that skips.
    Engine(const Prepared& plan, std::uint64_t seed, const Listener* listener, const Watcher* watcher,
           std::function<void()> pause, bool keep_log, Boundary* boundary);

    void run();

    // The same step by step: `begin`, then a run of a phase each time, false where none is left. With bodies, those
    // that the tasks of the phase have are known by then.
    void begin();
    bool run_phase();
    void have_bodies(Bodies& bodies) { executor_.run.bodies = &bodies; }

    // ---- for a boundary: what has been measured, and what the next iteration is to be like
    void choose_policy(std::uint64_t policy) { executor_.memory.choose_policy(policy); }
    // The time, [tasks] time and [tasks, nodes] bytes of the tasks, [nodes, nodes] bytes, [workers] time spent
    // executing.
    std::vector<std::int64_t> told() const;
    void set_profile_ps(std::int64_t time_ps) { executor_.run.profile_ps = time_ps; }

    // Results, each from the component that knows it; bytes once they are summed up.
    void sum_traffic() { executor_.memory.sum_traffic(); }
    Run& state() { return executor_.run; }
    const WorkSource& source() const { return executor_.source; }
    const MemorySystem& memory() const { return executor_.memory; }
    const SyncObjects& sync() const { return executor_.sync; }
    const Transactions& transactions() const { return executor_.transactions; }
    const std::vector<PhaseRow>& phase_rows() const { return phase_rows_.rows(); }
    std::int64_t passed_items() const { return steady_.passed_items(); }
    std::int64_t peak_tasks() const;  // spawned, or dealt, and not finished at one time
    std::size_t task_bytes() const;   // of the state that grows with them

private:
    void handle(EventKey event);
    void end_segment(Worker& w);
    void produce();
    void grant(std::uint32_t lock);
    void poll(Worker& w);
    void look(Worker& w);
    bool start_phase();
    void end_phase();
    void count_phase();
    void end_iteration();

    Boundary* const boundary_;  // or nullptr
    Executor executor_;
    SteadyProduction steady_;
    PhaseRows phase_rows_;
    bool phase_over_ = false;
};

}  // namespace numasim
