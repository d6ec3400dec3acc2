// The native engine makes one run of one plan, event by event. It equals the reference engine
// (engine/reference/reference.py) and consists of the same components.
//
// Each component keeps its state to itself and knows only components above it in this list:
//
//   Run            the state that all components work on:
//     Clock          the time, and the pending event of each actor; no other component writes them
//     Recorder       hashes of records, rows for a watcher, the log for the checks
//     ItemRanges     implicit ranges: ids and times of their items; constant
//     TaskQueues     the contents of queues, and what the strategy remembers of each worker
//     Team           the workers; each section of a worker's record belongs to one component
//     Frames         tasks that have begun, joins, dependences, the longest chain of work
//   MemorySystem   how long work waits for memory: pages, and in coupled runs caches, bandwidth, speeds
//   SyncObjects    locks, atomic words, conditions, barriers
//   Transactions   attempts, and the objects that they have opened
//   Dispatcher     the queue that a new task goes to
//   WorkSource     phases, roots, ranges, the producer; how many tasks are left
//   Thief          own queue, rounds of probes, steals, back-off
//   Executor       ops, segments, spawns, joins
//
// Shortcuts (idle/, shortcuts/) pass over events whose outcome is known, and change no result. They come between
// WorkSource and Thief, and SteadyProduction after the Executor. `Plan::skip` turns on Polling (polls that must fail),
// Sleepers (idle workers whose rounds are known to fail) and SteadyProduction (a producer and workers in steady state).
// `Plan::skipping` turns on SkipAhead (whole phases in which only steals matter) and StealBatches (many steals of like
// items).
//
// The engine takes one event after the other off the clock and hands it to its component. A component returns to the
// engine what another component has to go on with: the actor that has been granted a lock, the worker that has
// something to run. The engine also begins and ends phases. Read Clock, WorkSource, Executor and Thief first.
//
// Decisions that the model leaves to an engine are explained in the files of the reference engine.
#pragma once

#include <cstdint>
#include <functional>

#include "executor.hpp"
#include "record/measures.hpp"
#include "shortcuts/steady.hpp"

namespace numasim {

class Engine;

// A controller of the strategy, which acts before the first iteration of a run and between two iterations (model 4.12).
struct Boundary {
    virtual ~Boundary() = default;
    virtual void begin(Engine& engine) = 0;
    virtual void end_iteration(Engine& engine) = 0;
};

class Engine {
public:
    // `pause` is called from time to time during a run, and an exception from it ends the run. The plan of a watched
    // run must not skip events.
    Engine(const Prepared& plan, std::uint64_t seed, const Listener* listener, const Watcher* watcher,
           std::function<void()> pause, bool keep_log, Boundary* boundary);

    void run();

    // The same step by step: `begin`, then `run_phase` for each run of a phase, until it returns false. The bodies of a
    // phase's tasks are known before the phase runs.
    void begin();
    bool run_phase();

    // ---- for a boundary
    // What has been measured: the time, [tasks] time and [tasks, nodes] bytes of the tasks, [nodes, nodes] bytes,
    // [workers] time spent executing.
    std::vector<std::int64_t> told() const;

    // ---- results; bytes only after the memory system has summed its traffic
    Components& parts() { return executor_; }
    const Components& parts() const { return executor_; }
    const std::vector<PhaseRow>& phase_rows() const { return phase_rows_.rows(); }
    std::int64_t passed_items() const { return steady_.passed_items(); }
    std::int64_t peak_tasks() const;  // most tasks at one time that were spawned or dealt and had not finished
    std::size_t task_bytes() const;   // memory for that many tasks

private:
    void handle(EventKey event);
    void end_segment(Worker& w);
    void grant(std::uint32_t lock);
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
