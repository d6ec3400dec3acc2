// How workers look for work, event by event: rounds of probes, steals, back-off (model 4.1 to 4.4;
// engine/reference/thief.py).
//
// A worker that looks for work has an event LOOK or POLL pending, or waits for a lock of its search. At LOOK a probe
// arrives, and the engine calls `look`. At POLL a wait ends, and the engine lets the worker decide again. At the grant
// of a lock of the search the engine calls `lock_granted`. A result of true says that the worker has something to run,
// or that its nested join is over.
#pragma once

#include <cstdint>
#include <vector>

#include "idle/polling.hpp"
#include "idle/sleepers.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"
#include "sync_objects.hpp"
#include "work_source.hpp"

namespace numasim {

class Thief {
public:
    Thief(Run& run, MemorySystem& memory, SyncObjects& sync, WorkSource& source, SkipAhead& skipping, Polling& polling,
          Sleepers& sleepers, StealBatches& batches, QueueLines* lines, Resting* resting);

    // Let the worker begin its next dealt task or a task of its own queue, or start to search. False: it is idle now.
    [[gnu::always_inline]] bool seek(Worker& w) {
        return (w.agenda.empty() && !breaks_ && pop_own(w, run_.plan.refill)) || seek_further(w);
    }
    // Begin the task of the slot, else the next task of the own queue if the queue holds more than `keep` tasks. A
    // negative `keep` stands for the own queue's threshold s.
    [[gnu::always_inline]] bool pop_own(Worker& w, std::int64_t keep);
    // The worker's probe has arrived at queue `w.target`.
    bool look(Worker& w);
    // The worker has got a lock for its probe.
    bool lock_granted(Worker& w, std::uint32_t lock);
    void release_locks(Worker& w);
    // The worker's idle episode ends: the worker has something to run.
    [[gnu::noinline]] void end_idle(Worker& w);
    // Compute the thresholds S and s of the own queue from the worker's measures until now.
    void compute_thresholds(Worker& w);
    // The phase has ended: take back what the worker has counted in advance for the rest of its search.
    void retire(Worker& w);

private:
    // A worker checks whether the run can go on after PATIENCE_ROUNDS fruitless rounds in a row. All workers together
    // check after PATIENCE_PASSES steals that only filled queues.
    static constexpr std::int64_t PATIENCE_ROUNDS = 256, PATIENCE_PASSES = 65'536;

    [[gnu::noinline]] bool seek_further(Worker& w);
    [[gnu::always_inline]] void begin(Worker& w, Task task);
    [[gnu::always_inline]] bool pop(Worker& w, std::uint32_t q, bool back, std::int64_t keep);
    [[gnu::noinline]] bool pop_slot(Worker& w);
    [[gnu::noinline]] bool pop_behind_slot(Worker& w, std::int64_t keep);
    void count_slot_run(Worker& w, std::uint32_t run);
    bool polls(const Worker& w) const { return polls_ && run_.aside[w.id].polling; }
    bool is_poll_due(const Worker& w) const;
    void stop_polling(const Worker& w) {
        run_.aside[w.id].polling = false;
        run_.queues.actor(w.id).polls = 0;
    }
    bool poll(Worker& w);
    bool end_poll(Worker& w);
    void begin_search(Worker& w);
    [[gnu::noinline]] void go_idle(Worker& w);
    void report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote);
    bool joins(const Worker& w) const { return !w.stack.empty(); }
    bool begin_reserved(Worker& w);
    bool wants_two(const Worker& w) const {
        return w.reserved == NOTHING_RESERVED && helpers_ != nullptr && helpers_->has(w);
    }

    // ---- rounds
    [[gnu::noinline]] bool start_round(Worker& w);
    bool next_probe(Worker& w);
    bool end_round(Worker& w);
    bool back_off(Worker& w, bool probed);
    bool give_up(Worker& w);
    void tell_join(const Worker& w);

    // ---- probes and their locks
    void send_probe(Worker& w);
    void pass_locks(Worker& w);
    void request(Worker& w, std::uint32_t lock);
    std::int64_t found(Worker& w);
    std::int64_t amount(const Worker& w) const;
    std::int64_t sift(std::uint32_t q, bool back, std::int64_t most);
    // If joins are strict, only descendants of the waiting task on top of the stack may run above it.
    bool may_run(const Worker& w, std::uint32_t q, bool back) const {
        return !joins(w) || run_.frames.may_run(w, run_.queues.peek(q, back));
    }
    bool take_effect(Worker& w, std::int64_t count);
    bool missed(Worker& w);
    bool leave_search(Worker& w);

    // ---- steals
    void take(Worker& w, bool back, std::int64_t count);
    void take_ahead(Worker& w);
    void exchange(Worker& w);
    void report_steal(const Worker& w, std::int64_t count);
    void count_pass();

    // ---- whether anything can still happen
    void despair();
    bool is_under_way();
    bool can_go_on();
    bool can_find(const Worker& w);
    bool may_take(const Worker& w, std::uint32_t q, bool back) const;

    Run& run_;
    MemorySystem& memory_;
    SyncObjects& sync_;
    WorkSource& source_;
    SkipAhead& skipping_;
    Polling& polling_;
    Sleepers& sleepers_;
    StealBatches& batches_;
    QueueLines* const lines_;       // or nullptr
    Resting* const resting_;        // or nullptr
    HelperThreads* const helpers_;  // or nullptr
    std::vector<Task> taken_;       // the tasks of the present steal
    const bool strict_, leaps_, tracks_parent_, polls_, breaks_, beginnings_matter_;
    // Steals after which no task was begun at once; unfinished and executed tasks when `count_pass` last compared them.
    std::int64_t passes_ = 0, unfinished_before_ = 0, executed_before_ = 0;
};

inline void Thief::begin(Worker& w, Task task) {
    if (w.idle) end_idle(w);
    w.fails = 0;
    if (beginnings_matter_ && run_.frames.is_item(task)) {
        if (tracks_parent_) ns_actor_ran(&run_.queues.actor(w.id), 0);
    } else if (beginnings_matter_) {
        const Frame& frame = run_.frames[task];
        if (run_.plan.work_first && run_.frames.has_started(frame)) w.owed_ps += run_.plan.costs.resume_ps;
        if (run_.frames.adapts()) run_.frames.take_from_queue(static_cast<std::uint32_t>(task), w.id);
        if (leaps_) run_.note_taker(static_cast<std::uint32_t>(task), w.id);
        if (tracks_parent_) ns_actor_ran(&run_.queues.actor(w.id), static_cast<std::int32_t>(frame.spawner()));
        if (run_.plan.counts_live) sleepers_.begin_live(*run_.controls.live(), w.id, frame.row);
    }
    w.stack.push_back(task);
}

inline bool Thief::pop_own(Worker& w, std::int64_t keep) {
    if (w.own == NS_UNKNOWN) return false;
    if (!run_.aside.empty()) return pop_slot(w) || pop_behind_slot(w, keep);
    return pop(w, static_cast<std::uint32_t>(w.own), w.own_back, keep);
}

// Begin the next task of a queue of the worker if the queue holds more than `keep` tasks.
inline bool Thief::pop(Worker& w, std::uint32_t q, bool back, std::int64_t keep) {
    TaskQueues& queues = run_.queues;
    if (lines_ != nullptr) lines_->pop(w, q, back);
    const auto holds_none = [&] { return queues.length(q) <= (keep < 0 ? queues.thresholds(q).low : keep); };
    if (holds_none()) return false;
    while (queues.has_copies() && sift(q, back, 1) == 0) {
        if (holds_none()) return false;
    }
    if (strict_ && !may_run(w, q, back)) return false;
    if (queues.owner_steps(q, NS_OWNER_TAKES) > 0) sleepers_.marked();
    w.owed_ps += run_.plan.costs.pop_ps;
    begin(w, queues.take(q, back));
    source_.room_made();
    return true;
}

}  // namespace numasim
