// The state of a run on which all components work. Only the functions of a member change the member.
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

// Values that are computed once for a plan and used by all runs of the plan.
struct Prepared {
    explicit Prepared(const Plan& given) : plan(given), programs(given), accesses(given) {}

    const Plan& plan;
    const Programs programs;
    const AccessTable accesses;
};

// How many steals were tried and how many succeeded, by node of the thief and node of the queue.
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
          aside(new_aside(plan)),
          frames(plan, prepared.programs),
          controls(plan, frames, ranges, queues),
          steals(plan.nodes) {}
    Run(const Run&) = delete;

    // The slot of a worker, in front of its own queue, or NS_UNKNOWN.
    std::int32_t slot_of(std::uint32_t worker) const { return aside.empty() ? NS_UNKNOWN : aside[worker].slot; }

    // Record what happens now (model 1.3). `step`: of a search, a phase or a wait. `detail`: of a task or a lock.
    void step(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        recorder.step(clock.now_ps(), rank, actor, first, second);
    }
    void detail(Rank rank, std::uint32_t actor, std::int64_t first, std::int64_t second) {
        recorder.detail(clock.now_ps(), rank, actor, first, second);
    }

    // In leapfrogging joins: the worker begins or continues the task in `frame`; below: a task has finished.
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
    // In leapfrogging joins: the worker from which `waiter`, which waits in the task of `frame`, may steal; or
    // NS_UNKNOWN.
    std::int32_t taker(std::uint32_t frame, std::uint32_t waiter) const {
        if (frames.gathers(frame)) return group_takers.of(frames.groups().innermost(frame), waiter);
        return takers.of(frame, waiter);
    }

    const Plan plan;  // a copy: the views of the plan's arrays then lie near the state of the run
    const Prepared& prepared;
    const std::uint64_t seed;           // seed of all random numbers
    const std::function<void()> pause;  // called from time to time; an exception from it ends the run
    Clock clock;
    Recorder recorder;
    const ItemRanges ranges;
    TaskQueues queues;
    Team team;
    std::vector<Aside> aside;  // [workers], or empty
    Frames frames;
    TaskControls controls;
    NestedJoins joins;
    Takers takers, group_takers;  // for leapfrogging joins: by waiting task; by group
    StealCounts steals;
    std::optional<TaskMeasures> measures;  // if a controller asks for them
    std::int64_t profile_ps = 0;           // the overhead of measuring at the end of each task
    Bodies* bodies = nullptr;              // the bodies of the tasks, or nullptr
};

}  // namespace numasim
