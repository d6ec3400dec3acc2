// The state of one worker, and of a producer beside the workers.
#pragma once

#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "item_times.hpp"
#include "plan.hpp"
#include "policy/round.h"
#include "queues.hpp"

namespace numasim {

// Counters of a worker; times in picoseconds. The names are the columns of the result.
struct Counters {
    std::int64_t tasks = 0, steal_attempts = 0, steal_success = 0, steal_attempts_remote = 0, steal_success_remote = 0;
    std::int64_t tasks_stolen = 0, no_victim = 0;
    std::int64_t work_local_ps = 0, inflation_numa_ps = 0, inflation_contention_ps = 0, inflation_smt_ps = 0;
    std::int64_t overhead_ps = 0;
    std::int64_t idle_steal_ps = 0, idle_backoff_ps = 0, idle_barrier_ps = 0, parked_ps = 0;

    // The time of the work that it has done.
    std::int64_t busy_ps() const {
        return work_local_ps + inflation_numa_ps + inflation_contention_ps + inflation_smt_ps;
    }
};

// The next items of a worker's own range, whose times were computed together.
struct ItemsAhead {
    static constexpr std::uint32_t MOST = 16;  // workers stay in the first-level cache
    std::int64_t total_ps[MOST], local_ps[MOST];
    std::int64_t next = 0, step = 0;  // ids; `next` is that of entry `at`
    std::uint32_t at = 0, count = 0;
    const ItemTimes* times = nullptr;
    std::int64_t base = 0;  // id of the family's first item
};

// The rounds of a worker while all queues are empty: one random pick for each of some segments.
struct QuietRound {
    bool known = false;
    std::int32_t probes = -1;  // -1: has to be gone through probe by probe
    std::vector<std::uint32_t> levels, segments;
};

struct Worker {
    // what it has in hand
    std::vector<std::int64_t> stack;  // the task it executes, on top of tasks that wait in nested joins
    Ring<std::int64_t> outbox;        // ready tasks that it has yet to put into queues
    Ring<std::int64_t> agenda;        // implicit bodies that it was given
    std::int64_t owed_ps = 0;         // overhead to be paid with the next timed step
    std::int64_t due_ps = 0;          // time of the pending event
    Rank rank = POLL;                 // its kind
    std::uint32_t id = 0;
    std::int32_t node = 0;
    std::int32_t own = NS_UNKNOWN;            // its own queue
    std::int32_t boundless_own = NS_UNKNOWN;  // the same where every new task goes there and it is never full
    std::uint32_t segment = 0;
    bool own_back = true;  // which end of its own queue it takes from
    bool rests = false;    // asleep in a join or for a condition, or without a part in the phase
    bool spins = false;    // waits for a lock, an atomic word or at a barrier
    bool meets = false;    // waits at a barrier, or is about to leave it
    bool blocked = false;  // waits for a child, a lock, a barrier or a condition, and has no event

    // where it stands in its search
    bool idle = false, probed = false, round_goes_on = false, probes_nobody = false, thresholds_known = false;
    std::uint32_t level = 0, target = 0;
    std::vector<std::uint32_t> held;  // the locks that its search holds
    ns_round round{};
    std::int64_t step_ps = 0;                    // the idle part of the pending step
    std::int64_t fails = 0;                      // fruitless rounds (or probes) in a row
    std::int64_t failed = 0, failed_remote = 0;  // failed attempts of the open idle episode

    // what a watch asks for
    std::int64_t began_ps = 0;  // when it began to execute, to be idle or to sleep, what it owed before that paid
    std::int64_t told_ps = 0;   // up to when the watch has heard of it
    std::int64_t probing_before_ps = 0;  // `idle_steal_ps` when it became idle

    Counters counters;
    const std::int64_t* total_ps = nullptr;  // [segments] on its node
    const std::int64_t* local_ps = nullptr;
    ItemsAhead ahead;
    QuietRound quiet;
};

// A pseudo-worker that makes the items of an implicit range (model 3.5).
struct Producer {
    std::int32_t node = 0;
    std::uint64_t next = 0;  // the item to be made next
    std::uint64_t left = 0;  // items still to be made
    std::int64_t due_ps = 0;
    std::int32_t target = 0;  // the queue whose lock it waits for
    bool waiting = false;
    bool looked = false;  // it asked where the data of the last item is, which it has still to pay for
    std::uint64_t try_below = ~std::uint64_t{0};  // items left below which passing over the steady state is tried
    std::int64_t waiting_since = 0, overhead_ps = 0, parked_ps = 0;
};

}  // namespace numasim
