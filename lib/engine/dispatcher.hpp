// The dispatcher finds the queue for a new task by the dispatch rules (model 4.5).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "state/run.hpp"

namespace numasim {

class Dispatcher {
public:
    Dispatcher(Run& run, MemorySystem& memory);
    Dispatcher(const Dispatcher&) = delete;
    ~Dispatcher() { ns_task_numbers_destroy(&numbers_); }

    void start_phase(const Phase& phase) { ns_task_numbers_start_phase(&numbers_, &phase); }

    // The queue for a task that a worker spawns; negative if every queue that the rules name is full. The worker owes
    // the overhead of the decision.
    std::int32_t choose(Worker& w, Task task) {
        if (w.boundless_own != NS_UNKNOWN) return w.boundless_own;
        const std::int32_t q = place(w.id, task);
        if (q != NS_UNKNOWN) owe_line(w, static_cast<std::uint32_t>(q));
        for (std::uint32_t at = 0; at < copies_; ++at) owe_line(w, copy_[at]);
        if (looked_) w.owed_ps += run_.plan.costs.locate_ps;
        return q;
    }

    // The same for the worker or the producer at `position`, without overhead.
    [[gnu::noinline]] std::int32_t place(std::uint32_t position, Task task);

    // Put the task that was placed last into queue `q`, and a copy into each queue for which a rule asks for one.
    [[gnu::always_inline]] void put(std::int32_t q, Task task) {
        if (copies_ == 0) return run_.queues.put(static_cast<std::uint32_t>(q), task);
        copy_[copies_] = static_cast<std::uint32_t>(q);
        run_.queues.put_copies(copy_.data(), copies_ + 1, task);
    }
    // Record that the worker or the producer has put the task there.
    [[gnu::always_inline]] void record_put(std::uint32_t actor, std::int32_t q, std::int64_t id) {
        for (std::uint32_t at = 0; at < copies_; ++at) run_.detail(PUT, actor, id, copy_[at]);
        run_.detail(PUT, actor, id, q);
    }

    // The queues that get an entry of the task that was placed last, and whether each of them holds tasks already.
    using Filled = std::vector<std::pair<std::uint32_t, bool>>;
    Filled filled(std::int32_t q) const {
        Filled filled;
        const auto add = [&](std::uint32_t queue) { filled.emplace_back(queue, run_.queues.length(queue) != 0); };
        for (std::uint32_t at = 0; at < copies_; ++at) add(copy_[at]);
        add(static_cast<std::uint32_t>(q));
        return filled;
    }

    std::uint32_t copies() const { return copies_; }  // number of copies of the last decision
    bool looked() const { return looked_; }           // whether the last decision asked where the task's objects are

private:
    // The worker owes the time to move the cache line of a queue that is not its own.
    void owe_line(Worker& w, std::uint32_t q) const {
        if (static_cast<std::int32_t>(q) != w.own) w.owed_ps += ns_queue_line_ps(&run_.plan, &w, q);
    }
    [[gnu::noinline]] void describe(Task task, ns_new_task& described);

    Run& run_;
    ns_pages& pages_;
    ns_task_numbers numbers_;
    bool looked_ = false;
    std::vector<std::uint32_t> copy_;  // [copies + 1] the queues that get a copy of the task that was placed last
    std::uint32_t copies_ = 0;
};

}  // namespace numasim
