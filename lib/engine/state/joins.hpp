// The state of joins: task groups, idle workers in nested joins, and the workers that have begun awaited tasks.
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

// ---- groups (model 3.1 and 3.2; numasim/workload/span.py)

constexpr std::uint32_t NO_GROUP = UINT32_MAX;

struct Group {
    std::int64_t gathered_ps = 0;     // time of the longest chain of its finished tasks
    std::uint32_t members = 0;        // number of unfinished tasks
    std::uint32_t owner = 0;          // frame of the task that has begun the group
    std::uint32_t around = NO_GROUP;  // the innermost group around this group
    bool gathering = false;           // the owner waits at the END_GROUP, off its worker's stack or asleep
};

// The groups of a run, and which group counts each task.
class Groups {
public:
    explicit Groups(const Plan& plan)
        : exist_(std::any_of(plan.graph.op_code.begin(), plan.graph.op_code.end(),
                             [](std::uint8_t code) { return code == GROUP; })) {}

    // Whether the plan has groups. In a plan without groups only `of`, `count` and `uncount` may be called.
    bool exist() const { return exist_; }

    Group& operator[](std::uint32_t group) { return groups_[group]; }
    const Group& operator[](std::uint32_t group) const { return groups_[group]; }
    // The group that counts the task of a frame (for a call: the tasks that the call spawns), or NO_GROUP.
    std::uint32_t of(std::uint32_t frame) const { return exist_ ? frames_[frame].of : NO_GROUP; }
    // The innermost group that the task of a frame has begun and not ended, or NO_GROUP.
    std::uint32_t innermost(std::uint32_t frame) const { return frames_[frame].innermost; }

    // `frame` is a new frame: of a root; of a child of the task in frame `parent`.
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

    // A task has been spawned: count the task in its group.
    void count(std::uint32_t frame) {
        if (of(frame) != NO_GROUP) ++groups_[of(frame)].members;
    }
    // A task has finished. Returns whether the task's group has no unfinished task left.
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

// Idle workers in nested joins (model 3.2). When the join of such a worker is over, the worker goes on at its next
// event, even if all queues are empty.
class NestedJoins {
public:
    // The worker becomes idle in the join of the task in `frame`.
    void begin(std::size_t frame, std::uint32_t worker) {
        if (frame >= waiter_.size()) waiter_.resize(std::max(frame + 1, 2 * waiter_.size()), NOBODY);
        waiter_[frame] = worker;
    }
    void end(std::size_t frame) {
        std::erase(over_, waiter_[frame]);
        waiter_[frame] = NOBODY;
    }

    // The join of the task in `frame` is over. Returns whether an idle worker waits in this join. If so, this worker is
    // the last entry of `over`.
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

// The workers that have begun awaited tasks: the children of each waiting task, or the tasks of each group. In a
// leapfrogging join a worker that waits steals only from a worker that has begun one of the awaited tasks.
class Takers {
public:
    // The worker begins or continues the task in frame `task`, which the parent or group `awaited` waits for.
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

    // The worker, except `waiter`, that was the last to begin an unfinished task of `awaited`; or NS_UNKNOWN.
    std::int32_t of(std::uint32_t awaited, std::uint32_t waiter) const {
        const auto found = of_.find(awaited);
        if (found == of_.end()) return NS_UNKNOWN;
        const Tasks& tasks = found->second;
        const auto last =
            std::find_if(tasks.rbegin(), tasks.rend(), [waiter](const auto& task) { return task.second != waiter; });
        return last == tasks.rend() ? NS_UNKNOWN : static_cast<std::int32_t>(last->second);
    }

private:
    using Tasks = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // frame and worker, in the order of beginning

    static void erase(Tasks& tasks, std::uint32_t task) {
        std::erase_if(tasks, [task](const auto& each) { return each.first == task; });
    }

    std::unordered_map<std::uint32_t, Tasks> of_;
};

}  // namespace numasim
