// The dispatcher finds the queue for a new task by the dispatch rules (model 4.5).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "queue_lines.hpp"
#include "resting.hpp"
#include "state/run.hpp"

namespace numasim {

class Dispatcher {
public:
    Dispatcher(Run& run, MemorySystem& memory, QueueLines* lines, Resting* resting)
        : run_(run),
          pages_(memory.pages()),
          lines_(lines),
          resting_(resting),
          watches_puts_(lines != nullptr || resting != nullptr),
          numbers_(&run.plan),
          copy_(run.plan.steal.levels - run.plan.steal.steal_levels + 1) {}

    void start_phase(const Phase& phase) { ns_task_numbers_start_phase(&numbers_, &phase); }

    // Return the queue for a task that a worker spawns, or a negative number if every queue that the rules name is
    // full. The worker owes the overhead of the decision.
    std::int32_t choose(Worker& w, Task task) {
        if (w.boundless_own != NS_UNKNOWN) return w.boundless_own;
        const std::int32_t q = place(w.id, task);
        if (q != NS_UNKNOWN) owe_line(w, static_cast<std::uint32_t>(q));
        for (std::uint32_t at = 0; at < copies_; ++at) owe_line(w, copy_[at]);
        if (looked_) w.owed_ps += run_.plan.costs.locate_ps;
        return q;
    }

    // Return the queue for a task of the worker or the producer at `position`. Nobody owes overhead for the decision.
    [[gnu::noinline]] std::int32_t place(std::uint32_t position, Task task) {
        std::uint64_t index = 0, count = numbers_.count;
        if (run_.ranges.holds(task)) {
            const std::size_t family = run_.ranges.family_of(task);
            index = static_cast<std::uint64_t>(task) - run_.ranges.first(family);
            count = run_.ranges.count(family);
        } else if (ns_task_numbers_are_asked_for(&numbers_)) {
            index = ns_task_number(&numbers_, run_.frames.id_of(task));
        }
        ns_new_task described{index,         count,      nullptr,      0, true, false, nullptr,
                              NS_TIER_LOCAL, NS_UNKNOWN, copy_.data(), 0};
        if (run_.plan.rules_ask_tasks) {
            described.tier = run_.controls.asked_tier(task);
            described.label = run_.controls.label(task);
        }
        if (run_.plan.steal.data_count != 0) describe(task, described);
        const ns_view seen = run_.queues.view();
        const std::int32_t q = ns_place(&run_.plan.steal, &run_.queues.actor(position), &seen, &described);
        looked_ = described.looked;
        copies_ = described.copies;
        return q;
    }

    // Put the task that was placed last into queue `q`, and a copy into each queue for which a rule asks for one.
    [[gnu::always_inline]] void put(std::int32_t q, Task task) {
        if (copies_ == 0) return run_.queues.put(static_cast<std::uint32_t>(q), task);
        copy_[copies_] = static_cast<std::uint32_t>(q);
        run_.queues.put_copies(copy_.data(), copies_ + 1, task);
    }
    // As `put(q, task)`, and record who puts the task: the worker or the producer `by`, whose number is `actor`.
    template <typename Actor>
    [[gnu::always_inline]] void put(Actor& by, std::uint32_t actor, std::int32_t q, Task task) {
        if (watches_puts_) return put_watched(by, actor, q, task);
        put(q, task);
        record_put(actor, q, task);
    }

    std::uint32_t copies() const { return copies_; }  // number of copies of the task that was placed last
    bool looked() const { return looked_; }           // whether its placing asked where its objects are

private:
    // If queue `q` is not the worker's own queue, the worker owes the time to move the cache line of the queue.
    void owe_line(Worker& w, std::uint32_t q) const {
        if (static_cast<std::int32_t>(q) != w.own) w.owed_ps += ns_queue_line_ps(&run_.plan, &w, q);
    }

    // Set in `described` the task's objects (if dispatch asks where they lie), and whether the task waits for no task.
    [[gnu::noinline]] void describe(Task task, ns_new_task& described) {
        const bool item = run_.ranges.holds(task);
        if (!item && run_.frames.have_dependences()) described.source = run_.frames.depends_on_none(task);
        if (!run_.plan.looks_at_data) return;
        if (item) {
            const std::size_t family = run_.ranges.family_of(task);
            ns_pages_describe_item(&pages_, family, task - static_cast<Task>(run_.ranges.first(family)), &described);
        } else {
            ns_pages_describe(&pages_, run_.frames[task].row, &described);
        }
    }

    [[gnu::always_inline]] void record_put(std::uint32_t actor, std::int32_t q, Task task) {
        const std::int64_t id = run_.frames.id_of(task);
        for (std::uint32_t at = 0; at < copies_; ++at) run_.detail(PUT, actor, id, copy_[at]);
        run_.detail(PUT, actor, id, q);
    }
    // As `put`; also move the cache lines of the queues that get the task or a copy, and wake sleeping workers.
    template <typename Actor>
    [[gnu::noinline]] void put_watched(Actor& by, std::uint32_t actor, std::int32_t q, Task task) {
        std::vector<std::pair<std::uint32_t, bool>> filled;  // the queues, and whether each of them held tasks before
        const auto add = [&](std::uint32_t queue) { filled.emplace_back(queue, run_.queues.length(queue) != 0); };
        for (std::uint32_t at = 0; at < copies_; ++at) add(copy_[at]);
        add(static_cast<std::uint32_t>(q));
        put(q, task);
        record_put(actor, q, task);
        for (const auto& [queue, held] : filled) {
            if (lines_ != nullptr) lines_->push(by, queue);
        }
        for (const auto& [queue, held] : filled) {
            if (resting_ != nullptr) resting_->pushed(by, queue, held);
        }
    }

    Run& run_;
    ns_pages& pages_;
    QueueLines* const lines_;  // or nullptr
    Resting* const resting_;   // or nullptr
    const bool watches_puts_;  // whether puts move cache lines or may wake sleeping workers
    Owned<ns_task_numbers, ns_task_numbers_create> numbers_;
    bool looked_ = false;
    std::vector<std::uint32_t> copy_;  // [copies + 1] the queues that get a copy of the task placed last
    std::uint32_t copies_ = 0;
};

}  // namespace numasim
