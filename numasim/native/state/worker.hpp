// The state of one worker, and of a producer beside the workers.
//
// A worker's record lies in one piece for the caches of the machine that simulates; each section of it belongs to one
// component, and only that component's functions change it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "policy/round.h"
#include "state/event_tree.hpp"
#include "state/item_times.hpp"
#include "state/queues.hpp"

namespace numasim {

// What stacks and queues hold: a frame, or the id of an item of a range, which is at least `Graph::tasks`.
using Task = std::int64_t;
constexpr Task PRODUCTION = -1;  // on a worker's stack: it creates the items of an implicit range

// Counters of a worker; times in picoseconds. The names are the columns of the result. Components count through the
// functions below.
struct Counters {
    std::int64_t tasks = 0;
    std::int64_t work_local_ps = 0, inflation_numa_ps = 0, inflation_contention_ps = 0, inflation_smt_ps = 0;
    std::int64_t overhead_ps = 0;
    std::int64_t idle_steal_ps = 0, idle_backoff_ps = 0, idle_barrier_ps = 0, parked_ps = 0;
    std::int64_t steal_attempts = 0, steal_success = 0, steal_attempts_remote = 0, steal_success_remote = 0;
    std::int64_t tasks_stolen = 0, no_victim = 0;

    // The time of the work that it has done.
    std::int64_t busy_ps() const {
        return work_local_ps + inflation_numa_ps + inflation_contention_ps + inflation_smt_ps;
    }

    void add_tasks(std::int64_t count) { tasks += count; }
    void add_work(std::int64_t total_ps, std::int64_t local_ps) {
        work_local_ps += local_ps;
        inflation_numa_ps += total_ps - local_ps;
    }
    void add_contention(std::int64_t ps) { inflation_contention_ps += ps; }
    void add_shared_core(std::int64_t ps) { inflation_smt_ps += ps; }
    void add_overhead(std::int64_t ps) { overhead_ps += ps; }
    void add_probing(std::int64_t ps) { idle_steal_ps += ps; }
    void add_backoff(std::int64_t ps) { idle_backoff_ps += ps; }
    void add_barrier(std::int64_t ps) { idle_barrier_ps += ps; }
    void add_parked(std::int64_t ps) { parked_ps += ps; }

    // Rounds that probed nobody; `attempts` of them count as failed attempts.
    void add_no_victim(std::int64_t rounds, std::int64_t attempts) {
        no_victim += rounds;
        steal_attempts += attempts;
    }

    void add_attempts(std::int64_t attempts, std::int64_t successes, std::int64_t stolen, bool remote) {
        steal_attempts += attempts;
        steal_success += successes;
        steal_attempts_remote += remote ? attempts : 0;
        steal_success_remote += remote ? successes : 0;
        tasks_stolen += stolen;
    }
};

// The pending event of a worker, or the last one; only the clock changes it.
class Step {
public:
    std::int64_t due_ps() const { return due_ps_; }
    Rank rank() const { return rank_; }
    std::int64_t idle_ps() const { return idle_ps_; }  // the part of the step that is no overhead

private:
    friend class Clock;

    std::int64_t due_ps_ = 0, idle_ps_ = 0;
    Rank rank_ = POLL;
};

// The next items of a worker's own range, whose times were computed together.
struct ItemBlock {
    static constexpr std::uint32_t MOST = 16;  // workers stay in the first-level cache
    std::int64_t next = 0, step = 0;           // ids; `next` is that of entry `at`
    std::uint32_t at = 0, count = 0;
    const ItemTimes* times = nullptr;
    std::int64_t base = 0;  // id of the family's first item
    std::int64_t total_ps[MOST], local_ps[MOST];
};

// The rounds of a worker while all queues are empty: one random pick for each of some segments.
struct QuietRound {
    bool known = false;
    std::int32_t probes = -1;  // -1: has to be gone through probe by probe
    std::vector<std::uint32_t> levels, segments;
};

struct alignas(64) Worker {
    // what most events change, side by side
    std::vector<Task> stack;   // the task it executes, on top of tasks that wait in nested joins (Executor, Thief)
    std::int64_t owed_ps = 0;  // overhead to be paid with the next timed step
    Step step;                 // (Clock)
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

    // where it stands in its search (Thief)
    bool idle = false, probed = false, round_goes_on = false, probes_nobody = false, thresholds_known = false;
    std::uint32_t level = 0, target = 0;
    std::int64_t fails = 0;     // fruitless rounds (or probes) in a row
    std::int64_t began_ps = 0;  // when it began to execute, to be idle or to sleep, what it owed before that paid
    Counters counters;
    const std::int64_t* total_ps = nullptr;  // [segments] on its node
    const std::int64_t* local_ps = nullptr;
    Ring<Task> agenda;  // implicit bodies that it was given (WorkSource)
    Ring<Task> outbox;  // ready tasks that it has yet to put into queues (Executor)
    ItemBlock items;    // (Executor)
    ns_round round{};
    std::int64_t failed = 0, failed_remote = 0;  // failed attempts of the open idle episode
    std::vector<std::uint32_t> held;             // the locks that its search holds
    QuietRound quiet;                            // (Polling)

    // what a watch asks for (Recorder)
    std::int64_t reported_until_ps = 0;
    std::int64_t probing_before_ps = 0;  // `idle_steal_ps` when it became idle

    // Let it pay what it owes; the time that this takes.
    std::int64_t pay_owed() {
        const std::int64_t owed = owed_ps;
        if (owed == 0) return 0;
        owed_ps = 0;
        counters.add_overhead(owed);
        return owed;
    }
};

using Team = std::vector<Worker>;

// A pseudo-worker that makes the items of an implicit range (model 3.5).
struct Producer {
    std::int32_t node = 0;
    std::uint64_t next = 0;  // the item to be made next
    std::uint64_t left = 0;  // items still to be made
    std::int64_t due_ps = 0;
    std::int32_t target = 0;  // the queue whose lock it waits for
    bool waiting = false;
    bool looked = false;  // it asked where the data of the last item is, which it has still to pay for
    std::int64_t waiting_since = 0, overhead_ps = 0, parked_ps = 0;
};

}  // namespace numasim
