// Production of items with equal times in steady state: workers take items, the producer refills the queues, and
// nothing else happens. Such time is passed over without events (model 1.8; engine/reference/steady.py).
//
// A take of an item is alone if the producer refills the queue before any worker takes the next item. Then all queues
// are full again, and the producer's round-robin cursor is behind the queue of the take: later events do not depend on
// earlier takes. If the producer is fast enough, only the last takes are followed, from one that is alone on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory_system.hpp"
#include "plan.hpp"
#include "state/event_tree.hpp"
#include "state/run.hpp"
#include "work_source.hpp"

namespace numasim {

// A state in which every queue is full and the producer waits. Times are in picoseconds. Worker w takes its next item
// at `end_ps[w]`, and each item takes `period_ps[w]`. Queue w feeds worker w. While queue w has room for at most
// `spare[w]` tasks, a take causes nothing but refills by the producer. A worker that takes an item while its queue has
// room for `announces[w]` tasks sets the watch bit that makes the queue a victim. A negative number: never.
struct Steady {
    std::int64_t waiting_since_ps;
    std::uint64_t cursor;
    std::vector<std::int64_t> end_ps{}, period_ps{}, spare{}, announces{};
    std::int64_t push_ps;
    std::uint64_t left;  // items that the producer still has to make
};

// The state at a time at which every queue is full again: all takes before `time_ps` are refilled, and the producer has
// waited since `waiting_since_ps`. `announced[w]`: worker w has announced its queue before `time_ps`.
struct Moment {
    std::int64_t time_ps, waiting_since_ps;
    std::uint64_t cursor;
    std::vector<bool> announced{};
};

constexpr std::uint64_t LEFT_PER_WORKER = 4;  // items per worker that are not passed over
constexpr std::uint64_t LAST_PER_WORKER = 16, TIMES_MORE = 8;
constexpr std::int64_t NO_PUSH = -1, NEVER = INT64_MAX;

// [workers] how many items each worker takes between the state `steady` and `time_ps`.
inline std::vector<std::int64_t> taken_before(const Steady& steady, std::int64_t time_ps) {
    std::vector<std::int64_t> taken;
    for (std::size_t w = 0; w < steady.end_ps.size(); ++w) {
        const std::int64_t behind = time_ps - steady.end_ps[w];
        taken.push_back(behind > 0 ? (behind - 1) / steady.period_ps[w] + 1 : 0);
    }
    return taken;
}

// The takes of all workers from `since_ps` on, in the order of time.
class Takes {
public:
    Takes(const Steady& steady, std::int64_t since_ps) : period_ps_(steady.period_ps), next_(steady.end_ps.size()) {
        const std::vector<std::int64_t> before = taken_before(steady, since_ps);
        for (std::uint32_t w = 0; w < before.size(); ++w) {
            set(w, steady.end_ps[w] + before[w] * period_ps_[w]);
            done_ += static_cast<std::uint64_t>(before[w]);
        }
        find_next();
    }

    std::uint64_t done() const { return done_; }
    std::int64_t time_ps() const { return time_ps_; }
    std::uint32_t worker() const { return worker_; }
    void pass() {
        set(worker_, time_ps_ + period_ps_[worker_]);
        ++done_;
        find_next();
    }

private:
    void set(std::uint32_t w, std::int64_t time_ps) { next_.set(w, event_key(time_ps, SEG_END, w)); }
    void find_next() {
        const EventKey next = next_.next();
        time_ps_ = event_time(next);
        worker_ = event_actor(next);
    }

    const std::vector<std::int64_t>& period_ps_;
    EventTree next_;  // [workers]
    std::uint64_t done_ = 0;
    std::int64_t time_ps_ = 0;
    std::uint32_t worker_ = 0;
};

// Follow `takes` from a time at which every queue is full, until `allowed` items are taken or a queue w has room for
// more than `spare[w]` tasks. Returns the last `Moment` on the way, if there is one.
inline std::optional<Moment> last_full(const Steady& steady, Takes& takes, std::int64_t waiting_since_ps,
                                       std::size_t cursor, std::uint64_t allowed) {
    const std::size_t workers = steady.end_ps.size();
    const auto step = [workers](std::size_t at) { return at + 1 < workers ? at + 1 : 0; };
    std::vector<std::int64_t> rooms(workers, 0), announced_ps(workers, NEVER);
    std::int64_t next_push = NO_PUSH;
    std::uint64_t filled = takes.done();
    std::optional<Moment> moment;
    while (takes.done() < allowed) {
        const std::int64_t time = takes.time_ps();
        while (next_push != NO_PUSH && next_push < time) {
            while (rooms[cursor] == 0) cursor = step(cursor);
            --rooms[cursor];
            cursor = step(cursor);
            waiting_since_ps = next_push;
            next_push = ++filled < takes.done() ? next_push + steady.push_ps : NO_PUSH;
        }
        if (next_push == NO_PUSH) {
            moment = Moment{.time_ps = time, .waiting_since_ps = waiting_since_ps, .cursor = cursor};
            next_push = time + steady.push_ps;
        }
        const std::uint32_t w = takes.worker();
        if (rooms[w] == steady.spare[w]) break;
        if (rooms[w] == steady.announces[w]) announced_ps[w] = std::min(announced_ps[w], time);
        ++rooms[w];
        takes.pass();
    }
    for (std::size_t w = 0; moment && w < workers; ++w) {
        const bool at_first =
            steady.announces[w] == 0 && steady.end_ps[w] < moment->time_ps;  // its queue is full at `moment`
        moment->announced.push_back(at_first || announced_ps[w] < moment->time_ps);
    }
    return moment;
}

// ---- the last takes alone -------------------------------------------------------------------------------------------

inline std::int64_t shortest_ps(const Steady& steady) { return *std::ranges::min_element(steady.period_ps); }

// Whether the producer always refills a queue before the worker of the queue takes again, so that no queue lacks more
// than one task. Let P workers take one item each per `period`, with P * push < period / 2. The producer is then busy
// for less than 2 * P * push without a pause, and refills a queue at most P * push after the take.
inline bool catches_up(const Steady& steady) {
    const auto workers = static_cast<std::int64_t>(steady.end_ps.size());
    return steady.push_ps < shortest_ps(steady) / (2 * workers) &&
           std::ranges::all_of(steady.spare, [](std::int64_t spare) { return spare != 0; });
}

// Return a time before which at most `count` items are taken, but nearly `count`.
inline std::int64_t time_of(const Steady& steady, std::uint64_t count) {
    const auto workers = static_cast<std::int64_t>(steady.end_ps.size());
    std::int64_t time_ps = *std::ranges::min_element(steady.end_ps);
    for (;;) {
        auto left = static_cast<std::int64_t>(count);
        for (const std::int64_t taken : taken_before(steady, time_ps)) left -= taken;
        // all workers together take `left` items in no less than `each` of the shortest periods
        const std::int64_t each = left / workers - 1;
        if (each <= 0) return time_ps;
        time_ps += each * shortest_ps(steady);
    }
}

// Call `last_full` for the takes that begin with one that is alone: the producer waits at this take, and refills the
// queue before the next take. Returns nothing if no take after the first `skipped` takes is known to be alone.
inline std::optional<Moment> last_full_behind(const Steady& steady, std::uint64_t skipped, std::uint64_t allowed) {
    const std::int64_t since_ps = time_of(steady, skipped);
    const auto workers = static_cast<std::int64_t>(steady.end_ps.size());
    Takes takes(steady, since_ps);
    std::int64_t busy_until_ps = since_ps + workers * steady.push_ps;  // an upper bound
    while (takes.done() < allowed) {
        const bool waits = takes.time_ps() > busy_until_ps;
        const std::size_t behind = (takes.worker() + std::size_t{1}) % steady.end_ps.size();
        busy_until_ps = (waits ? takes.time_ps() : busy_until_ps) + steady.push_ps;
        takes.pass();
        if (waits && takes.time_ps() > busy_until_ps) {
            return last_full(steady, takes, busy_until_ps, behind, allowed);
        }
    }
    return std::nullopt;
}

// Return the last `Moment` of the steady state, if it is late enough to be worth a jump to it.
inline std::optional<Moment> follow(const Steady& steady) {
    const std::uint64_t workers = steady.end_ps.size(), kept = LEFT_PER_WORKER * workers;
    if (steady.left <= kept) return std::nullopt;
    if (shortest_ps(steady) == 0) return std::nullopt;  // a worker takes all items at the same time
    const std::uint64_t allowed = steady.left - kept;
    if (catches_up(steady)) {
        for (std::uint64_t last = LAST_PER_WORKER * workers; last < allowed; last *= TIMES_MORE) {
            if (const auto moment = last_full_behind(steady, allowed - last, allowed)) return moment;
        }
    }
    Takes takes(steady, steady.waiting_since_ps);
    const std::optional<Moment> moment =
        last_full(steady, takes, steady.waiting_since_ps, steady.cursor % workers, allowed);
    return takes.done() > kept ? moment : std::nullopt;
}

class SteadyProduction {
public:
    SteadyProduction(Run& run, MemorySystem& memory, WorkSource& source)
        : run_(run), memory_(memory), source_(source) {}

    // The producer has begun to wait for room. If the run is in steady state, pass over that time.
    [[gnu::noinline]] void producer_waits() {
        const Producer& p = source_.producers().back();
        const auto number = source_.producers().size();
        if (number != tried_for_) try_below_ = ~std::uint64_t{0};
        tried_for_ = number;
        const std::int32_t rule = ns_dealing_rule(&run_.plan.steal, static_cast<std::int32_t>(run_.clock.producer()));
        if (!run_.plan.skip || rule < 0 || p.left >= try_below_ || !is_steady()) return;
        std::int64_t& cursor = run_.queues.actor(run_.clock.producer()).cursor[rule];
        Steady steady{
            .waiting_since_ps = run_.clock.now_ps(),
            .cursor = static_cast<std::uint64_t>(cursor),
            .push_ps = run_.plan.costs.push_ps,
            .left = p.left,
        };
        const ItemTimes& times = run_.ranges.times(run_.ranges.family_of(static_cast<Task>(p.next)));
        for (const Worker& w : run_.team) {
            const auto q = static_cast<std::uint32_t>(w.own);
            const std::int64_t low =
                std::max(run_.queues.thresholds(q).low, std::max<std::int64_t>(run_.plan.refill, 0));
            steady.end_ps.push_back(memory_.end_ps(w));
            steady.period_ps.push_back(taking_ps_ + memory_.steady_ps(w, times));
            steady.spare.push_back(std::max<std::int64_t>(0, run_.queues.capacity(q) - low - 2));
            steady.announces.push_back(run_.queues.room_to_announce(q));
        }
        const std::optional<Moment> moment = follow(steady);
        try_below_ = p.left / 2;
        if (!moment) return;
        cursor = static_cast<std::int64_t>(moment->cursor);
        move_on(times, *moment, taken_before(steady, moment->time_ps));
    }

    std::int64_t passed_items() const { return passed_items_; }

private:
    // Whether all that workers and the producer do now is to take, execute and make items with equal times.
    bool is_steady() const {
        const auto has_only_an_item = [this](const Worker& w) {
            return w.step.rank() == SEG_END && memory_.end_ps(w) > run_.clock.now_ps() && w.stack.size() == 1 &&
                   run_.ranges.holds(w.stack.back()) && w.agenda.empty();
        };
        if (memory_.coupled() && (memory_.settles() || run_.plan.effects.task_noise_ppm != 0)) return false;
        return run_.plan.one_queue_each && !run_.plan.locks_search && run_.queues.total() == run_.plan.room &&
               run_.ranges.all_uniform() && std::all_of(run_.team.begin(), run_.team.end(), has_only_an_item) &&
               run_.queues.none_below(run_.plan.graph.tasks);
    }

    // Put the run into the state of `moment`, at which worker w has taken `taken[w]` more items than now.
    void move_on(const ItemTimes& times, const Moment& moment, const std::vector<std::int64_t>& taken) {
        std::int64_t made = 0;
        for (Worker& w : run_.team) {
            const std::int64_t items = taken[w.id];
            const std::int64_t due_ps = memory_.end_ps(w) + items * (taking_ps_ + memory_.steady_ps(w, times));
            w.counters.tasks += items;
            w.counters.overhead_ps += items * taking_ps_;
            run_.queues.pass(static_cast<std::uint32_t>(w.own), items);
            if (moment.announced[w.id]) run_.queues.announce(static_cast<std::uint32_t>(w.own));
            memory_.pass_items(w, times, items, due_ps);
            made += items;
        }
        for (Worker& w : run_.team) w.stack.back() += made;
        run_.queues.renumber(made);
        source_.pass_items(made, moment.waiting_since_ps);
        passed_items_ += made;
        run_.recorder.lose_details();
    }

    Run& run_;
    MemorySystem& memory_;
    WorkSource& source_;
    std::size_t tried_for_ = 0;    // number of producers at the last try to pass over time
    std::uint64_t try_below_ = 0;  // items left below which the next try is made
    std::int64_t passed_items_ = 0;
    const std::int64_t taking_ps_ = run_.plan.costs.pop_ps + run_.plan.costs.yield_ps;  // between two items of a worker
};

}  // namespace numasim
