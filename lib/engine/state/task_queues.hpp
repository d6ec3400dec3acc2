// The task queues of a run (core/queues), and what the strategy remembers of each worker that looks at them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "execution/live_subtrees.h"
#include "plan.hpp"
#include "policy/round.h"
#include "queues/queues.h"
#include "record/recorder.hpp"
#include "state/worker.hpp"

namespace numasim {

// Whoever wants to know of tasks that come into queues.
class QueueAttendant {
public:
    virtual void filled(std::uint32_t q) = 0;

protected:
    ~QueueAttendant() = default;
};

class TaskQueues {
public:
    TaskQueues(const Plan& plan, std::uint64_t seed, Recorder& recorder);
    ~TaskQueues() { ns_queues_destroy(&queues_); }
    TaskQueues(const TaskQueues&) = delete;
    TaskQueues& operator=(const TaskQueues&) = delete;

    [[gnu::always_inline]] Task take(std::uint32_t q, bool back) {
        const std::uint64_t task = ns_queues_pop(&queues_, q, back);
        if (recorder_.watch() != nullptr) recorder_.length(q, length(q));
        return static_cast<Task>(task);
    }
    [[gnu::always_inline]] void put(std::uint32_t q, Task task) {
        if (!ns_queues_push_task(&queues_, q, static_cast<std::uint64_t>(task))) throw std::bad_alloc();
        if (recorder_.watch() != nullptr) recorder_.length(q, length(q));
        if (attendant_ != nullptr) attendant_->filled(q);
    }
    // The same for a task with entries in several queues.
    void put_copies(const std::uint32_t* queues, std::uint32_t count, Task task) {
        if (!ns_queues_push_copies(&queues_, queues, count, static_cast<std::uint64_t>(task))) throw std::bad_alloc();
        for (std::uint32_t at = 0; at < count; ++at) {
            if (recorder_.watch() != nullptr) recorder_.length(queues[at], length(queues[at]));
            if (attendant_ != nullptr) attendant_->filled(queues[at]);
        }
    }
    // Drop copies of claimed tasks among the `most` tasks at one end of a queue; how many of these are left.
    std::int64_t sift(std::uint32_t q, bool back, std::int64_t most) {
        const std::int64_t before = length(q), left = ns_queues_sift(&queues_, q, back, most);
        if (length(q) != before && recorder_.watch() != nullptr) recorder_.length(q, length(q));
        return left;
    }
    // A phase has ended: drop the entries of all tasks that were claimed elsewhere.
    void drop_claimed() {
        for (std::uint32_t q = 0; queues_.copies && q < queues_.plan->queue_count; ++q) sift(q, false, length(q));
    }
    void put_items(std::uint32_t q, const ns_items& items) {
        if (items.count == 0) return;
        if (!ns_queues_push(&queues_, q, items)) throw std::bad_alloc();
        recorder_.length(q, length(q));
        if (attendant_ != nullptr) attendant_->filled(q);
    }
    void set_attendant(QueueAttendant* attendant) { attendant_ = attendant; }

    Task peek(std::uint32_t q, bool back) const { return static_cast<Task>(ns_queues_peek(&queues_, q, back)); }
    // The range of items at an end of a queue that is not empty; a task that is no item is a range of its own.
    const ns_items& entry(std::uint32_t q, bool back) const { return *ns_ring_end(&queues_.ring[q], back); }
    bool has_room(std::uint32_t q) const { return ns_queues_have_room(&queues_, q); }
    std::int64_t length(std::uint32_t q) const { return queues_.length[q]; }
    const ns_queues& contents() const { return queues_; }
    ns_queues* core() { return &queues_; }

    // Count `taken` items of like ones as put into `q` and taken.
    void pass(std::uint32_t q, std::int64_t taken) { queues_.pushes[q] += taken; }
    // Whether no entry is below `task`; let all entries be `by` higher.
    bool none_below(Task task) const;
    void renumber(std::int64_t by);

    // What the decisions of the strategy are made from; what it remembers of a worker, or of the producer.
    ns_view view() const { return {queues_.length, queues_.watch, iteration_, switches_, live_, awaited_}; }
    ns_actor& actor(std::uint32_t position) { return actors_[position]; }
    const ns_actor& actor(std::uint32_t position) const { return actors_[position]; }
    ns_actor* actors() { return actors_.get(); }
    void start_iteration(std::uint32_t iteration) { iteration_ = iteration; }
    void set_switches(std::uint64_t switches) { switches_ = switches; }
    void show_live(const ns_live_subtrees& subtrees) {
        live_ = subtrees.live;
        awaited_ = subtrees.awaited;
    }

private:
    struct Free {
        void operator()(ns_actor* actors) const { std::free(actors); }
    };

    Recorder& recorder_;
    QueueAttendant* attendant_ = nullptr;
    ns_queues queues_{};
    std::unique_ptr<ns_actor[], Free> actors_;  // [workers + 1]
    std::uint32_t iteration_ = 0;
    std::uint64_t switches_ = 0;
    const std::int64_t* live_ = nullptr;     // of whoever counts them
    const std::int64_t* awaited_ = nullptr;  // likewise
};

inline TaskQueues::TaskQueues(const Plan& plan, std::uint64_t seed, Recorder& recorder)
    : recorder_(recorder), actors_(ns_actors_create(&plan.steal, plan.workers + 1, seed)) {
    if (!actors_ || !ns_queues_create(&queues_, &plan.steal, &plan.thresholds)) throw std::bad_alloc();
}

inline bool TaskQueues::none_below(Task task) const {
    for (std::uint32_t q = 0; q < queues_.plan->queue_count; ++q) {
        const ns_ring& entries = queues_.ring[q];
        for (std::size_t i = 0; i < entries.size; ++i) {
            if (static_cast<Task>(ns_ring_at(&entries, i)->first) < task) return false;
        }
    }
    return true;
}

inline void TaskQueues::renumber(std::int64_t by) {
    for (std::uint32_t q = 0; q < queues_.plan->queue_count; ++q) {
        const ns_ring& entries = queues_.ring[q];
        for (std::size_t i = 0; i < entries.size; ++i) ns_ring_at(&entries, i)->first += static_cast<std::uint64_t>(by);
    }
}

// The workers of a plan at the start of a run.
inline Team new_team(const Plan& plan) {
    Team team(plan.workers);
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        Worker& w = team[i];
        ns_worker_start(&w, &plan, i);
        w.boundless_own = plan.own_never_full ? w.own : NS_UNKNOWN;
        w.total_ps = plan.times.total[static_cast<std::size_t>(w.node)].data();
        w.local_ps = plan.times.local[static_cast<std::size_t>(w.node)].data();
    }
    return team;
}

}  // namespace numasim
