// Production of like items in steady state: items are taken and refilled without any other event, and whole stretches
// of such time are passed over (model 1.8; engine/reference/steady.py).
//
// If the producer catches up before any worker takes again, late events do not depend on early ones: after a take that
// is alone, all queues are full and the cursor is behind the queue of that take. Only the last takes are then followed,
// from such a take on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory_system.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

// A state in which every queue is full and the producer waits. Times are in picoseconds. Worker w takes its next item
// at `end_ps[w]`, and each item takes `period_ps[w]`. Queue w feeds worker w. While queue w
// lacks at most `spare[w]` tasks, nothing but refills by the producer follows. A worker that takes an item while its
// queue has room for `announces[w]` tasks announces the queue as a victim (A-42; negative: the worker never does).
struct Steady {
    std::int64_t waiting_since_ps;
    std::uint64_t cursor;
    std::vector<std::int64_t> end_ps{}, period_ps{}, spare{}, announces{};
    std::int64_t push_ps;
    std::uint64_t left;  // items that the producer still has to make
};

// A moment at which all takes before `time_ps` are refilled, and the producer has waited since `waiting_since_ps`.
// Worker w has announced its queue by then if `announced[w]`.
struct Moment {
    std::int64_t time_ps, waiting_since_ps;
    std::uint64_t cursor;
    std::vector<bool> announced{};
};

// Return the last moment that can be reached in steady state, if it is worth passing over.
std::optional<Moment> follow(const Steady& steady);

// [workers] items that each worker has taken before `time_ps`.
std::vector<std::int64_t> taken_before(const Steady& steady, std::int64_t time_ps);

class SteadyProduction {
public:
    SteadyProduction(Run& run, MemorySystem& memory, WorkSource& source)
        : run_(run), memory_(memory), source_(source) {}

    // The producer has begun to wait for room. If the run only takes and makes like items now, pass over that.
    void producer_waits();

    std::int64_t passed_items() const { return passed_items_; }

private:
    bool is_steady() const;
    void move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken);

    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::size_t tried_for_ = 0;    // number of producers at the last try
    std::uint64_t try_below_ = 0;  // the present producer is tried again with fewer items left than this
    std::int64_t passed_items_ = 0;
};

}  // namespace numasim
