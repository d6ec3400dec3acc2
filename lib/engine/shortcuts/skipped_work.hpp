// Skipping ahead (model 1.7): where nothing couples running workers, only steals and the ends of serial runs are
// events.
//
// A run is what a worker does between two looks for work: a root, the items it was dealt, or what it stole. Its
// course is known without events: the engine asks whether a victim still holds a task that it has not started, has the
// task at the far end moved to a thief, and tells when serial runs end. At equal times all ends come first, in worker
// order, then the looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "state/worker.hpp"

namespace numasim {

constexpr std::uint32_t NOBODY = std::numeric_limits<std::uint32_t>::max();

// What comes of the end of a run.
struct RunEnd {
    bool goes_on = false;             // the worker has a run again; its end is at `SkippedWork::end_ps`
    std::uint32_t extended = NOBODY;  // another worker, whose end has moved
};

// The serial runs of all workers. Counters and owed overhead are those of the Worker objects handed in; an owed
// overhead is paid in front of the first work of a run, and stays with the worker where there is none.
class SkippedWork {
public:
    explicit SkippedWork(std::size_t workers) : end_ps_(workers) {}
    virtual ~SkippedWork() = default;

    // Whether the queue of `victim` holds a task at `now_ps`, when all that ends by then has ended.
    virtual bool holds_task(Worker& victim, std::int64_t now_ps) = 0;

    // Give `thief`, which has no run, the task at the far end of the queue of `victim`, which holds one. The thief
    // then has a run, and the end of the victim's has moved.
    virtual void steal(Worker& thief, Worker& victim, std::int64_t now_ps) = 0;

    // The end of the worker's run has come. The last child of a join goes on with its parent, which may in turn end
    // at once.
    virtual RunEnd ended(Worker& w, std::int64_t now_ps) = 0;

    // The worker's speed has changed; true: the end of its run has moved. Speeds change at the end of an instant, when
    // all that ends by then has ended.
    virtual bool change_speed(Worker& w, std::int64_t now_ps) = 0;

    // When the run of a worker ends, as far as is known: of one that has a run.
    std::int64_t end_ps(std::uint32_t worker) const { return end_ps_[worker]; }

    // The time before which no queue will hold a task and the phase will not end; `now_ps` where a queue holds one.
    // Only once all serial runs of a phase have started.
    std::int64_t no_task_before_ps(std::span<Worker> workers, std::int64_t now_ps);

    // Whether all serial runs have come to their end.
    bool finished() const { return unfinished_ == 0; }

    // The longest chain of work, as if all bytes were local, of what was started since the last call.
    std::int64_t take_span_ps() {
        const std::int64_t span = span_ps_;
        span_ps_ = 0;
        return span;
    }

protected:
    // `no_task_before_ps` at a time when no queue holds a task: no worker's speed changes before then either.
    virtual std::int64_t next_change_ps() const = 0;

    // A run goes on otherwise than was known, for better or worse.
    void move_end(std::uint32_t worker, std::int64_t end_ps) {
        end_ps_[worker] = end_ps;
        no_task_before_ps_ = 0;
    }

    std::vector<std::int64_t> end_ps_;  // [workers]
    std::int64_t unfinished_ = 0;
    std::int64_t span_ps_ = 0;

private:
    std::int64_t no_task_before_ps_ = 0;  // the last that was found; never behind the end of its phase
    std::uint32_t holder_ = 0;            // the worker whose queue was the last known to hold a task
};

}  // namespace numasim
