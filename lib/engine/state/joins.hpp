// What tasks wait for at joins: groups of tasks, idle workers in nested joins, and who has begun the awaited tasks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "state/containers.hpp"
#include "state/worker.hpp"

namespace numasim {

// Groups of tasks: which group counts each task, and how many tasks of each have not finished (model 3.1 and 3.2;
// numasim.workload.algorithms.groups.py).

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

// Idle workers that wait in a nested join, and those of them whose join has come to its end: they go on at their next
// event, although nothing is in any queue (model 3.2).

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
