// Groups of tasks: which group counts each task, and how many tasks of each have not finished (model 3.1 and 3.2;
// numasim.workload.algorithms.groups.py).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "state/pool.hpp"

namespace numasim {

constexpr std::uint32_t NO_GROUP = UINT32_MAX;

struct Group {
    std::int64_t gathered_ps = 0;     // the longest chain of work of its tasks that have finished
    std::uint32_t members = 0;        // tasks that have not finished
    std::uint32_t owner = 0;          // the frame of the task that has begun it,
    std::uint32_t around = NO_GROUP;  // and the group that this was in then
    bool gathering = false;           // its owner left its worker's stack, or sleeps, at the END_GROUP
};

class Groups {
public:
    explicit Groups(const Plan& plan)
        : exist_(std::any_of(plan.graph.op_code.begin(), plan.graph.op_code.end(),
                             [](std::uint8_t code) { return code == GROUP; })) {}

    // Nothing below is asked of a plan without groups, but for `of`.
    bool exist() const { return exist_; }

    Group& operator[](std::uint32_t group) { return groups_[group]; }
    const Group& operator[](std::uint32_t group) const { return groups_[group]; }
    // The group that a frame is of, or NO_GROUP: that which counts a task, or those that a call spawns.
    std::uint32_t of(std::uint32_t frame) const { return exist_ ? frames_[frame].of : NO_GROUP; }
    // The innermost group that the frame's task has begun and not ended, or NO_GROUP.
    std::uint32_t innermost(std::uint32_t frame) const { return frames_[frame].innermost; }

    // There is a root, or a child, in a frame.
    void add_root(std::uint32_t frame) { set(frame, NO_GROUP); }
    void add_child(std::uint32_t frame, std::uint32_t parent) {
        const std::uint32_t begun = innermost(parent);
        set(frame, begun != NO_GROUP ? begun : of(parent));
    }

    void begin(std::uint32_t frame) {
        const std::uint32_t around = innermost(frame);
        frames_[frame].innermost = groups_.add({.owner = frame, .around = around});
    }
    void end(std::uint32_t frame) {
        const std::uint32_t ended = innermost(frame);
        frames_[frame].innermost = groups_[ended].around;
        groups_.free(ended);
    }

    // A task has been spawned; one has finished: whether its group has no other.
    void count(std::uint32_t frame) {
        if (of(frame) != NO_GROUP) ++groups_[of(frame)].members;
    }
    bool uncount(std::uint32_t frame, std::int64_t path_ps) {
        if (of(frame) == NO_GROUP) return false;
        Group& group = groups_[of(frame)];
        group.gathered_ps = std::max(group.gathered_ps, path_ps);
        return --group.members == 0;
    }

private:
    struct Place {
        std::uint32_t of, innermost;
    };

    void set(std::uint32_t frame, std::uint32_t group) {
        if (frame >= frames_.size()) frames_.resize(std::max(std::size_t{frame} + 1, 2 * frames_.size()));
        frames_[frame] = {group, NO_GROUP};
    }

    const bool exist_;
    std::vector<Place> frames_;
    Pool<Group> groups_;
};

}  // namespace numasim
