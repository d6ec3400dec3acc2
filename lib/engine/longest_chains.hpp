// The longest chains of work (critical paths) of a task graph: lower bounds on the time of a run, computed without an
// engine (model 8, item 1).
//
// A task starts when it has been spawned and its predecessors have finished. A task ends when its own program ends,
// which may wait for children. Segment s takes `segment_ps[s]`, and nothing else takes time. Synchronisation objects
// are ignored. No time exceeds 2^63 - 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "state/joins.hpp"

namespace numasim {

using Times = std::vector<std::int64_t>;

// The chains of a graph with dependences. Each task's program is followed until it waits, and again as soon as the ends
// of the awaited tasks are known.
class Chains {
public:
    Chains(const Plan& plan, const std::int64_t* segment_ps)
        : graph_(plan.graph), segment_ps_(segment_ps), groups_(plan), tasks_(static_cast<std::size_t>(graph_.rows)) {
        for (std::size_t row = 0; row < tasks_.size(); ++row) tasks_[row].op = graph_.op_ptr[row];
        for (const std::uint32_t successor : graph_.successor) ++tasks_[successor].unmet;
    }

    // Return the time of the longest chain of a phase. A root that was in an earlier phase, too, is not followed again:
    // all tasks for which the root may wait are in both phases, so the root ends at the same time in both.
    std::int64_t of(const Phase& phase) {
        for (const std::int64_t root : phase.roots) {
            if (tasks_[static_cast<std::size_t>(root)].spawned) continue;
            if (groups_.exist()) groups_.add_root(static_cast<std::uint32_t>(root));
            make_ready(static_cast<std::uint32_t>(root), 0);
        }
        while (!ready_.empty()) {
            const std::uint32_t task = ready_.back();
            ready_.pop_back();
            advance(task);
        }
        std::int64_t longest = 0;
        for (const std::int64_t root : phase.roots) {
            const std::int64_t end = root + graph_.size[static_cast<std::size_t>(root)];
            for (std::int64_t task = root; task < end; ++task) {
                longest = std::max(longest, tasks_[static_cast<std::size_t>(task)].now_ps);
            }
        }
        return longest;
    }

private:
    static constexpr std::uint32_t NOBODY = UINT32_MAX;

    struct Task {
        std::int64_t op = 0;                     // position of the next op
        std::int64_t now_ps = 0, joined_ps = 0;  // `joined_ps`: latest end of a child so far
        std::uint32_t unmet = 0, pending = 0;    // predecessors and children that have not ended
        std::uint32_t callee = NOBODY;           // the callee of the inline call that the task is in
        bool spawned = false, waits = false;
    };

    // The task has been spawned, or its last predecessor has ended.
    void make_ready(std::uint32_t id, std::int64_t now_ps) {
        Task& task = tasks_[id];
        task.spawned = true;
        task.now_ps = std::max(task.now_ps, now_ps);
        if (task.unmet == 0) ready_.push_back(id);
    }

    // Go through the ops of a task until it waits or ends.
    void advance(std::uint32_t id) {
        Task& task = tasks_[id];
        for (; task.op < graph_.op_ptr[std::size_t{id} + 1]; ++task.op) {
            const std::uint32_t arg = graph_.op_arg[static_cast<std::size_t>(task.op)];
            switch (graph_.op_code[static_cast<std::size_t>(task.op)]) {
                case RUN: task.now_ps = ns_sum(task.now_ps, segment_ps_[arg]); break;
                case WAIT:
                    task.waits = task.pending != 0;
                    if (task.waits) return;
                    task.now_ps = std::max(task.now_ps, task.joined_ps);
                    break;
                case GROUP: groups_.begin(id); break;
                case END_GROUP: {
                    Group& group = groups_[groups_.innermost(id)];
                    group.gathering = group.members != 0;
                    if (group.gathering) return;
                    task.now_ps = std::max(task.now_ps, group.gathered_ps);
                    groups_.end(id);
                    break;
                }
                case SPAWN: create(id, arg, true); break;
                case CALL:
                    task.callee = arg;
                    ++task.op;
                    return create(id, arg, false);
                default: break;
            }
        }
        finish(id);
    }

    // `parent` creates `child`. `counts`: the groups of the parent wait for the child, which is no inline call.
    void create(std::uint32_t parent, std::uint32_t child, bool counts) {
        ++tasks_[parent].pending;
        if (groups_.exist()) {
            groups_.add_child(child, parent);
            if (counts) groups_.count(child);
        }
        make_ready(child, tasks_[parent].now_ps);
    }

    void finish(std::uint32_t id) {
        const std::int64_t now_ps = tasks_[id].now_ps, parent = graph_.parent[id];
        if (parent >= 0) tell_parent(static_cast<std::uint32_t>(parent), id, now_ps);
        if (graph_.kind[id] == TASK && groups_.uncount(id, now_ps)) {
            const Group& group = groups_[groups_.of(id)];
            if (group.gathering) ready_.push_back(group.owner);
        }
        for (std::int64_t edge = graph_.successor_ptr[id]; edge < graph_.successor_ptr[std::size_t{id} + 1]; ++edge) {
            const std::uint32_t next = graph_.successor[static_cast<std::size_t>(edge)];
            Task& successor = tasks_[next];
            --successor.unmet;
            successor.now_ps = std::max(successor.now_ps, now_ps);
            if (successor.spawned) make_ready(next, now_ps);
        }
    }

    void tell_parent(std::uint32_t id, std::uint32_t child, std::int64_t now_ps) {
        Task& parent = tasks_[id];
        --parent.pending;
        parent.joined_ps = std::max(parent.joined_ps, now_ps);
        if (parent.callee == child) {
            parent.callee = NOBODY;
            parent.now_ps = now_ps;
            ready_.push_back(id);
        } else if (parent.waits && parent.pending == 0) {
            ready_.push_back(id);
        }
    }

    const Graph& graph_;
    const std::int64_t* const segment_ps_;
    Groups groups_;
    std::vector<Task> tasks_;
    std::vector<std::uint32_t> ready_;
};

// [rows] how long the subtree of each row takes until its last task ends, in a graph without dependences. The time does
// not depend on where the subtree is. The loop goes from the last row to the first: children come first.
inline Times subtree_chains_ps(const Graph& graph, const std::int64_t* segment_ps) {
    const auto rows = static_cast<std::size_t>(graph.rows);
    Times end(rows), last(rows);  // `end`: when the task ends; `last`: when the last task of its subtree ends
    for (std::size_t row = rows; row-- > 0;) {
        std::int64_t now = 0, joined = 0;
        Times groups;  // for each group that has begun and not ended: the latest end of a task of the group so far
        const auto end_of_ops = static_cast<std::size_t>(graph.op_ptr[row + 1]);
        for (auto op = static_cast<std::size_t>(graph.op_ptr[row]); op < end_of_ops; ++op) {
            const std::uint32_t arg = graph.op_arg[op];
            switch (graph.op_code[op]) {
                case RUN: now = ns_sum(now, segment_ps[arg]); break;
                case WAIT: now = std::max(now, joined); break;
                case GROUP: groups.push_back(now); break;
                case END_GROUP:
                    now = std::max(now, groups.back());
                    groups.pop_back();
                    break;
                case SPAWN:
                case CALL:
                    joined = std::max(joined, ns_sum(now, end[arg]));
                    last[row] = std::max(last[row], ns_sum(now, last[arg]));
                    for (std::int64_t& ended : groups) ended = std::max(ended, ns_sum(now, last[arg]));
                    if (graph.op_code[op] == CALL) now = ns_sum(now, end[arg]);
                    break;
                default: break;
            }
        }
        end[row] = now;
        last[row] = std::max(last[row], now);
    }
    return last;
}

// [phases] how long one run of each phase takes with an unlimited number of workers.
inline Times longest_chains_ps(const Plan& plan, const std::int64_t* segment_ps) {
    Times longest;
    if (!plan.graph.successor.empty()) {
        Chains chains(plan, segment_ps);
        for (const Phase& phase : plan.phases) longest.push_back(chains.of(phase));
        return longest;
    }
    const Times chains = subtree_chains_ps(plan.graph, segment_ps);
    for (const Phase& phase : plan.phases) {
        std::int64_t most = 0;
        for (const std::int64_t root : phase.roots) most = std::max(most, chains[static_cast<std::size_t>(root)]);
        longest.push_back(most);
    }
    return longest;
}

}  // namespace numasim
