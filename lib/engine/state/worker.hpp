// The state of one worker, and the state of the producer, which makes items and is no worker.
//
// A worker's record is one piece of memory, for good use of the caches of the simulating machine. Each part of the
// record belongs to one component, named in brackets. Only the functions of this component change the part.
#pragma once

#include <cstdint>
#include <vector>

#include "plan.hpp"
#include "state/containers.hpp"
#include "state/event_tree.hpp"
#include "state/items.hpp"

namespace numasim {

constexpr Task NOTHING_RESERVED = -1;
constexpr Task PRODUCTION = -1;  // on a worker's stack: the worker creates the items of an implicit range

// The pending or last event of a worker. Only the clock changes it.
class Step {
public:
    std::int64_t due_ps() const { return due_ps_; }
    Rank rank() const { return rank_; }
    std::int64_t idle_ps() const { return idle_ps_; }  // the part that is a probe or a wait, not overhead

private:
    friend class Clock;

    std::int64_t due_ps_ = 0, idle_ps_ = 0;
    Rank rank_ = POLL;
};

// Items of a worker's own queue whose times have been computed together, in advance.
struct ItemBlock {
    static constexpr std::uint32_t MOST = 16;  // so that workers stay in the first-level cache
    std::int64_t next = 0, step = 0;           // ids of items: that of entry `at`; from entry to entry
    std::uint32_t at = 0, count = 0;
    const ItemTimes* times = nullptr;
    std::int64_t base = 0;  // id of the first item of the range
    std::int64_t total_ps[MOST], local_ps[MOST];
};

// The rounds of a worker while all queues are empty and the steal levels of the set `open` are open, if they consist of
// random picks: probe i picks a queue of segment `segments[i]` for level `levels[i]`.
struct QuietRound {
    bool known = false;
    bool reaches_all = false;  // all queues are in reach at all times (Dozing)
    std::uint64_t open = 0;
    std::int32_t probes = -1;  // -1: rounds have other picks
    std::vector<std::uint32_t> levels, segments;
    std::int64_t longest_ps = 0,
                 choices = 0;  // longest time of all probes of a round; number of queues that they may pick
};

// Tasks in the order in which a worker begins them. Consecutive ids are stored as one run.
class Agenda {
public:
    bool empty() const { return runs_.empty(); }
    void push_back(Task task) { push_items(task, 1); }
    void push_items(Task first, std::uint64_t count) {
        if (count != 0) runs_.push_back({first, count});
    }
    Task take() {
        Items& run = runs_.front();
        const Task task = run.first++;
        if (--run.left == 0) runs_.pop_front();
        return task;
    }

private:
    struct Items {
        Task first;
        std::uint64_t left;
    };
    Ring<Items> runs_;
};

// The state of a worker on its way to sleep and back. ANNOUNCED: it has announced its sleep and looks for tasks once
// more. CALLED: called back meanwhile by another worker, it will not sleep. WAKING: woken, but not running yet.
enum class Sleep : std::uint8_t { AWAKE, ANNOUNCED, CALLED, ASLEEP, WAKING };

struct alignas(64) Worker : ns_worker_state {
    Worker() : ns_worker_state{} {}

    // fields that most kinds of events change
    Stack<Task> stack;  // the present task, above tasks that wait in nested joins (Executor, Thief)
    Step step;          // (Clock)
    std::int32_t boundless_own = NS_UNKNOWN;  // its own queue if it gets every new task and is unbounded
    std::uint32_t segment = 0;
    Task reserved = NOTHING_RESERVED;        // the task that it begins next: its helper prefetches (Thief)
    bool rests = false;                      // sleeps, or has no part in the phase
    Sleep sleep = Sleep::AWAKE;              // (Resting)
    bool naps = false;                       // its pending wait is a nap (Resting)
    bool woken = false;                      // it was woken, and has not found a task since (Resting)
    bool wrote = false;                      // its probe has written the line of its queue (QueueLines)
    bool spins = false;                      // waits for a lock, an atomic word or at a barrier
    bool meets = false;                      // waits at a barrier, or is leaving it
    bool blocked = false;                    // waits for an actor or an object without an event
    std::int64_t began_ps = 0;               // when its work, idle time or sleep began, after overhead
    const std::int64_t* total_ps = nullptr;  // [segments] times on its node
    const std::int64_t* local_ps = nullptr;
    Agenda agenda;      // tasks that the worker begins before it looks into its queue
    Ring<Task> outbox;  // ready tasks that the worker still has to put into queues (Executor)
    // (height, ready task): the task goes to a queue when the stack is lower than `height`; last entry first (Executor)
    std::vector<std::pair<std::size_t, Task>> backlog;
    ItemBlock items;   // (Executor)
    QuietRound quiet;  // (Polling)

    // for rows of a watcher (Recorder)
    std::int64_t reported_until_ps = 0;
    std::int64_t probing_before_ps = 0;  // `idle_steal_ps` when the worker became idle
};

// The part of a worker's state that only plans use in which tasks leave full queues, or workers poll or yield between
// tasks.
struct Aside {
    std::int32_t slot = NS_UNKNOWN;         // its slot, in front of its own queue
    std::uint32_t first_rule = 0;           // the first dispatch rule for the next task of its outbox
    std::uint32_t slot_run = 0;             // tasks in a row that it has taken from its slot
    bool slot_is_open = true;               // new tasks may enter its slot
    bool polling = false;                   // it polls levels
    std::int32_t spills_from = NS_UNKNOWN;  // while it waits for a lock to put tasks: the full queue that they leave
    std::int64_t polled = 0;                // its `tasks` at the last poll
    std::int64_t looked = 0;                // its `tasks` when it last looked for a task or passed a wait
};

// With an even number of cache lines per record, one field of all workers would map to few sets of a cache.
static_assert(sizeof(Worker) / 64 % 2 == 1);

using Team = std::vector<Worker>;

// The producer: an actor without tasks that makes the items of an implicit range (model 3.5).
struct Producer {
    std::int32_t node = 0;
    std::uint64_t next = 0;  // the next item
    std::uint64_t left = 0;  // items that are still to be made
    std::int64_t due_ps = 0;
    std::int64_t owed_ps = 0;    // for waking sleepers and waiting for cache lines
    std::int64_t making_ps = 0;  // the time to make the present item
    std::int32_t target = 0;     // the queue whose lock the producer waits for
    bool waiting = false;
    bool looked = false;  // has asked where the last item's data is; pays with the next item
    std::int64_t waiting_since = 0, overhead_ps = 0, parked_ps = 0;
};

}  // namespace numasim
