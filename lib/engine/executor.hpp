// Executing tasks: ops, segments, spawns, joins, dependences (model 3.1 to 3.3 and 4.1; engine/reference/executor.py).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "dispatcher.hpp"
#include "idle/polling.hpp"
#include "idle/sleepers.hpp"
#include "memory/memory_system.hpp"
#include "queue_lines.hpp"
#include "resting.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"
#include "thief.hpp"
#include "transactions.hpp"
#include "work_source.hpp"

namespace numasim {

// All components above the Executor, in one piece of memory.
//
// The Executor takes part in every event. It derives from this struct, so that each component is at a constant
// distance. References to components would have to be loaded again after stores, which costs a tenth of the time of
// event-by-event runs.
struct Components {
    Components(const Prepared& plan, std::uint64_t seed, const Listener* listener, const Watcher* watcher,
               std::function<void()> pause, bool keep_log)
        : run(plan, seed, listener, watcher, std::move(pause), keep_log),
          memory(run),
          sync(run, memory),
          transactions(run, memory),
          lines(run.plan.costs.line == NS_LINES_YES ? std::make_unique<QueueLines>(run) : nullptr),
          resting(run.plan.idle.given ? std::make_unique<Resting>(run, memory, lines.get()) : nullptr),
          dispatcher(run, memory, lines.get(), resting.get()),
          source(run, sync, dispatcher),
          skipping(run, memory, source),
          polling(run, memory, source, skipping),
          sleepers(run, sync, polling),
          batches(run, skipping, polling),
          thief(run, memory, sync, source, skipping, polling, sleepers, batches, lines.get(), resting.get()) {}
    Components(const Components&) = delete;

    Run run;
    MemorySystem memory;
    SyncObjects sync;
    Transactions transactions;
    std::unique_ptr<QueueLines> lines;  // if lines are served
    std::unique_ptr<Resting> resting;   // if there are rules for idle workers
    Dispatcher dispatcher;
    WorkSource source;
    SkipAhead skipping;
    Polling polling;
    Sleepers sleepers;
    StealBatches batches;
    Thief thief;
};

class Executor : public Components {
public:
    using Components::Components;

    // Execute ops until an op takes time, or until the worker has nothing to do and looks for work.
    [[gnu::noinline]] void proceed(Worker& w);

    // The end of the worker's segment; of its putting of a task or paying for a search; of its sleep.
    [[gnu::noinline]] void end_segment(Worker& w);
    void end_put(Worker& w);
    void wake(Worker& w);
    // The worker has the lock of the queue into which it puts a task.
    void put_locked(Worker& w);

private:
    [[gnu::always_inline]] void start_segment(Worker& w, Frame& frame, std::uint32_t segment);
    [[gnu::noinline]] void start_measured(Worker& w, Frame& frame, std::uint32_t segment, std::int64_t compute_ps);
    [[gnu::always_inline]] void start_item(Worker& w, Task item);
    [[gnu::noinline]] void start_first_item(Worker& w, Task item);
    [[gnu::noinline]] void compute_block(Worker& w, Task item);
    [[gnu::always_inline]] void work(Worker& w, std::int64_t id, std::int64_t total_ps, std::int64_t local_ps);
    [[gnu::noinline]] void report_work(Worker& w);
    [[gnu::noinline]] bool use_word(Worker& w, Frame& frame);
    [[gnu::always_inline]] void finish(Worker& w, std::uint32_t frame, Kind kind);
    [[gnu::always_inline]] void join(Worker& w, const Frame& child);
    [[gnu::noinline]] void gather(Worker& w, std::uint32_t group);
    [[gnu::always_inline]] void end_join(Worker& w, std::uint32_t frame);
    void resume(Worker& w, std::uint32_t task, std::int64_t joined_ps);
    [[gnu::noinline]] void release(Worker& w, const Frame& frame);
    [[gnu::noinline]] void take_up(Worker& w);
    [[gnu::noinline]] void hold_back(Worker& w);
    [[gnu::always_inline]] void count_task(Worker& w);
    [[gnu::always_inline]] bool must_inline(Worker& w);
    [[gnu::always_inline]] void spawn(Worker& w, std::uint32_t parent);
    [[gnu::always_inline]] bool goes_first(Worker& w, std::uint32_t parent, std::uint32_t child);
    [[gnu::noinline]] bool adapts_to(Worker& w, std::uint32_t parent, std::uint32_t child);
    [[gnu::always_inline]] void begin(const Worker& w, std::uint32_t task);
    [[gnu::noinline]] void call(Worker& w, std::uint32_t caller);
    [[gnu::noinline]] void produce(Worker& w);
    [[gnu::always_inline]] void offer(Worker& w, Task task);
    bool put_next(Worker& w);
    [[gnu::always_inline]] void put_into(Worker& w, std::int32_t q, Task task);
    [[gnu::always_inline]] bool wait(Worker& w, Frame& frame);
    [[gnu::noinline]] bool end_group(Worker& w, std::uint32_t at);
    [[gnu::always_inline]] void pass_join(Worker& w, Frame& frame, std::int64_t joined_ps);
    [[gnu::always_inline]] bool await(Worker& w, Frame& frame);
    [[gnu::noinline]] bool block(Worker& w);

    std::unordered_map<Task, std::uint32_t> sleeper_;  // the worker of each frame that is in a blocking join
    const bool coupled_ = memory.coupled();
    const bool has_dependences_ = run.frames.have_dependences();
    const bool joins_cost_ = run.plan.costs.join_ps != 0 || run.plan.costs.line == NS_LINES_LATENCY;
    const bool inlines_ = run.plan.inlines;
    const bool counts_live_ = run.plan.counts_live;
    const bool puts_take_time_ = run.plan.puts_take_time;
    const bool leaps_ = run.plan.join == Join::LEAPFROG;
    // Whether the join takes the waiting task off its worker's stack, or lets the worker sleep.
    const bool leaves_ = run.plan.join == Join::CONTINUATION || run.plan.join == Join::BLOCK;
    const bool has_groups_ = run.frames.groups().exist();
    QueueLines* const lines_ = lines.get();  // or nullptr
};

}  // namespace numasim
