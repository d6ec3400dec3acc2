#include "longest_chains.hpp"

#include <algorithm>

namespace numasim {

namespace {

using Times = std::vector<std::int64_t>;

constexpr std::uint32_t NOBODY = UINT32_MAX;

// A sum that stays at the largest number where it would pass it.
std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// Where no task depends on another, a subtree takes the same time wherever it is: rows are gone through from the last
// one up, children before their parents.
Times chains_of_trees(const Plan& plan, const std::int64_t* segment_ps) {
    const Graph& graph = plan.graph;
    const auto rows = static_cast<std::size_t>(graph.rows);
    Times end(rows), last(rows);  // of a task, and of the last task of its subtree
    for (std::size_t row = rows; row-- > 0;) {
        std::int64_t now = 0, joined = 0;
        Times groups;  // that the row is in: when the last task of each so far has ended
        const auto end_of_ops = static_cast<std::size_t>(graph.op_ptr[row + 1]);
        for (auto op = static_cast<std::size_t>(graph.op_ptr[row]); op < end_of_ops; ++op) {
            const std::uint32_t arg = graph.op_arg[op];
            switch (graph.op_code[op]) {
                case RUN: now = plus(now, segment_ps[arg]); break;
                case WAIT: now = std::max(now, joined); break;
                case GROUP: groups.push_back(now); break;
                case END_GROUP:
                    now = std::max(now, groups.back());
                    groups.pop_back();
                    break;
                case SPAWN:
                case CALL:
                    joined = std::max(joined, plus(now, end[arg]));
                    last[row] = std::max(last[row], plus(now, last[arg]));
                    for (std::int64_t& ended : groups) ended = std::max(ended, plus(now, last[arg]));
                    if (graph.op_code[op] == CALL) now = plus(now, end[arg]);
                    break;
                default: break;
            }
        }
        end[row] = now;
        last[row] = std::max(last[row], now);
    }
    Times chains;
    for (const Phase& phase : plan.phases) {
        std::int64_t longest = 0;
        for (const std::int64_t root : phase.roots) longest = std::max(longest, last[static_cast<std::size_t>(root)]);
        chains.push_back(longest);
    }
    return chains;
}

// With dependences every task is followed through its program, as soon as what it waits for has a time.
class Chains {
public:
    Chains(const Plan& plan, const std::int64_t* segment_ps)
        : graph_(plan.graph), segment_ps_(segment_ps), tasks_(static_cast<std::size_t>(graph_.rows)) {
        for (std::size_t row = 0; row < tasks_.size(); ++row) {
            tasks_[row].op = static_cast<std::size_t>(graph_.op_ptr[row]);
        }
        for (const std::uint32_t successor : graph_.successor) ++tasks_[successor].unmet;
    }

    // A root that an earlier phase has too ends then as it did there: all whom it may wait for are roots of both.
    std::int64_t of(const Phase& phase) {
        for (const std::int64_t root : phase.roots) {
            if (!tasks_[static_cast<std::size_t>(root)].spawned) make_ready(static_cast<std::uint32_t>(root), 0);
        }
        while (!ready_.empty()) {
            const std::uint32_t task = ready_.back();
            ready_.pop_back();
            advance(task);
        }
        std::int64_t longest = 0;
        for (const std::int64_t root : phase.roots) longest = std::max(longest, last_end_ps(root));
        return longest;
    }

private:
    struct Task {
        std::size_t op = 0;                      // that comes next
        std::int64_t now_ps = 0, joined_ps = 0;  // joined: the end of its last child that has ended
        std::uint32_t unmet = 0, pending = 0;    // predecessors and children without an end
        std::uint32_t callee = NOBODY;           // whose end it waits for
        std::uint32_t group = NOBODY;            // that counts it, or those that it spawns where it is a call;
        std::uint32_t innermost = NOBODY;        // that it has begun last and not ended
        bool spawned = false, waits = false, gathers = false;
    };
    struct Group {
        std::uint32_t owner, around, members = 0;  // members: tasks without an end
        std::int64_t gathered_ps = 0;
    };

    // Of the tasks of a tree.
    std::int64_t last_end_ps(std::int64_t root) const {
        std::int64_t last = 0;
        for (std::int64_t task = root; task < root + graph_.size[static_cast<std::size_t>(root)]; ++task) {
            last = std::max(last, tasks_[static_cast<std::size_t>(task)].now_ps);
        }
        return last;
    }

    // A task has been spawned, or the last of its predecessors has an end.
    void make_ready(std::uint32_t id, std::int64_t now_ps) {
        Task& task = tasks_[id];
        task.spawned = true;
        task.now_ps = std::max(task.now_ps, now_ps);
        if (task.unmet == 0) ready_.push_back(id);
    }

    // Go through a task's ops until it waits or ends.
    void advance(std::uint32_t id) {
        Task& task = tasks_[id];
        const auto end_of_ops = static_cast<std::size_t>(graph_.op_ptr[std::size_t{id} + 1]);
        while (task.op < end_of_ops) {
            const std::uint8_t code = graph_.op_code[task.op];
            const std::uint32_t arg = graph_.op_arg[task.op];
            task.waits = code == WAIT && task.pending != 0;
            task.gathers = code == END_GROUP && groups_[task.innermost].members != 0;
            if (task.waits || task.gathers) return;
            ++task.op;
            if (code == GROUP) begin_group(id);
            if (code == END_GROUP) end_group(task);
            if (code == RUN) task.now_ps = plus(task.now_ps, segment_ps_[arg]);
            if (code == WAIT) task.now_ps = std::max(task.now_ps, task.joined_ps);
            if (code != SPAWN && code != CALL) continue;
            ++task.pending;
            Task& child = tasks_[arg];
            child.group = task.innermost != NOBODY ? task.innermost : task.group;
            if (code == SPAWN && child.group != NOBODY) ++groups_[child.group].members;
            make_ready(arg, task.now_ps);
            if (code == CALL) {
                task.callee = arg;
                return;
            }
        }
        finish(id);
    }

    void begin_group(std::uint32_t id) {
        groups_.push_back({.owner = id, .around = tasks_[id].innermost});
        tasks_[id].innermost = static_cast<std::uint32_t>(groups_.size()) - 1;
    }

    void end_group(Task& task) {
        const Group& group = groups_[task.innermost];
        task.now_ps = std::max(task.now_ps, group.gathered_ps);
        task.innermost = group.around;
    }

    void finish(std::uint32_t id) {
        const std::int64_t now_ps = tasks_[id].now_ps;
        const std::int64_t parent = graph_.parent[id];
        if (parent >= 0) tell_parent(static_cast<std::uint32_t>(parent), id, now_ps);
        if (graph_.kind[id] == TASK && tasks_[id].group != NOBODY) tell_group(tasks_[id].group, now_ps);
        const auto end_of_edges = static_cast<std::size_t>(graph_.successor_ptr[std::size_t{id} + 1]);
        for (auto edge = static_cast<std::size_t>(graph_.successor_ptr[id]); edge < end_of_edges; ++edge) {
            const std::uint32_t next = graph_.successor[edge];
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

    void tell_group(std::uint32_t at, std::int64_t now_ps) {
        Group& group = groups_[at];
        --group.members;
        group.gathered_ps = std::max(group.gathered_ps, now_ps);
        Task& owner = tasks_[group.owner];
        if (owner.gathers && owner.innermost == at && group.members == 0) ready_.push_back(group.owner);
    }

    const Graph& graph_;
    const std::int64_t* const segment_ps_;
    std::vector<Task> tasks_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> ready_;
};

}  // namespace

std::vector<std::int64_t> longest_chains_ps(const Plan& plan, const std::int64_t* segment_ps) {
    if (plan.graph.successor.empty()) return chains_of_trees(plan, segment_ps);
    Chains chains(plan, segment_ps);
    Times found;
    for (const Phase& phase : plan.phases) found.push_back(chains.of(phase));
    return found;
}

}  // namespace numasim
