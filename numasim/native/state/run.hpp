// What every component of a run works on, each part of it through the functions of that part alone.
#pragma once

#include <functional>
#include <utility>

#include "plan.hpp"
#include "record/recorder.hpp"
#include "state/clock.hpp"
#include "state/frames.hpp"
#include "state/item_ranges.hpp"
#include "state/steal_counts.hpp"
#include "state/task_queues.hpp"
#include "state/worker.hpp"

namespace numasim {

struct Run {
    Run(const Plan& given, const Listener* listener, Watch* watch, std::function<void()> when_pausing, bool keep_log)
        : plan(given),
          pause(std::move(when_pausing)),
          clock(given),
          recorder(clock, listener, watch, keep_log),
          ranges(given),
          queues(given, recorder),
          team(new_team(given, queues)),
          frames(given),
          steals(given.nodes) {}
    Run(const Run&) = delete;

    const Plan& plan;
    const std::function<void()> pause;  // called now and then; what it throws ends the run
    Clock clock;
    Recorder recorder;
    const ItemRanges ranges;
    TaskQueues queues;
    Team team;
    Frames frames;
    StealCounts steals;
};

}  // namespace numasim
