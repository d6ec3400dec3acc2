// Idle workers that wait in a nested join, and those of them whose join has come to its end: they go on at their next
// event, although nothing is in any queue (model 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "state/worker.hpp"

namespace numasim {

class NestedJoins {
public:
    // The worker is idle until all children of the task in this frame have finished, or it finds another task.
    void begin(std::size_t frame, std::uint32_t worker) {
        if (frame >= waiter_.size()) waiter_.resize(std::max(frame + 1, 2 * waiter_.size()), NOBODY);
        waiter_[frame] = worker;
    }
    void end(std::size_t frame) {
        std::erase(over_, waiter_[frame]);
        waiter_[frame] = NOBODY;
    }

    // The last child of the task in this frame has finished; whether somebody waits for that, the last of `over`.
    bool come_to_end(std::size_t frame) {
        if (frame >= waiter_.size() || waiter_[frame] == NOBODY) return false;
        over_.push_back(waiter_[frame]);
        return true;
    }

    std::span<const std::uint32_t> over() const { return over_; }

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    std::vector<std::uint32_t> waiter_;  // [frames]
    std::vector<std::uint32_t> over_;
};

// Which worker has begun which of the tasks that somebody may wait for, the children of a task or the tasks of a group:
// who waits for them in a leapfrogging join steals from that worker alone.
class Takers {
public:
    // The worker has begun the task in a frame, of those that somebody waits for, or goes on with it.
    void begun(std::uint32_t awaited, std::uint32_t task, std::uint32_t worker) {
        Tasks& tasks = of_[awaited];
        erase(tasks, task);
        tasks.emplace_back(task, worker);
    }

    void finished(std::uint32_t awaited, std::uint32_t task) {
        const auto found = of_.find(awaited);
        if (found == of_.end()) return;
        erase(found->second, task);
        if (found->second.empty()) of_.erase(found);
    }

    // Of the workers other than `waiter` that have begun a task which has not finished, the last; or NS_UNKNOWN.
    std::int32_t of(std::uint32_t awaited, std::uint32_t waiter) const {
        const auto found = of_.find(awaited);
        if (found == of_.end()) return NS_UNKNOWN;
        const Tasks& tasks = found->second;
        const auto last =
            std::find_if(tasks.rbegin(), tasks.rend(), [waiter](const auto& task) { return task.second != waiter; });
        return last == tasks.rend() ? NS_UNKNOWN : static_cast<std::int32_t>(last->second);
    }

private:
    using Tasks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // frame, worker; the one begun last behind

    static void erase(Tasks& tasks, std::uint32_t task) {
        std::erase_if(tasks, [task](const auto& each) { return each.first == task; });
    }

    std::unordered_map<std::uint32_t, Tasks> of_;
};

}  // namespace numasim
