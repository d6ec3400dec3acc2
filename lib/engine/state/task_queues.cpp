#include "state/task_queues.hpp"

#include <algorithm>

namespace numasim {

TaskQueues::TaskQueues(const Plan& plan, std::uint64_t seed, Recorder& recorder)
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

std::int64_t TaskQueues::peak_sum() const {
    std::int64_t sum = 0;
    for (const Queue& each : queues_) sum += each.peak;
    return sum;
}

// ---- copies -------------------------------------------------------------------------------------------------------

void TaskQueues::put_copies(const std::uint32_t* queues, std::uint32_t count, Task task) {
    const std::uint64_t number = shared_.add({static_cast<std::uint64_t>(task), count, false});
    for (std::uint32_t at = 0; at < count; ++at) put_items(queues[at], {number | SHARED, 1, 1});
}

// Return the task of an entry that has been taken. If the task is shared, it is claimed now.
std::uint64_t TaskQueues::claim(std::uint64_t entry) {
    if ((entry & SHARED) == 0) return entry;
    SharedTask& shared = shared_task(entry);
    shared.claimed = true;
    const std::uint64_t task = shared.task;
    forget(entry);
    return task;
}

// Forget an entry of a shared task.
void TaskQueues::forget(std::uint64_t entry) {
    if (--shared_task(entry).entries == 0) shared_.free(static_cast<std::uint32_t>(entry ^ SHARED));
}

// The entries that stay move inwards, from the innermost on, and the places at the end are given up.
std::int64_t TaskQueues::sift_copies(std::uint32_t q, bool back, std::int64_t most) {
    Ring<ns_items>& entries = entries_of_[q];
    const auto at_end = [&](std::size_t at) -> ns_items& { return entries.at(back ? entries.size() - 1 - at : at); };
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

// ---- like items that are passed over ------------------------------------------------------------------------------

bool TaskQueues::none_below(Task task) const {
    return std::ranges::all_of(entries_of_, [task](const Ring<ns_items>& entries) {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (static_cast<Task>(entries.at(i).first) < task) return false;
        }
        return true;
    });
}

void TaskQueues::renumber(std::int64_t by) {
    for (const Ring<ns_items>& entries : entries_of_) {
        for (std::size_t i = 0; i < entries.size(); ++i) entries.at(i).first += static_cast<std::uint64_t>(by);
    }
}

Team new_team(const Plan& plan) {
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
