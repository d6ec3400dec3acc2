// Looking for work: own queue, rounds of probes, steals, back-off (model 4.1 to 4.4; engine/reference/thief.py).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/probes.hpp"
#include "engine/sync_objects.hpp"
#include "engine/work_source.hpp"
#include "memory/memory_system.hpp"
#include "shortcuts/polling.hpp"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"

namespace numasim {

class Thief {
public:
    Thief(Run& run, MemorySystem& memory, SyncObjects& sync, WorkSource& source, Probes& probes, SkipAhead& skipping,
          Polling& polling, StealBatches& batches);

    // Let the worker take its next implicit body or own task, or start to search; false: it is idle now.
    bool seek(Worker& w);
    // Let it begin the next task of its own queue, where that holds more than `keep` (-1: its threshold s; A-10).
    bool pop_own(Worker& w, std::int64_t keep);
    // It has something to run.
    [[gnu::noinline]] void end_idle(Worker& w);

    // A probe takes effect; true: the worker has something to run, or has come to the end of its join.
    bool look(Worker& w);
    // A lock that the search waits for has been granted.
    void lock_granted(Worker& w, std::uint32_t lock);
    // The search has been paid for: let go of its locks.
    void release_locks(Worker& w);

    void compute_thresholds(Worker& w);
    // Close the books of a worker at the end of a phase.
    void retire(Worker& w);

private:
    void begin(Worker& w, Task task);
    [[gnu::noinline]] void go_idle(Worker& w);
    void report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote);
    [[gnu::noinline]] bool start_round(Worker& w);
    bool next_probe(Worker& w);
    void send_probe(Worker& w);
    bool end_round(Worker& w);
    bool back_off(Worker& w, std::int64_t wait_ps);
    bool missed(Worker& w);
    void take(Worker& w, std::uint32_t q, bool back, std::int64_t count);
    void take_ahead(Worker& w, std::uint32_t q);
    [[gnu::noinline]] void pass_locks(Worker& w);
    [[gnu::noinline]] bool leave_search(Worker& w);

    Run& run_;
    MemorySystem& memory_;
    SyncObjects& sync_;
    WorkSource& source_;
    Probes& probes_;
    SkipAhead& skipping_;
    Polling& polling_;
    StealBatches& batches_;
    std::vector<Task> taken_;  // by the steal at hand
    const bool tracks_parent_, begins_cost_, locks_search_;
};

inline void Thief::begin(Worker& w, Task task) {
    if (w.idle) end_idle(w);
    w.fails = 0;
    if (begins_cost_ && !run_.frames.is_item(task)) {
        const Frame& frame = run_.frames[task];
        if (run_.plan.work_first && run_.frames.has_started(frame)) w.owed_ps += run_.plan.costs.resume_ps;
        if (tracks_parent_) ns_actor_ran(&run_.queues.actor(w.id), static_cast<std::int32_t>(frame.spawner));
    }
    w.stack.push_back(task);
}

inline bool Thief::pop_own(Worker& w, std::int64_t keep) {
    if (w.own == NS_UNKNOWN) return false;
    const auto q = static_cast<std::uint32_t>(w.own);
    if (run_.queues.length(q) <= (keep < 0 ? run_.queues.contents().low(q) : keep)) return false;
    if (run_.frames.strict() && !run_.frames.may_run(w, run_.queues.peek(q, w.own_back))) return false;
    w.owed_ps += run_.plan.costs.pop_ps;
    begin(w, run_.queues.take(q, w.own_back));
    source_.room_made();
    return true;
}

}  // namespace numasim
