#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory_system.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

// Production in steady state: like items taken and refilled, without a single other event (model 1.8;
// engine/reference/shortcuts/steady.py).
//
// Where the producer catches up before any worker takes again, what happens late does not depend on what happened long
// before: a take that is alone leaves all queues full, and the cursor behind its own. So only the last takes are
// followed, from such a take on.

// The state in which every queue is full and the producer waits; times in picoseconds. `end_ps[w]` is when worker w
// takes its next item, `period_ps[w]` how long each takes; queue w feeds worker w and may fall by `spare[w]` tasks
// before anything but the producer cares. A worker that takes an item while its queue has room for `announces[w]` tasks
// announces it as a victim (A-42; negative: it never does).
struct Steady {
    std::int64_t waiting_since_ps;
    std::uint64_t cursor;
    std::vector<std::int64_t> end_ps{}, period_ps{}, spare{}, announces{};
    std::int64_t push_ps;
    std::uint64_t left;  // items that the producer has still to make
};

// All takes before `time_ps` are refilled: the producer waits since `waiting_since_ps`. Worker w has announced its
// queue by then if `announced[w]`, and perhaps before.
struct Moment {
    std::int64_t time_ps, waiting_since_ps;
    std::uint64_t cursor;
    std::vector<bool> announced{};
};

// The last moment that can be reached in steady state, if there is one worth reaching.
std::optional<Moment> follow(const Steady& steady);

// [workers] items taken at times below `time_ps`.
std::vector<std::int64_t> taken_before(const Steady& steady, std::int64_t time_ps);

// Passing over the production of like items in steady state (model 1.8; engine/reference/shortcuts/steady.py).

class SteadyProduction {
public:
    SteadyProduction(Run& run, MemorySystem& memory, WorkSource& source)
        : run_(run), memory_(memory), source_(source) {}

    // The producer has begun to wait for room: where nothing but the taking and the making of like items goes on,
    // follow that.
    void producer_waits();

    std::int64_t passed_items() const { return passed_items_; }

private:
    bool is_steady() const;
    void move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken);

    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::size_t tried_for_ = 0;    // producers at the last try
    std::uint64_t try_below_ = 0;  // items left below which the present one is tried again
    std::int64_t passed_items_ = 0;
};

}  // namespace numasim
