// Serial runs of workers, for skipping ahead (model 1.7). If busy workers do not influence each other, only steals and
// the ends of serial runs are events.
//
// A run is the work of a worker between two searches for work: a root, the items that the worker was dealt, or stolen
// work. What happens when in a run is known without events. The engine asks whether a victim still holds a task that
// has not started, gives a thief the task at the far end, and learns when runs end. Of events at the same time, ends of
// runs come first, in the order of workers, and probes and polls come last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "state/worker.hpp"

namespace numasim {

constexpr std::uint32_t NOBODY = std::numeric_limits<std::uint32_t>::max();

// What follows from the end of a run.
struct RunEnd {
    bool goes_on = false;             // the worker has another run, which ends at `SkippedWork::end_ps`
    std::uint32_t extended = NOBODY;  // another worker whose run now ends at another time
};

// The serial runs of all workers. A worker pays the overhead that it owes before the first segment or item of a run.
// After a run without segments and items, the worker still owes the overhead.
class SkippedWork {
public:
    explicit SkippedWork(std::size_t workers) : end_ps_(workers) {}
    virtual ~SkippedWork() = default;

    // Whether the queue of `victim` holds a task after everything that ends at `now_ps` or earlier.
    virtual bool holds_task(Worker& victim, std::int64_t now_ps) = 0;

    // Give `thief`, which has no run, the task at the far end of the queue of `victim`. The task becomes the thief's
    // run, and the victim's run ends earlier.
    virtual void steal(Worker& thief, Worker& victim, std::int64_t now_ps) = 0;

    // The worker's run has ended. If this completes a join, the worker goes on with the parent.
    virtual RunEnd ended(Worker& w, std::int64_t now_ps) = 0;

    // The worker's speed has changed. Returns whether its run now ends at another time.
    virtual bool change_speed(Worker& w, std::int64_t now_ps) = 0;

    // When the worker's run ends if nothing changes. The worker has a run.
    std::int64_t end_ps(std::uint32_t worker) const { return end_ps_[worker]; }

    // A time before which no queue will hold a task and the phase will not end; `now_ps` if a queue holds a task. All
    // runs of the phase have started.
    [[gnu::noinline]] std::int64_t no_task_before_ps(std::span<Worker> workers, std::int64_t now_ps) {
        if (finished()) return now_ps;
        if (now_ps < no_task_before_ps_) return no_task_before_ps_;
        if (holds_task(workers[holder_], now_ps)) return now_ps;
        const auto holder = std::ranges::find_if(workers, [&](Worker& w) { return holds_task(w, now_ps); });
        if (holder != workers.end()) {
            holder_ = holder->id;
            return now_ps;
        }
        no_task_before_ps_ = next_change_ps();
        return std::max(no_task_before_ps_, now_ps);
    }

    // Whether all runs have ended.
    bool finished() const { return unfinished_ == 0; }

    // The time of the longest chain of work that has started since the last call, as if all bytes were local.
    std::int64_t take_span_ps() { return std::exchange(span_ps_, 0); }

protected:
    // Return the result of `no_task_before_ps` if no queue holds a task now, and if speeds stay as they are until then.
    virtual std::int64_t next_change_ps() const = 0;

    // The end of the worker's run has become earlier or later.
    void move_end(std::uint32_t worker, std::int64_t end_ps) {
        end_ps_[worker] = end_ps;
        no_task_before_ps_ = 0;
    }

    std::vector<std::int64_t> end_ps_;  // [workers]
    std::int64_t unfinished_ = 0;
    std::int64_t span_ps_ = 0;

private:
    std::int64_t no_task_before_ps_ = 0;  // the last result of the function; at most the end of the phase
    std::uint32_t holder_ = 0;            // the worker whose queue was last seen to hold a task
};

}  // namespace numasim
