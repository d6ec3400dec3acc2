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

// Which worker has begun which child of a task: who waits for the children in a leapfrogging join steals from that
// worker alone.
class Takers {
public:
    // The worker has begun the child in one frame of the task in another, or goes on with it.
    void begun(std::uint32_t parent, std::uint32_t child, std::uint32_t worker) {
        Children& children = of_[parent];
        erase(children, child);
        children.emplace_back(child, worker);
    }

    void finished(std::uint32_t parent, std::uint32_t child) {
        const auto found = of_.find(parent);
        if (found == of_.end()) return;
        erase(found->second, child);
        if (found->second.empty()) of_.erase(found);
    }

    // Of the workers other than `waiter` that have begun a child which has not finished, the last; or NS_UNKNOWN.
    std::int32_t of(Task parent, std::uint32_t waiter) const {
        const auto found = of_.find(static_cast<std::uint32_t>(parent));
        if (found == of_.end()) return NS_UNKNOWN;
        const Children& children = found->second;
        const auto last = std::find_if(children.rbegin(), children.rend(),
                                       [waiter](const auto& child) { return child.second != waiter; });
        return last == children.rend() ? NS_UNKNOWN : static_cast<std::int32_t>(last->second);
    }

private:
    using Children = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // frame, worker; the one begun last behind

    static void erase(Children& children, std::uint32_t child) {
        std::erase_if(children, [child](const auto& each) { return each.first == child; });
    }

    std::unordered_map<std::uint32_t, Children> of_;  // by the frame of the parent
};

}  // namespace numasim
