// What every component of a run works on, each part of it through the functions of that part alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "bodies.hpp"
#include "memory/access_table.hpp"
#include "plan.hpp"
#include "record/measures.hpp"
#include "record/recorder.hpp"
#include "state/clock.hpp"
#include "state/frames.hpp"
#include "state/items.hpp"
#include "state/joins.hpp"
#include "state/task_controls.hpp"
#include "state/task_queues.hpp"
#include "state/worker.hpp"

namespace numasim {

// What depends on a plan alone: computed once for all its runs.
struct Prepared {
    explicit Prepared(const Plan& given) : plan(given), programs(given), accesses(given) {}

    const Plan& plan;
    const Programs programs;
    const AccessTable accesses;
};

// How often steals were tried and succeeded, by pair of nodes.
struct StealCounts : ns_steal_counts {
    explicit StealCounts(std::size_t nodes) : ns_steal_counts{}, counts(2 * nodes * nodes, 0) {
        attempts = counts.data();
        successes = attempts + nodes * nodes;
    }

    std::vector<std::int64_t> counts;
};

struct Run {
    Run(const Prepared& given, std::uint64_t drawn_with, const Listener* listener, const Watcher* watcher,
        std::function<void()> when_pausing, bool keep_log)
        : plan(given.plan),
          prepared(given),
          seed(drawn_with),
          pause(std::move(when_pausing)),
          clock(plan),
          recorder(clock, listener, watcher, keep_log),
          ranges(plan, seed),
          queues(plan, seed, recorder),
          team(new_team(plan)),
          frames(plan, prepared.programs),
          controls(plan, frames, ranges, queues),
          steals(plan.nodes) {}
    Run(const Run&) = delete;

    // Records of what happens now (model 1.3): a step of the search, of a phase or a wait; a detail of a task or a
    // lock.
    void step(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        recorder.step(clock.now_ps(), rank, actor, first, second);
    }
    void detail(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        recorder.detail(clock.now_ps(), rank, actor, first, second);
    }

    // In leapfrogging joins: the worker has begun a task, or goes on with it; a task has finished.
    void note_taker(std::uint32_t frame, std::uint32_t worker) {
        const std::uint32_t parent = frames[frame].parent, group = frames.groups().of(frame);
        if (parent != NO_FRAME) takers.begun(parent, frame, worker);
        if (group != NO_GROUP) group_takers.begun(group, frame, worker);
    }
    void forget_taker(std::uint32_t frame) {
        const std::uint32_t parent = frames[frame].parent, group = frames.groups().of(frame);
        if (parent != NO_FRAME) takers.finished(parent, frame);
        if (group != NO_GROUP) group_takers.finished(group, frame);
    }
    // The worker from which one steals that waits in the task of a frame, or NS_UNKNOWN.
    std::int32_t taker(std::uint32_t frame, std::uint32_t waiter) const {
        if (frames.gathers(frame)) return group_takers.of(frames.groups().innermost(frame), waiter);
        return takers.of(frame, waiter);
    }

    const Plan plan;  // views of arrays: a copy beside the state costs one step less at every look at it
    const Prepared& prepared;
    const std::uint64_t seed;           // of all draws
    const std::function<void()> pause;  // called now and then; what it throws ends the run
    Clock clock;
    Recorder recorder;
    const ItemRanges ranges;
    TaskQueues queues;
    Team team;
    Frames frames;
    TaskControls controls;
    NestedJoins joins;
    Takers takers, group_takers;  // in leapfrogging joins: of children, by frames; of tasks of groups
    StealCounts steals;
    std::optional<TaskMeasures> measures;  // where a controller asks for them
    std::int64_t profile_ps = 0;           // what measuring costs at the end of each task
    Bodies* bodies = nullptr;              // of the tasks, where the engine has them
};

}  // namespace numasim
