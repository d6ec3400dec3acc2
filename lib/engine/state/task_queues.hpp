// The task queues of a run: contents, lengths, thresholds and watch bits. The strategy's memory of each worker
// (engine/reference/task_queues.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan.hpp"
#include "record/recorder.hpp"
#include "state/containers.hpp"
#include "state/worker.hpp"

namespace numasim {

// A component that is told when a task comes into a queue.
class QueueAttendant {
public:
    virtual void filled(std::uint32_t q) = 0;

protected:
    ~QueueAttendant() = default;
};

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

// [workers] the `Aside` of each worker; empty if the plan needs none.
inline std::vector<Aside> new_aside(const Plan& whole) {
    const ns_plan& plan = whole.steal;
    const auto moves = [](const ns_queue& queue) { return queue.full == NS_FULL_DISPLACE || ns_spills(&queue); };
    const auto polled = [](const ns_level& level) { return level.every != 0; };
    const bool needed = std::any_of(plan.queues, plan.queues + plan.queue_count, moves) ||
                        std::any_of(plan.level, plan.level + plan.steal_levels, polled) || whole.costs.yield_ps != 0;
    std::vector<Aside> aside(needed ? plan.workers : 0);
    for (std::uint32_t q = 0; needed && q < plan.queue_count; ++q) {
        if (plan.queues[q].full == NS_FULL_DISPLACE)
            aside[static_cast<std::size_t>(plan.queues[q].owner)].slot = static_cast<std::int32_t>(q);
    }
    return aside;
}

class TaskQueues {
public:
    TaskQueues(const Plan& plan, std::uint64_t seed, Recorder& recorder)
        : steal_(plan.steal),
          recorder_(recorder),
          watched_(steal_.watches != 0),
          entries_of_(steal_.queue_count),
          length_(steal_.queue_count),
          watch_(std::size_t{steal_.watches} * ns_set_words(steal_.queue_count)),
          cursors_((std::size_t{plan.workers} + 1) * steal_.levels),
          chances_ppm_((std::size_t{plan.workers} + 1) * steal_.chances),
          actors_(std::size_t{plan.workers} + 1) {
        constexpr std::int64_t UNBOUNDED_TASKS = std::int64_t{1} << 62;
        for (std::uint32_t watch = 0; watch < steal_.watches; ++watch) {
            owners_announce_ |= ns_watch_is_owners(&steal_.watch[2 * watch]);
            exactly_ |= steal_.watch[2 * watch] == NS_OWNER_EXACT_MARK;
        }
        for (std::uint32_t rule = steal_.steal_levels; rule < steal_.levels; ++rule) {
            copies_ |= (steal_.level[rule].flags & NS_FLAG_COPY) != 0;
        }
        for (std::uint32_t q = 0; q < steal_.queue_count; ++q) {
            const std::int64_t bound = steal_.queues[q].capacity, capacity = bound != 0 ? bound : UNBOUNDED_TASKS;
            queues_.push_back({ns_thresholds_first(&plan.thresholds, capacity), capacity, 0, 0});
        }
        for (std::uint32_t at = 0; at < actors_.size(); ++at) {
            ns_actor_init(&actors_[at], &steal_, static_cast<std::int32_t>(at), seed,
                          cursors_.data() + std::size_t{at} * steal_.levels,
                          chances_ppm_.data() + std::size_t{at} * steal_.chances);
        }
    }

    TaskQueues(const TaskQueues&) = delete;
    TaskQueues& operator=(const TaskQueues&) = delete;

    // ---- putting and taking

    // Take the task at the back or the front of a queue that is not empty.
    [[gnu::always_inline]] Task take(std::uint32_t q, bool back) {
        Ring<ns_items>& entries = entries_of_[q];
        ns_items& entry = back ? entries.back() : entries.front();
        std::uint64_t task = entry.first;
        if (entry.count == 1) {
            --entries_;
            back ? entries.pop_back() : entries.pop_front();
        } else {
            task = back ? ns_items_take_back(&entry) : ns_items_take_front(&entry);
        }
        --length_[q];
        --total_;
        if (watched_) mark(q);
        if (recorder_.watched()) recorder_.length(q, length(q));
        return static_cast<Task>(copies_ ? claim(task) : task);
    }
    [[gnu::always_inline]] void put(std::uint32_t q, Task task) {
        put_items(q, {static_cast<std::uint64_t>(task), 1, 1});
    }
    // Put at least one item at the back of a queue.
    [[gnu::always_inline]] void put_items(std::uint32_t q, const ns_items& items) {
        entries_of_[q].push_back(items);
        length_[q] += items.count;
        total_ += items.count;
        if (total_ > peak_total_) peak_total_ = total_;
        if (++entries_ > peak_entries_) peak_entries_ = entries_;
        if (watched_) count_push(q, items.count);
        if (recorder_.watched()) recorder_.length(q, length(q));
        if (attendant_ != nullptr) attendant_->filled(q);
    }

    // Put an entry of one task into each of `count` queues. The worker that takes one of the entries claims the task.
    [[gnu::noinline]] void put_copies(const std::uint32_t* queues, std::uint32_t count, Task task) {
        const std::uint64_t number = shared_.add({static_cast<std::uint64_t>(task), count, false});
        for (std::uint32_t at = 0; at < count; ++at) put_items(queues[at], {number | SHARED, 1, 1});
    }

    // Among the `most` tasks at one end of a queue, drop copies of claimed tasks. Returns how many tasks remain.
    std::int64_t sift(std::uint32_t q, bool back, std::int64_t most) {
        return copies_ ? sift_copies(q, back, most) : most;
    }
    // A phase has ended: drop all copies of tasks that have been claimed from other queues.
    void drop_claimed() {
        for (std::uint32_t q = 0; copies_ && q < queues_.size(); ++q) sift(q, false, length(q));
    }
    void set_attendant(QueueAttendant* attendant) { attendant_ = attendant; }

    // ---- what is in the queues

    Task peek(std::uint32_t q, bool back) const {
        const ns_items& end = entry(q, back);
        const std::uint64_t task = back ? end.first + std::uint64_t{end.step} * (end.count - 1) : end.first;
        return static_cast<Task>(copies_ && (task & SHARED) != 0 ? shared_task(task).task : task);
    }
    // The entry at one end of a queue that is not empty. An entry is a range of items, or one task.
    const ns_items& entry(std::uint32_t q, bool back) const {
        const Ring<ns_items>& entries = entries_of_[q];
        return back ? entries.back() : entries.front();
    }
    // Whether the entry at one end of queue `q` is a copy of a task that was claimed from another queue.
    bool is_claimed(std::uint32_t q, bool back) const { return copies_ && is_claimed(entry(q, back)); }
    bool has_room(std::uint32_t q) const { return length(q) < queues_[q].capacity; }
    std::int64_t length(std::uint32_t q) const { return length_[q]; }
    std::int64_t capacity(std::uint32_t q) const { return queues_[q].capacity; }  // 2^62: unbounded
    ns_thresholds thresholds(std::uint32_t q) const { return queues_[q].thresholds; }
    std::int64_t pushes(std::uint32_t q) const { return queues_[q].pushes; }
    std::int64_t total() const { return total_; }
    std::int64_t peak_total() const { return peak_total_; }
    std::int64_t peak_entries() const { return peak_entries_; }

    // The sum over all queues of the greatest length that the queue has had.
    std::int64_t peak_sum() const {
        std::int64_t sum = 0;
        for (const Queue& each : queues_) sum += each.peak;
        return sum;
    }

    std::int64_t marked() const { return marked_; }  // number of watch bits that are set
    bool has_copies() const { return copies_; }      // whether a dispatch rule leaves copies of tasks

    // ---- thresholds and watches

    void set_thresholds(std::uint32_t q, ns_thresholds thresholds) {
        queues_[q].thresholds = thresholds;
        mark(q);
    }
    // The owner of a queue takes a step. Returns the change in the number of set watch bits that owners write.
    std::int32_t owner_steps(std::uint32_t q, ns_owner_step step) {
        return owners_announce_ ? owner_steps(q, step, queues_[q].thresholds) : 0;
    }
    // The owner of a queue has announced its sleep, or sleeps no longer.
    void owner_sleeps(std::uint32_t q, bool sleeps) {
        if (watched_) marked_ += ns_watch_owner_sleeps(&steal_, watch_.data(), q, sleeps);
    }
    // How much room the queue has when its owner, as it takes a task, sets the queue's watch bits; -1: never.
    std::int64_t room_to_announce(std::uint32_t q) const {
        const std::int64_t room = capacity(q) - queues_[q].thresholds.high;
        if (!owners_announce_ || room < 0) return -1;
        return exactly_ ? room : 0;
    }
    // The owner of a queue has set the watch bits of the queue.
    void announce(std::uint32_t q) { owner_steps(q, NS_OWNER_TAKES, {length(q), 0}); }

    // ---- items with equal times that are passed over

    // Count `taken` items as put into a queue and taken.
    void pass(std::uint32_t q, std::int64_t taken) { queues_[q].pushes += taken; }

    // Whether all entries are at least `task`. Below: add `by` to all entries.
    bool none_below(Task task) const {
        return std::ranges::all_of(entries_of_, [task](const Ring<ns_items>& entries) {
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (static_cast<Task>(entries.at(i).first) < task) return false;
            }
            return true;
        });
    }

    void renumber(std::int64_t by) {
        for (const Ring<ns_items>& entries : entries_of_) {
            for (std::size_t i = 0; i < entries.size(); ++i) entries.at(i).first += static_cast<std::uint64_t>(by);
        }
    }

    // ---- the strategy

    ns_view view() const { return {length_.data(), watch_.data(), iteration_, switches_, live_, awaited_}; }
    // What the strategy remembers of a worker, or of the producer.
    ns_actor& actor(std::uint32_t position) { return actors_[position]; }
    const ns_actor& actor(std::uint32_t position) const { return actors_[position]; }
    ns_actor* actors() { return actors_.data(); }
    void start_iteration(std::uint32_t iteration) { iteration_ = iteration; }
    void set_switches(std::uint64_t switches) { switches_ = switches; }
    void show_live(const ns_live_subtrees& subtrees) {
        live_ = subtrees.live;
        awaited_ = subtrees.awaited;
    }

private:
    static constexpr std::uint64_t SHARED = std::uint64_t{1} << 62;  // | number of a SharedTask: an entry of it

    struct Queue {
        ns_thresholds thresholds;
        std::int64_t capacity, pushes, peak;  // `pushes` and `peak` are counted if the plan has watches
    };
    // A task that was put into several queues, in which `entries` entries of it are left.
    struct SharedTask {
        std::uint64_t task;
        std::uint32_t entries;
        bool claimed;
    };

    void count_push(std::uint32_t q, std::int64_t tasks) {
        queues_[q].pushes += tasks;
        queues_[q].peak = std::max(queues_[q].peak, length(q));
        mark(q);
    }
    void mark(std::uint32_t q) {
        marked_ += ns_watch_mark(&steal_, watch_.data(), q, length(q), queues_[q].thresholds);
    }
    std::int32_t owner_steps(std::uint32_t q, ns_owner_step step, ns_thresholds thresholds) {
        const std::int32_t more = ns_watch_owner_steps(&steal_, watch_.data(), q, step, length(q), thresholds);
        marked_ += more;
        return more;
    }
    const SharedTask& shared_task(std::uint64_t entry) const {
        return shared_[static_cast<std::uint32_t>(entry ^ SHARED)];
    }
    SharedTask& shared_task(std::uint64_t entry) { return shared_[static_cast<std::uint32_t>(entry ^ SHARED)]; }
    bool is_claimed(const ns_items& entry) const {
        return (entry.first & SHARED) != 0 && shared_task(entry.first).claimed;
    }

    // Return the task of an entry that has been taken. A shared task is claimed now: its other entries are void.
    [[gnu::noinline]] std::uint64_t claim(std::uint64_t entry) {
        if ((entry & SHARED) == 0) return entry;
        SharedTask& shared = shared_task(entry);
        shared.claimed = true;
        const std::uint64_t task = shared.task;
        forget(entry);
        return task;
    }

    // An entry of a shared task has left its queue.
    void forget(std::uint64_t entry) {
        if (--shared_task(entry).entries == 0) shared_.free(static_cast<std::uint32_t>(entry ^ SHARED));
    }

    // Drop void entries: remaining entries move away from the end of the queue, the farthest entry first, and the freed
    // places at the end are removed.
    [[gnu::noinline]] std::int64_t sift_copies(std::uint32_t q, bool back, std::int64_t most) {
        Ring<ns_items>& entries = entries_of_[q];
        const auto at_end = [&](std::size_t at) -> ns_items& {
            return entries.at(back ? entries.size() - 1 - at : at);
        };
        std::size_t seen = 0, kept = 0;
        std::int64_t tasks = 0, dropped = 0;
        for (; seen < entries.size() && tasks < most; ++seen) tasks += at_end(seen).count;
        for (std::size_t at = seen; at-- > 0;) {
            const ns_items entry = at_end(at);
            if (is_claimed(entry)) {
                forget(entry.first);
                ++dropped;
            } else {
                at_end(seen - 1 - kept++) = entry;
            }
        }
        for (std::int64_t at = 0; at < dropped; ++at) back ? entries.pop_back() : entries.pop_front();
        entries_ -= dropped;
        if (dropped != 0) {
            length_[q] -= dropped;
            total_ -= dropped;
            if (watched_) mark(q);
            recorder_.length(q, length(q));
        }
        return std::min(tasks, most) - dropped;
    }

    const ns_plan& steal_;
    Recorder& recorder_;
    QueueAttendant* attendant_ = nullptr;
    const bool watched_;                              // whether the plan has watches
    bool owners_announce_ = false, exactly_ = false;  // owners write some watches; at one exact length
    bool copies_ = false;
    std::vector<Ring<ns_items>> entries_of_;  // [queues]
    std::vector<Queue> queues_;
    std::vector<std::int64_t> length_;  // [queues]
    std::vector<std::uint64_t> watch_;  // [watches][words] as in an ns_view
    std::int64_t marked_ = 0, total_ = 0, peak_total_ = 0, entries_ = 0, peak_entries_ = 0;
    Pool<SharedTask> shared_;
    std::vector<std::int64_t> cursors_;      // [workers + 1][levels] of the actors
    std::vector<std::int32_t> chances_ppm_;  // [workers + 1][chances] of the actors
    std::vector<ns_actor> actors_;           // [workers + 1]
    std::uint32_t iteration_ = 0;
    std::uint64_t switches_ = 0;
    const std::int64_t* live_ = nullptr;     // of TaskControls
    const std::int64_t* awaited_ = nullptr;  // of TaskControls
};

}  // namespace numasim
