#include "engine/engine.hpp"

#include <algorithm>

namespace numasim {

namespace {
constexpr std::int64_t EVENTS_BETWEEN_PAUSES = (1 << 20) - 1;
}

Engine::Engine(const Plan& plan, const Listener* listener, Watch* watch, std::function<void()> pause, bool keep_log)
    : run_(plan, listener, watch, std::move(pause), keep_log),
      memory_(run_),
      sync_(run_, memory_),
      dispatcher_(run_, memory_),
      source_(run_, sync_, dispatcher_),
      skipping_(run_, memory_, source_),
      polling_(run_, memory_, source_, skipping_),
      batches_(run_, source_, skipping_, polling_),
      thief_(run_, memory_, sync_, source_, skipping_, polling_, batches_),
      executor_(run_, memory_, sync_, dispatcher_, source_, thief_),
      steady_(run_, memory_, source_) {}

// ---- events -------------------------------------------------------------------------------------------------------

void Engine::run() {
    try {
        go_through_events();
        memory_.sum_traffic();
    } catch (const Deadlock&) {
        run_.recorder.flush();
        throw;
    }
    run_.recorder.flush();
}

void Engine::go_through_events() {
    start_phase();
    while (!finished_) {
        const EventKey event = run_.clock.next();
        if (memory_.settles_before(event)) {
            memory_.settle();
            continue;
        }
        if (event == NO_EVENT) throw Deadlock(source_.unfinished(), run_.clock.now_ps());
        run_.clock.advance(event);
        if ((run_.clock.events() & EVENTS_BETWEEN_PAUSES) == 0) run_.pause();
        handle(event);
    }
}

void Engine::handle(EventKey event) {
    const std::uint32_t actor = actor_of(event);
    switch (rank_of(event)) {
        case SEG_END: return end_segment(run_.team[actor]);
        case GRANT: return grant(actor);
        case RELEASE: return sync_.open(actor);
        case WAKE: return executor_.wake(run_.team[actor]);
        case PUT: return actor == run_.clock.producer() ? produce() : executor_.end_put(run_.team[actor]);
        case LOOK: return look(run_.team[actor]);
        case POLL: return executor_.proceed(run_.team[actor]);
        default: return end_phase();
    }
}

void Engine::end_segment(Worker& w) {
    if (!skipping_.active()) return executor_.end_segment(w);
    if (skipping_.end_run(w)) executor_.proceed(w);
}

void Engine::produce() {
    if (source_.produce()) steady_.producer_waits();
}

void Engine::grant(std::uint32_t lock) {
    const ns_waiter waiter = sync_.grant(lock);
    const auto then = static_cast<Then>(waiter.then);
    if (then == Then::PRODUCE) {
        if (source_.produce_locked(lock, waiter.since_ps)) steady_.producer_waits();
        return;
    }
    Worker& w = run_.team[waiter.actor];
    if (then == Then::SEARCH) return ns_lock_granted(&thief_, &w, lock);
    if (then == Then::ENQUEUE) return executor_.put_locked(w);
    if (then == Then::ATOMIC) sync_.release(lock, w.id);
    sync_.stop_spinning(w);
    executor_.proceed(w);
}

void Engine::look(Worker& w) {
    if (thief_.look(w)) executor_.proceed(w);
}

// ---- phases -------------------------------------------------------------------------------------------------------

void Engine::start_phase() {
    finished_ = !source_.start_phase();
    if (finished_) return;
    memory_.start_phase(source_.phase_number());
    run_.plan.skipping ? skipping_.start_phase() : source_.deal();
    memory_.part_team(source_.team_size());
    source_.set_starting(true);
    for (std::size_t i = 0; i < source_.team_size(); ++i) {
        if (!run_.clock.is_busy(run_.team[i]))
            executor_.proceed(run_.team[i]);  // others are in the middle of a serial run already
    }
    source_.set_starting(false);
}

void Engine::end_phase() {
    run_.clock.clear(run_.clock.end_of_instant());
    const bool serial = source_.phase().serial;
    if (run_.plan.locks_search) sync_.free_search_locks();
    for (Worker& w : run_.team) serial&& w.id != 0 ? source_.wait_at_barrier(w) : thief_.retire(w);
    source_.end_phase(run_.plan.skipping ? skipping_.take_span_ps() : run_.frames.take_span_ps());
    if (run_.plan.threshold_time == ThresholdTime::PHASE) {
        for (Worker& w : run_.team) ns_compute_thresholds(&thief_, &w, run_.clock.now_ps());
    }
    start_phase();
}

// ---- results ------------------------------------------------------------------------------------------------------

std::int64_t Engine::peak_tasks() const {
    return std::max(static_cast<std::int64_t>(run_.frames.most()), run_.queues.contents().peak_total());
}

std::size_t Engine::task_bytes() const {
    return run_.frames.most() * sizeof(Frame) +
           static_cast<std::size_t>(run_.queues.contents().peak_entries()) * sizeof(ns_items);
}

}  // namespace numasim
