// Production in steady state: like items taken and refilled, without a single other event (model 1.8;
// engine/reference/steady.py).
//
// Where the producer catches up before any worker takes again, what happens late does not depend on what happened long
// before: a take that is alone leaves all queues full, and the cursor behind its own. So only the last takes are
// followed, from such a take on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace numasim {

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

}  // namespace numasim
