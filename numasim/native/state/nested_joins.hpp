// Idle workers that wait in a nested join, and those of them whose join has come to its end: they go on at their next
// event, although nothing is in any queue (model 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace numasim
