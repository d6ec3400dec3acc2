// How the engine's workers look for work: the rounds of core/search/thief.h, with what those leave to an engine below
// (model 4.1 to 4.4; engine/reference/thief.py).
#pragma once

#include <cstdint>
#include <vector>

#include "sync_objects.hpp"
#include "work_source.hpp"
#include "idle/polling.hpp"
#include "idle/sleepers.hpp"
#include "memory/memory_system.hpp"
#include "search/thief.h"
#include "shortcuts/skip_ahead.hpp"
#include "shortcuts/steal_batches.hpp"
#include "state/run.hpp"

namespace numasim {

class Thief : public ns_search {
public:
    Thief(Run& given, MemorySystem& memory, SyncObjects& sync, WorkSource& source, SkipAhead& skipping,
          Polling& polling, Sleepers& sleepers, StealBatches& batches);

    // Let the worker take its next implicit body or own task, or start to search; false: it is idle now.
    [[gnu::always_inline]] bool seek(Worker& w) {
        return (w.agenda.empty() && ns_pop_own(this, &w, plan->refill)) || seek_further(w);
    }
    // A probe takes effect; true: the worker has something to run, or has come to the end of its join.
    bool look(Worker& w);
    [[gnu::always_inline]] void begin(Worker& w, Task task);
    // It has something to run.
    [[gnu::noinline]] void end_idle(Worker& w);
    // Report the idle time since the last row; a wait for a lock cuts an episode in pieces.
    void report_idle(Worker& w, std::int64_t failed, std::int64_t failed_remote);
    // Move `count` tasks: the first is begun, the others go to the own queue (with refill, all do).
    void take(Worker& w, bool back, std::int64_t count);
    // Begin the unit that the worker holds in advance, there being no other; false: it holds none.
    bool begin_reserved(Worker& w);
    // Whether the worker has a helper and nothing for it.
    bool wants_two(const Worker& w) const {
        return w.reserved == NOTHING_RESERVED && helpers_ != nullptr && helpers_->has(w);
    }
    // The same in a phase that is skipped over.
    void take_ahead(Worker& w);
    // Throws Deadlock unless anything but fruitless probes can ever happen.
    void despair();
    // Whether anything but searches happens: somebody is at work, or can go on behind a join.
    bool is_under_way();
    // Tasks that the run has executed.
    std::int64_t executed() const;
    // Throws Deadlock: tasks are but passed to and fro.
    [[noreturn]] void give_up() const;
    // Close the books of a worker at the end of a phase.
    void retire(Worker& w);

    Run& run;
    SyncObjects& sync;
    WorkSource& source;
    SkipAhead& skipping;
    Polling& polling;
    Sleepers& sleepers;

private:
    [[gnu::noinline]] bool seek_further(Worker& w);
    [[gnu::noinline]] void go_idle(Worker& w);
    void exchange(Worker& w);
    void report_steal(const Worker& w, std::int64_t count);
    [[gnu::noinline]] bool start_round(Worker& w);
    bool can_go_on();

    MemorySystem& memory_;
    StealBatches& batches_;
    HelperThreads* const helpers_;  // or nullptr
    std::vector<Task> taken_;       // by the steal at hand
    const bool tracks_parent_, leaps_, beginnings_matter_;
};

inline void Thief::begin(Worker& w, Task task) {
    if (w.idle) end_idle(w);
    w.fails = 0;
    if (beginnings_matter_ && run.frames.is_item(task)) {
        if (tracks_parent_) ns_actor_ran(&actors[w.id], 0);
    } else if (beginnings_matter_) {
        const Frame& frame = run.frames[task];
        if (plan->work_first && run.frames.has_started(frame)) w.owed_ps += plan->costs.resume_ps;
        if (run.frames.adapts()) run.frames.take_from_queue(static_cast<std::uint32_t>(task), w.id);
        if (leaps_) run.note_taker(static_cast<std::uint32_t>(task), w.id);
        if (tracks_parent_) ns_actor_ran(&actors[w.id], static_cast<std::int32_t>(frame.spawner()));
        if (plan->counts_live) ns_live_begin(run.controls.live(), w.id, frame.row);
    }
    w.stack.push_back(task);
}

}  // namespace numasim

// ---- what core/search/thief.h leaves to an engine -----------------------------------------------------------------

inline numasim::Worker& worker_of(ns_worker_state* w) { return static_cast<numasim::Worker&>(*w); }
inline const numasim::Worker& worker_of(const ns_worker_state* w) { return static_cast<const numasim::Worker&>(*w); }
inline numasim::Thief& thief_of(ns_search* s) { return static_cast<numasim::Thief&>(*s); }
inline const numasim::Run& run_of(const ns_search* s) { return static_cast<const numasim::Thief&>(*s).run; }

static inline std::int32_t ns_host_taker(const ns_search* s, const ns_worker_state* w) {
    return run_of(s).taker(static_cast<std::uint32_t>(worker_of(w).stack.back()), w->id);
}

static inline ns_view ns_host_view(const ns_search* s) { return run_of(s).queues.view(); }

static inline bool ns_host_joins(const ns_worker_state* w) { return !worker_of(w).stack.empty(); }

static inline bool ns_host_join_is_over(const ns_search* s, const ns_worker_state* w) {
    return run_of(s).frames.join_is_over(worker_of(w));
}

// Who waits in no join may run anything; while a run skips ahead, nobody does, and queues are empty.
static inline bool ns_host_may_run(const ns_search* s, const ns_worker_state* w, std::uint32_t q, bool back) {
    return !ns_host_joins(w) || run_of(s).frames.may_run(worker_of(w), run_of(s).queues.peek(q, back));
}

static inline std::int64_t ns_host_sift(ns_search* s, std::uint32_t q, bool back, std::int64_t most) {
    numasim::Thief& thief = thief_of(s);
    const std::int64_t before = s->queues->length[q], left = thief.run.queues.sift(q, back, most);
    if (s->queues->length[q] != before) thief.source.room_made();
    return left;
}

NS_INLINE void ns_host_begin(ns_search* s, ns_worker_state* w, std::uint32_t q, bool back) {
    numasim::Thief& thief = thief_of(s);
    thief.begin(worker_of(w), thief.run.queues.take(q, back));
    thief.source.room_made();
}

static inline std::int64_t ns_host_amount(ns_search* s, const ns_worker_state* w) {
    numasim::SkipAhead& skipping = thief_of(s).skipping;
    if (skipping.active()) return skipping.holds_task(w->target);
    const ns_level& level = s->plan->steal.level[w->level];
    const std::int64_t count = ns_level_amount(&level, s->queues->length[w->target]);
    if (count != 1 || !thief_of(s).wants_two(worker_of(w))) return count;
    return ns_level_amount(&level, s->queues->length[w->target] - 1) != 0 ? 2 : 1;
}

static inline bool ns_host_begin_reserved(ns_search* s, ns_worker_state* w) {
    return thief_of(s).begin_reserved(worker_of(w));
}

static inline bool ns_host_take(ns_search* s, ns_worker_state* w, bool back, std::int64_t count) {
    numasim::Thief& thief = thief_of(s);
    const bool ahead = thief.skipping.active();
    ahead ? thief.take_ahead(worker_of(w)) : thief.take(worker_of(w), back, count);
    return !ahead;
}

static inline void ns_host_wait(ns_search* s, ns_worker_state* w, enum ns_rank rank, std::int64_t wait_ps) {
    thief_of(s).run.clock.schedule_idle(worker_of(w), rank, wait_ps);
}

static inline void ns_host_pay(ns_search* s, ns_worker_state* w) {
    thief_of(s).run.clock.schedule_overhead(worker_of(w), numasim::PUT, 0);
}

static inline void ns_host_despair(ns_search* s, ns_worker_state*) { thief_of(s).despair(); }

static inline std::int64_t ns_host_unfinished(const ns_search* s) {
    return static_cast<const numasim::Thief&>(*s).source.unfinished();
}

static inline std::int64_t ns_host_executed(const ns_search* s) {
    return static_cast<const numasim::Thief&>(*s).executed();
}

static inline bool ns_host_is_under_way(ns_search* s) { return thief_of(s).is_under_way(); }

static inline void ns_host_give_up(ns_search* s, ns_worker_state*) { thief_of(s).give_up(); }

static inline std::int64_t ns_host_pass_over(ns_search* s, ns_worker_state* w, std::int64_t wait_ps) {
    return thief_of(s).polling.pass_over(worker_of(w), wait_ps);
}

static inline void ns_host_announced(ns_search* s) { thief_of(s).sleepers.marked(); }

static inline void ns_host_foresee(ns_search* s, ns_worker_state* w) { thief_of(s).sleepers.sleep(worker_of(w)); }

static inline bool ns_host_is_free(ns_search* s, std::uint32_t lock) { return thief_of(s).sync.is_free(lock); }

static inline void ns_host_request(ns_search* s, ns_worker_state* w, std::uint32_t lock) {
    numasim::Thief& thief = thief_of(s);
    thief.report_idle(worker_of(w), 0, 0);
    thief.run.clock.suspend(worker_of(w));
    if (thief.sleepers.request(worker_of(w), lock)) return;
    thief.sync.request(lock, w->id, numasim::Then::SEARCH);
}

static inline void ns_host_release(ns_search* s, ns_worker_state* w, std::uint32_t lock) {
    thief_of(s).sync.release(lock, w->id);
}
