#include "engine/engine.hpp"

#include <algorithm>

namespace numasim {

namespace {
constexpr std::int64_t EVENTS_BETWEEN_PAUSES = (1 << 20) - 1;
}

Engine::Engine(const Plan& plan, const Listener* listener, Watch* watch, std::function<void()> pause, bool keep_log)
    : plan_(plan),
      pause_(std::move(pause)),
      clock_(plan),
      recorder_(clock_, listener, watch, keep_log),
      ranges_(plan),
      queues_(plan, recorder_),
      team_(new_team(plan, queues_)),
      frames_(plan),
      memory_(plan, clock_, recorder_, ranges_, frames_, team_),
      sync_(plan, clock_, recorder_, team_, memory_),
      dispatcher_(plan, ranges_, frames_, memory_, queues_),
      source_(plan, clock_, recorder_, ranges_, queues_, team_, frames_, sync_, dispatcher_),
      probes_(plan, clock_, recorder_, team_),
      skipping_(plan, clock_, recorder_, ranges_, team_, memory_, source_),
      polling_(plan, clock_, queues_, team_, frames_, memory_, sync_, source_, probes_, skipping_, pause_),
      batches_(plan, clock_, recorder_, ranges_, queues_, team_, source_, probes_, skipping_, polling_, pause_),
      thief_(plan, clock_, recorder_, queues_, frames_, memory_, sync_, source_, probes_, skipping_, polling_,
             batches_),
      executor_(plan, clock_, recorder_, ranges_, queues_, team_, frames_, memory_, sync_, dispatcher_, source_,
                thief_),
      steady_(plan, clock_, recorder_, ranges_, queues_, team_, memory_, sync_, source_) {}

// ---- events -------------------------------------------------------------------------------------------------------

void Engine::run() {
    try {
        go_through_events();
        memory_.sum_traffic();
    } catch (const Deadlock&) {
        recorder_.flush();
        throw;
    }
    recorder_.flush();
}

void Engine::go_through_events() {
    start_phase();
    while (!finished_) {
        const EventKey event = clock_.next();
        if (memory_.settles_before(event)) {
            memory_.settle();
            continue;
        }
        if (event == NO_EVENT) throw Deadlock(source_.unfinished(), clock_.now_ps());
        clock_.advance(event);
        if ((clock_.events() & EVENTS_BETWEEN_PAUSES) == 0) pause_();
        handle(event);
    }
}

void Engine::handle(EventKey event) {
    const std::uint32_t actor = actor_of(event);
    switch (rank_of(event)) {
        case SEG_END: return end_segment(team_[actor]);
        case GRANT: return grant(actor);
        case RELEASE: return sync_.open(actor);
        case WAKE: return executor_.wake(team_[actor]);
        case PUT: return actor == clock_.producer() ? produce() : executor_.end_put(team_[actor]);
        case LOOK: return look(team_[actor]);
        case POLL: return executor_.proceed(team_[actor]);
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
    Worker& w = team_[waiter.actor];
    if (then == Then::SEARCH) return thief_.lock_granted(w, lock);
    if (then == Then::PUT) return executor_.put_locked(w);
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
    plan_.skipping ? skipping_.start_phase() : source_.deal();
    memory_.part_team(source_.team_size());
    source_.set_starting(true);
    for (std::size_t i = 0; i < source_.team_size(); ++i) {
        if (!clock_.is_busy(team_[i])) executor_.proceed(team_[i]);  // others are in the middle of a serial run already
    }
    source_.set_starting(false);
}

void Engine::end_phase() {
    clock_.clear(clock_.end_of_instant());
    const bool serial = source_.phase().serial;
    if (sync_.lock_searches()) sync_.free_search_locks();
    for (Worker& w : team_) serial&& w.id != 0 ? source_.wait_at_barrier(w) : thief_.retire(w);
    source_.end_phase(plan_.skipping ? skipping_.take_span_ps() : frames_.take_span_ps());
    if (plan_.threshold_time == ThresholdTime::PHASE) {
        for (Worker& w : team_) thief_.compute_thresholds(w);
    }
    start_phase();
}

// ---- results ------------------------------------------------------------------------------------------------------

std::int64_t Engine::peak_tasks() const {
    return std::max(static_cast<std::int64_t>(frames_.most()), queues_.contents().peak_total());
}

std::size_t Engine::task_bytes() const {
    return frames_.most() * sizeof(Frame) +
           static_cast<std::size_t>(queues_.contents().peak_entries()) * sizeof(ns_items);
}

}  // namespace numasim
